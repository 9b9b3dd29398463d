package worktree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/ignore"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// naive says what a scan must find, by reading everything.
func (b *box) naive(base tree, collapse bool) []string {
	b.t.Helper()
	disk := b.disk()
	global := ignore.NewStack()
	load := func(dir string) ([]*ignore.Rules, error) {
		var out []*ignore.Rules
		for _, name := range []string{ignore.GitFile, ignore.OxyFile} {
			if l, ok := disk[join(dir, name)]; ok && l.kind == File {
				out = append(out, ignore.Parse([]byte(l.data)))
			}
		}
		return out, nil
	}
	ignored := func(p string, dir bool) bool {
		v, err := ignore.MatchPath(global, load, p, dir)
		b.must(err)
		return v == ignore.Ignored
	}
	trackedDir := func(dir string) bool {
		for p := range base {
			if strings.HasPrefix(p, dir+"/") {
				return true
			}
		}
		return false
	}
	found := map[string]bool{}
	for p, was := range base {
		now, ok := disk[p]
		switch {
		case !ok:
			found["missing "+p] = true
		case now.kind != was.kind:
			found["type changed "+p] = true
		case now.data != was.data:
			found["modified "+p] = true
		case now.exec != was.exec:
			found["mode changed "+p] = true
		}
	}
next:
	for p := range disk {
		dir := strings.HasSuffix(p, "/")
		p = strings.TrimSuffix(p, "/")
		if _, ok := base[p]; ok && !dir {
			continue
		}
		top := ""
		for i := range len(p) + 1 {
			if i < len(p) && p[i] != '/' {
				continue
			}
			up := p[:i]
			if isOwn(path.Base(up)) {
				continue next
			}
			isDir := i < len(p) || dir
			if isDir && trackedDir(up) {
				continue
			}
			if ignored(up, isDir) {
				continue next
			}
			if isDir && top == "" {
				top = up
			}
			_, git := disk[up+"/.git/"]
			if isDir && git {
				if collapse && top != up {
					found["untracked "+top+"/"] = true
				} else {
					found["nested "+up+"/"] = true
				}
				continue next
			}
		}
		switch {
		case dir:
		case collapse && top != "":
			found["untracked "+top+"/"] = true
		default:
			found["untracked "+p] = true
		}
	}
	var out []string
	for s := range found {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// editor makes random edits.
type editor struct {
	*box
	rng *rand.Rand
}

var editNames = []string{"a", "b", "c.o", "d~1", "a-b", ".gitignore", ".oxyignore"}

var editRules = []string{"", "*.o\n", "a\n", "b/\n", "/a/b\n", "*\n!a\n", "!*.o\n", "**/c.o\n"}

func (e *editor) pick(list []string) string { return list[e.rng.IntN(len(list))] }

func (e *editor) somePath() string {
	p := e.pick(editNames[:5])
	for e.rng.IntN(2) == 0 {
		p += "/" + e.pick(editNames[:5])
	}
	if e.rng.IntN(8) == 0 {
		p = path.Join(path.Dir(p), e.pick(editNames[5:]))
	}
	return p
}

func (e *editor) someLeaf(p string) leaf {
	if ignoreFlag(path.Base(p)) != 0 {
		return text(e.pick(editRules))
	}
	l := leaf{data: string([]byte{'0' + byte(e.rng.IntN(3)), '0' + byte(e.rng.IntN(2))})[:1+e.rng.IntN(2)]}
	switch e.rng.IntN(8) {
	case 0:
		l.kind = Link
	case 1:
		l.exec = true
	}
	return l
}

func (e *editor) someTree() tree {
	st := tree{}
next:
	for range 1 + e.rng.IntN(12) {
		p := e.somePath()
		for q := range st {
			if beneath(p, q) || beneath(q, p) {
				continue next
			}
		}
		st[p] = e.someLeaf(p)
	}
	return st
}

// reachable tells whether no parent of p is a file or link.
func (e *editor) reachable(p string) bool {
	for i := range p {
		var st vfs.Stat
		if p[i] == '/' && e.fs.Lstat(e.name(p[:i]), &st) == nil && st.Kind != vfs.KindDir {
			return false
		}
	}
	return true
}

// clear takes away what keeps p from being a file.
func (e *editor) clear(p string) {
	for i := range p {
		var st vfs.Stat
		if p[i] == '/' && e.fs.Lstat(e.name(p[:i]), &st) == nil && st.Kind != vfs.KindDir {
			e.remove(p[:i])
		}
	}
	var st vfs.Stat
	if e.fs.Lstat(e.name(p), &st) == nil && st.Kind != vfs.KindFile {
		e.remove(p)
	}
}

func (e *editor) edit() {
	p := e.somePath()
	switch e.rng.IntN(12) {
	case 0:
		if e.reachable(p) {
			e.remove(p)
		}
	case 1:
		e.clear(p)
		e.remove(p)
		e.must(e.fs.MkdirAll(e.name(p), 0o777))
	case 2:
		e.clear(p + "/.git/x")
		e.put(p+"/.git/x", text(""))
	case 3: // moves a directory or file onto a free name
		q := e.somePath()
		var st vfs.Stat
		if beneath(q, p) || beneath(p, q) || !e.reachable(p) || e.fs.Lstat(e.name(p), &st) != nil {
			return
		}
		e.clear(q)
		e.remove(q)
		e.must(e.fs.MkdirAll(path.Dir(e.name(q)), 0o777))
		if e.reachable(p) && e.fs.Lstat(e.name(p), &st) == nil { // clear may have taken it
			e.must(e.fs.Rename(e.name(p), e.name(q)))
		}
	default:
		e.clear(p)
		e.put(p, e.someLeaf(p))
	}
	switch e.rng.IntN(6) { // in memory, where the clock is ours
	case 0, 1, 2: // the same tick
	case 3:
		e.now += 4_000_000
	case 4:
		e.pass()
	case 5:
		e.now += e.rng.Int64N(2e9) - 1e9 // set, mostly back
	}
}

// TestScanFindsWhatReadingEverythingFinds edits a tree at random and compares each scan with a naive look at all of it.
func TestScanFindsWhatReadingEverythingFinds(t *testing.T) {
	for seed := range uint64(240) {
		for name, newBox := range map[string]func(testing.TB) *box{"mem": newMem, "disk": newDisk} {
			if name == "disk" && seed%16 != 0 {
				continue
			}
			t.Run(fmt.Sprint(name, seed), func(t *testing.T) {
				e := &editor{newBox(t), rand.New(rand.NewPCG(seed, 1))}
				base := e.someTree()
				e.recorded(base)
				for range 12 {
					for range 1 + e.rng.IntN(4) {
						e.edit()
					}
					collapse := e.rng.IntN(2) == 0
					e.want(Options{Collapse: collapse}, e.naive(base, collapse)...)
					if e.rng.IntN(2) == 0 {
						e.reload()
					}
					if e.rng.IntN(4) == 0 { // a commit of some of it
						e.commit(base)
					}
					e.m.Close()
					m, err := Load(e.fs, e.meta())
					e.must(err)
					e.m = m
				}
			})
		}
	}
}

// commit records some of the differences, as package repo does.
func (e *editor) commit(base tree) {
	e.t.Helper()
	res := e.scan(Options{})
	var edits []Edit
	var read []string
	for _, c := range res.Changed {
		if e.rng.IntN(2) == 0 {
			continue
		}
		if c.Status == Missing {
			edits = append(edits, Edit{Path: c.Path, Delete: true})
			delete(base, c.Path)
			continue
		}
		read = append(read, c.Path)
	}
	for _, p := range res.Untracked {
		if e.rng.IntN(2) == 0 {
			read = append(read, p)
		}
	}
	// A file that becomes a directory must go first.
	for _, p := range read {
		for q := range base {
			if p != q && (beneath(p, q) || beneath(q, p)) {
				edits = append(edits, Edit{Path: q, Delete: true})
				delete(base, q)
			}
		}
	}
	disk := e.disk()
	files, errs, err := Read(context.Background(), e.root, e.m, read, ReadOptions{}, func(_ int, f *ReadItem) error {
		if string(f.Data) != disk[f.Path].data {
			return fmt.Errorf("%q was read as %q", f.Path, f.Data)
		}
		return nil
	})
	e.must(err)
	if len(errs) > 0 {
		e.t.Fatal(errs)
	}
	for _, f := range files {
		edits = append(edits, Edit{Path: f.Path, Entry: f.Entry})
		base[f.Path] = disk[f.Path]
	}
	e.must(e.m.Update(edits))
	e.m.SetBase(e.rng.Uint32(), [32]byte{byte(e.rng.Uint32())})
	if e.m.Len() != len(base) {
		e.t.Fatalf("manifest has %d entries instead of %d", e.m.Len(), len(base))
	}
	e.must(e.m.Save())
}
