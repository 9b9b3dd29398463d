package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

func TestIsBinary(t *testing.T) {
	late := append(bytes.Repeat([]byte{'x'}, 8000), 0)
	for data, want := range map[string]bool{"": false, "text\n": false, "a\x00b": true, string(late): false, string(late[1:]): true} {
		if IsBinary([]byte(data)) != want {
			t.Errorf("IsBinary of %d bytes is %v", len(data), !want)
		}
	}
}

// busyDir changes a file whenever it is opened, as a running program that logs does.
type busyDir struct {
	vfs.Dir
	b     *box
	times int
}

func (d *busyDir) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.Dir.OpenFile(name, flag, perm)
	return busyFile{f, d, name}, err
}

type busyFile struct {
	vfs.File
	d    *busyDir
	name string
}

func (f busyFile) Read(p []byte) (int, error) {
	if f.d.times > 0 {
		f.d.times--
		f.d.b.now++
		f.d.b.put(f.name, text(fmt.Sprint("new", f.d.times)))
	}
	return f.File.Read(p)
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	b := newMem(t)
	b.put("log", text("old0"))
	busy := &busyDir{b.root, b, maxReads - 1}
	data, st, err := ReadFile(busy, "log", []byte("kept "), 100)
	if err != nil || string(data) != "kept new0" || st.Size != 4 {
		t.Fatalf("read %q, size %d, %v", data, st.Size, err)
	}
	busy.times = 100
	_, _, err = ReadFile(busy, "log", nil, 100)
	if !errors.Is(err, ErrChanging) || !strings.Contains(err.Error(), "log") {
		t.Fatalf("got %v", err)
	}
	if _, _, err := ReadFile(b.root, "log", nil, 3); !errors.Is(err, vfs.ErrTooLarge) {
		t.Fatalf("got %v for a file over the limit", err)
	}
}

func TestReadInBulk(t *testing.T) {
	for _, workers := range []int{1, 4} {
		b := newMem(t)
		want := tree{"big": text(strings.Repeat("0123456789", 30)), "link": {data: "big", kind: Link}, "x": {data: "x", exec: true}, "empty": text("")}
		for i := range 300 {
			want[fmt.Sprintf("d%d/f%d", i%2, i)] = text(fmt.Sprint(i))
		}
		b.fill(want)
		b.base(tree{})
		b.pass()
		res := b.scan(Options{})
		var mu sync.Mutex
		got := tree{}
		paths := append(res.Untracked, "missing", "d0")
		files, errs, err := Read(context.Background(), b.root, b.m, paths, ReadOptions{Workers: workers, InMemory: 100}, func(w int, f *ReadItem) error {
			data := f.Data
			if f.Reader != nil {
				var err error
				if data, err = io.ReadAll(f.Reader); err != nil {
					return err
				}
			}
			l := leaf{data: string(data), exec: f.Stat.Exec && f.Stat.Kind == vfs.KindFile}
			if f.Stat.Kind == vfs.KindLink {
				l.kind = Link
			}
			if l.hash() != f.Hash {
				return fmt.Errorf("%q has another hash", f.Path)
			}
			mu.Lock()
			defer mu.Unlock()
			got[f.Path] = l
			return nil
		})
		b.must(err)
		if len(errs) != 2 || !errors.Is(errors.Join(errs...), fs.ErrNotExist) {
			t.Fatalf("errors %v", errs)
		}
		b.wantFiles(got)
		b.m, err = Build(b.fs, b.meta(), 1, [32]byte{1}, func(yield func(string, Entry) bool) {
			for _, f := range files {
				if !yield(f.Path, f.Entry) {
					return
				}
			}
		})
		b.must(err)
		if res := b.scan(Options{}); !res.Clean() || res.Read > 0 {
			t.Fatalf("after the import: %v, %d files read", lines(res), res.Read)
		}
		stop := errors.New("stop")
		if _, _, err := Read(context.Background(), b.root, b.m, paths, ReadOptions{}, func(int, *ReadItem) error { return stop }); err != stop {
			t.Fatalf("got %v", err)
		}
	}
}

func TestSpecialFilesAreNamed(t *testing.T) {
	b := newDisk(t)
	b.recorded(tree{"f": text("f")})
	if err := makePipe(b.name("pipe")); err != nil {
		t.Skip(err)
	}
	b.must(os.Remove(b.name("f")))
	b.must(makePipe(b.name("f")))
	b.want(Options{}, "special pipe", "special f", "missing f")
	if _, _, err := ReadFile(b.root, "pipe", nil, 100); err == nil {
		t.Error("a pipe was read")
	}
}
