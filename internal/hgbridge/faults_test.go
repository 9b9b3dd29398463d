package hgbridge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// writable lets a revlog.Writer write into a vfs.FS.
type writable struct{ files }

func (w writable) Append(name string) (revlog.WriteFile, error) {
	f, err := w.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return &storeFile{File: f}, nil
}

func (w writable) SyncName(name string) error { return w.SyncDir(filepath.Dir(name)) }

func text(k int) []byte {
	var b []byte
	for i := range 30 {
		b = fmt.Appendf(b, "line %d of text %d\n", i*31, k/(1+i%7))
	}
	return append(b, bytes.Repeat([]byte{byte(k), byte(k * 7), byte(k * 31)}, 900*(k%9))...)
}

// write appends texts from from on, a few at each flush, and returns how many revisions are there for certain.
func write(fsys vfs.FS, path string, from, to, keep int) (int, error) {
	w, err := revlog.OpenWriter(path, &revlog.WriterOptions{FS: writable{files{fsys}}, Compression: revlog.None, Keep: keep})
	if err != nil {
		return from, err
	}
	defer w.Close()
	for k := from; k < to; k++ {
		if _, _, err := w.Append(text(k), revlog.Rev(k-1), revlog.Null, revlog.Rev(k)); err != nil {
			return from, err
		}
		if k%5 == 4 || k == to-1 {
			if err := w.Flush(); err != nil {
				return from, err
			}
			from = k + 1
		}
	}
	return from, nil
}

// Whatever call fails while a revlog is written, and the power with it, the revisions that were flushed are there, and writing goes
// on after them.
func TestWritingSurvivesFaultsAndPowerCuts(t *testing.T) {
	const total = 32 // past 128 KiB: the revlog is split on the way
	broken := errors.New("broken disk")
	for _, mode := range []vfs.FaultMode{0, vfs.FaultStays | vfs.FaultShort, vfs.FaultReads} {
		for at := 1; ; at++ {
			disk := vfs.NewMem()
			if err := disk.MkdirAll("/store", 0o777); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(disk.SyncDir("/"), disk.SyncDir("/store")); err != nil {
				t.Fatal(err)
			}
			faulty := vfs.Inject(disk, at, broken, mode)
			kept, err := write(faulty, "/store/log.i", 0, total, 0)
			if !faulty.Fired() {
				if err != nil || kept != total {
					t.Fatalf("without a fault: %d revisions, %v", kept, err)
				}
				break
			}
			for seed := range uint64(2) {
				left := disk.Crash(rand.New(rand.NewPCG(seed, uint64(at))))
				if seed == 0 {
					left = disk.CrashWorst()
				}
				if err := checkLog(left, kept); err != nil {
					t.Fatalf("fault at call %d, crash %d: %d revisions were there, %v", at, seed, kept, err)
				}
				if kept == 0 {
					continue
				}
				if n, err := write(left, "/store/log.i", kept, total, kept); err != nil || n != total {
					t.Fatalf("fault at call %d, crash %d: writing on after %d: %d, %v", at, seed, kept, n, err)
				}
				if err := checkLog(left, total); err != nil {
					t.Fatalf("fault at call %d, crash %d: after writing on: %v", at, seed, err)
				}
			}
		}
	}
}

// checkLog reads the first n revisions.
func checkLog(fsys vfs.FS, n int) error {
	l, err := revlog.Open("/store/log.i", &revlog.Options{FS: files{fsys}})
	if errors.Is(err, fs.ErrNotExist) && n == 0 {
		return nil
	}
	if err != nil {
		if n == 0 {
			return nil
		}
		return err
	}
	defer l.Close()
	if l.Len() < n {
		return fmt.Errorf("%d revisions are left", l.Len())
	}
	for k := range n {
		got, err := l.Text(revlog.Rev(k))
		if err != nil || !bytes.Equal(got, text(k)) {
			return fmt.Errorf("revision %d is lost: %w", k, err)
		}
	}
	return nil
}
