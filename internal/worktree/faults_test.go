package worktree

import (
	"context"
	"path"
	"strings"
	"syscall"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// TestFaultsLoseNothing lets each call of a checkout and a Save fail in turn. Edits that are recorded nowhere survive,
// the manifest loads, and a second run without the fault completes the checkout.
func TestFaultsLoseNothing(t *testing.T) {
	one := tree{"f": text("one"), "d/x": text("x"), "d/y": text("y"), "g": text("g"), "l": {data: "f", kind: Link}, "m": text("m")}
	two := tree{"f": text("two two"), "d": text("file"), "g/h/i": text("i"), "l": {data: "d", kind: Link},
		"m": {data: "m", exec: true}, "big": text("streamed contents")}
	for _, mode := range []vfs.FaultMode{0, vfs.FaultShort, vfs.FaultStays, vfs.FaultReads, vfs.FaultShort | vfs.FaultStays} {
		for n := 1; ; n++ {
			b := newMem(t)
			b.recorded(one)
			b.put("untracked", text("untracked"))
			b.put("d.o", text("ignored"))
			faulty := vfs.Inject(b.fs, n, syscall.ENOSPC, mode)
			faultyRun(b, faulty, one, two) // whether it fails or gets around the fault
			last := !faulty.Fired()
			disk := b.files()
			for p := range disk {
				if isLeftover(path.Base(p)) {
					delete(disk, p)
				}
			}
			for p, l := range unrecorded(disk, one, two) {
				if p != "untracked" && p != "d.o" && !strings.HasPrefix(two[p].data, l.data) {
					t.Fatalf("fault %d: %q holds %q", n, p, l.data)
				}
			}
			if disk["untracked"].data != "untracked" || disk["d.o"].data != "ignored" {
				t.Fatalf("fault %d: lost an untracked file", n)
			}
			var err error
			if b.m, err = Load(b.fs, b.meta()); err != nil {
				t.Fatalf("fault %d: %v", n, err)
			}
			if state, _ := b.m.Base(); state == 1 {
				if err := b.apply(one, two, ApplyOptions{InMemory: 8}); err != nil {
					t.Fatalf("after fault %d: %v", n, err)
				}
			}
			b.want(Options{}, "untracked d.o", "untracked untracked")
			for p, l := range two {
				if b.files()[p] != l {
					t.Fatalf("fault %d: %q is not complete", n, p)
				}
			}
			if last {
				break
			}
		}
	}
}

// faultyRun checks out and saves on a file system that fails.
func faultyRun(b *box, faulty vfs.FS, one, two tree) error {
	m, err := Load(faulty, b.meta())
	if err != nil {
		return err
	}
	defer m.Close()
	root, err := faulty.OpenDir(b.path)
	if err != nil {
		return err
	}
	defer root.Close()
	opts := ApplyOptions{Workers: 1, InMemory: 8}
	if err := Apply(context.Background(), root, m, plan(one, two), two, opts); err != nil {
		return err
	}
	m.SetBase(2, [32]byte{2})
	return m.Save()
}
