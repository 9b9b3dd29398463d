package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// grown is a repository whose derived files have many pages: files enough for trees of two levels, and a file with so
// many edits that its weave has snapshots and records.
func grown(t testing.TB) *world {
	t.Helper()
	w := &world{mem: newMem()}
	check(t, w.mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(w.mem))
	check(t, err)
	check(t, r.Close())
	for i := range 400 {
		put(t, w.mem, fmt.Sprintf("dir%d/file%d", i%20, i), lines(i, i+1+i%7))
	}
	put(t, w.mem, "a", lines(0, 40))
	put(t, w.mem, "bin", binary5000)
	w.commit(t, "first")
	for i := range 14 {
		put(t, w.mem, "a", lines(0, 2*i)+fmt.Sprintf("edit %d\n", i)+lines(2*i+1, 40+i))
		put(t, w.mem, fmt.Sprintf("dir%d/file%d", i, i), lines(i, 9+i))
		w.commit(t, fmt.Sprint("edit ", i))
	}
	drop(t, w.mem, "dir3/file3")
	w.commit(t, "last")
	put(t, w.mem, "a", "unrecorded\n"+lines(4, 50))
	w.with(t, func(r *Repo) error { return r.ConfigSet("user.name", "Grace", false) })
	w.with(t, func(r *Repo) error { return r.Move(context.Background(), "dir5", "moved") })
	return w
}

// damages are ways to break a file of so many bytes.
type damage struct {
	what string
	make func(t testing.TB, fsys vfs.FS, name string)
}

func damages(size int64) []damage {
	out := []damage{{"gone", func(t testing.TB, fsys vfs.FS, name string) { check(t, fsys.Remove(name)) }}}
	parts := int64(5)
	if *thorough {
		parts = 40
	}
	at := map[int64]bool{}
	for i := range parts {
		at[size*i/parts] = true
	}
	at[max(size-1, 0)] = true
	at[min(size, 9)] = true
	for off := range at {
		out = append(out, damage{fmt.Sprint("cut to ", off), func(t testing.TB, fsys vfs.FS, name string) {
			alter(t, fsys, name, func(f vfs.File) error { return f.Truncate(off) })
		}})
		if off >= size {
			continue
		}
		out = append(out, damage{fmt.Sprint("byte turned at ", off), func(t testing.TB, fsys vfs.FS, name string) {
			alter(t, fsys, name, func(f vfs.File) error {
				var b [1]byte
				if _, err := f.ReadAt(b[:], off); err != nil {
					return err
				}
				b[0] ^= 0x24
				_, err := f.WriteAt(b[:], off)
				return err
			})
		}})
	}
	return out
}

func alter(t testing.TB, fsys vfs.FS, name string, fn func(vfs.File) error) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_RDWR, 0)
	check(t, err)
	check(t, fn(f))
	check(t, f.Close())
}

// filesIn lists the files of the repository with their sizes.
func filesIn(t testing.TB, fsys vfs.FS, dir string, out map[string]int64) {
	t.Helper()
	names, err := fsys.ReadDir(dir)
	check(t, err)
	for _, n := range names {
		name := filepath.Join(dir, n)
		var st vfs.Stat
		check(t, fsys.Lstat(name, &st))
		if st.Kind == vfs.KindDir {
			filesIn(t, fsys, name, out)
		} else {
			out[name] = st.Size
		}
	}
}

// truth are the files whose damage may be told; all others can be made again, and are, in silence.
func isTruth(name string) bool {
	rel, _ := filepath.Rel(filepath.Join(memRoot, DirName), name)
	return strings.HasPrefix(rel, "log/") || rel == "format" || rel == "config.toml" || rel == "wc/pending"
}

// Every file of a repository is damaged in turn. What is derived is made anew in silence; of the truth either the right
// answer comes or an error that says what is damaged. Never a wrong answer, and never a panic.
func TestDamage(t *testing.T) {
	w := grown(t)
	want := look(t, copyOf(w.mem), w.moments)
	files := map[string]int64{}
	filesIn(t, w.mem, filepath.Join(memRoot, DirName), files)
	for name, size := range files {
		for _, d := range damages(size) {
			t.Run(filepath.Base(name)+" "+d.what, func(t *testing.T) {
				mem := copyOf(w.mem)
				d.make(t, mem, name)
				err := w.ask(t, mem, want)
				switch {
				case err == nil:
				case !isTruth(name):
					t.Errorf("it is derived, but: %v", err)
				case strings.HasSuffix(name, "format") && errors.Is(err, store.ErrNotRepository):
				case !strings.Contains(err.Error(), filepath.Base(name)):
					t.Errorf("the error does not name it: %v", err)
				case strings.HasSuffix(name, ".seg") && !errors.Is(err, store.ErrDamaged):
					t.Errorf("the error is not one of damage: %v", err)
				}
				if n := mem.Handles(); n != 0 {
					t.Errorf("%d files stay open", n)
				}
			})
		}
	}
}

// ask asks for all there is, each thing as a process of its own would, and records. Wrong answers fail the test.
func (w *world) ask(t *testing.T, mem *vfs.Mem, want seen) error {
	t.Helper()
	ctx := context.Background()
	as := func(fn func(r *Repo) error) error {
		r, err := Open(memRoot, memOptions(mem))
		if err != nil {
			return err
		}
		err = fn(r)
		return errors.Join(err, r.Close())
	}
	var errs []error
	try := func(fn func(r *Repo) error) { errs = append(errs, as(fn)) }
	pending := want.Status
	try(func(r *Repo) error {
		st, err := r.Status(ctx, StatusOptions{})
		if err == nil && statusText(st) != pending && !w.lostNote(mem) {
			t.Errorf("status %s", statusText(st))
		}
		return err
	})
	try(func(r *Repo) error {
		n := 0
		err := r.Log(LogOptions{}, func(*ChangeInfo) error { n++; return nil })
		if err == nil && n != len(w.moments) {
			t.Errorf("the log has %d changes", n)
		}
		return err
	})
	try(func(r *Repo) error {
		n := 0
		err := r.Log(LogOptions{Paths: []string{"a"}}, func(*ChangeInfo) error { n++; return nil })
		if err == nil && n != 15 {
			t.Errorf("the log of a file has %d changes", n)
		}
		return err
	})
	try(func(r *Repo) error {
		runs, err := r.Blame(ctx, "a", BlameOptions{})
		text := ""
		for _, run := range runs {
			text += string(run.Text)
		}
		if err == nil && text != want.Disk["a"][5:] {
			t.Errorf("blame has another text: %q", text)
		}
		return err
	})
	try(func(r *Repo) error {
		d, err := r.DiffStates(w.moments[0].state, w.moments[len(w.moments)-1].state, nil)
		if err != nil {
			return err
		}
		if len(d.Files) != 15 {
			t.Errorf("%d files differ", len(d.Files))
		}
		for i := range d.Files {
			b, err := d.New(nil, i)
			if err != nil {
				return err
			}
			if f := d.Files[i].New; f != nil && string(b) != w.moments[len(w.moments)-1].files[f.Path][5:] {
				t.Errorf("diff has another %s", f.Path)
			}
		}
		return nil
	})
	for _, i := range []int{len(w.moments) - 1, 0, len(w.moments) / 2} {
		m := w.moments[i]
		try(func(r *Repo) error {
			got, err := contents(r, m.state)
			if err == nil && !maps.Equal(got, m.files) {
				t.Errorf("state %d is another one", m.state.Num)
			}
			return err
		})
	}
	try(func(r *Repo) error {
		res, err := r.Commit(ctx, CommitOptions{Message: "after", Time: at(5000)})
		if err != nil {
			return err
		}
		got, err := contents(r, res.State)
		if err == nil && !maps.Equal(got, want.Disk) {
			t.Error("recorded something else")
		}
		return err
	})
	try(func(r *Repo) error {
		_, err := r.Checkout(ctx, "main:1")
		if err == nil && !maps.Equal(memDisk(t, mem), w.moments[0].files) {
			t.Error("checked out something else")
		}
		return err
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// lostNote tells whether what is noted for the next record is damaged: then moves are found by content, by commit only.
func (w *world) lostNote(mem *vfs.Mem) bool {
	name := filepath.Join(memRoot, DirName, "wc", "pending")
	was, _ := w.mem.ReadFile(name, maxPending)
	now, err := mem.ReadFile(name, maxPending)
	return errors.Is(err, fs.ErrNotExist) || string(was) != string(now)
}

// contents is stored with its error.
func contents(r *Repo, s StateRef) (map[string]string, error) {
	out := map[string]string{}
	err := r.Files(s, "", func(f *Side) error {
		var b strings.Builder
		if err := r.Cat(&b, s, f.Path); err != nil {
			return err
		}
		mode := "file "
		if f.Exec {
			mode = "exec "
		}
		if f.Kind.String() == "link" {
			mode = "link "
		}
		out[f.Path] = mode + b.String()
		return nil
	})
	return out, err
}

// A repository of a later oxy is left alone.
func TestNewerFormat(t *testing.T) {
	w := born(t)
	put(t, w.mem, ".oxy/format", fmt.Sprintf("oxy repository, format %d\n", store.Format+1))
	if _, err := Open(memRoot, memOptions(w.mem)); !errors.Is(err, store.ErrNewerFormat) {
		t.Fatal(err)
	}
	if _, err := Init(memRoot, memOptions(w.mem)); err == nil {
		t.Fatal("init over it")
	}
	put(t, w.mem, ".oxy/format", fmt.Sprintf("oxy repository, format %d\n", store.Format))
	look(t, w.mem, nil)
}

// Where nothing can be written everything can be read, with what is derived and without.
func TestReadOnly(t *testing.T) {
	w := grown(t)
	want := look(t, copyOf(w.mem), w.moments)
	for _, gone := range []string{"", "head", "index", "trees", "wc/manifest", "lock"} {
		mem := copyOf(w.mem)
		if gone != "" {
			check(t, mem.RemoveAll(filepath.Join(memRoot, DirName, gone)))
		}
		readOnly := vfs.Inject(mem, 1, syscall.EROFS, vfs.FaultStays)
		r, err := Open(memRoot, memOptions(readOnly))
		check(t, err)
		now := lookAt(t, r, w.moments)
		now.Disk = want.Disk
		if d := cmp.Diff(want, now); d != "" {
			t.Errorf("without %q (-wanted +now)\n%s", gone, d)
		}
		ctx := context.Background()
		d, err := r.DiffWorking(ctx, nil)
		check(t, err)
		for i := range d.Files {
			_, err := d.New(nil, i)
			check(t, err)
			_, err = d.Old(nil, i)
			check(t, err)
		}
		_, err = r.Blame(ctx, "a", BlameOptions{})
		check(t, err)
		_, err = r.Hunks(ctx, nil)
		check(t, err)
		if _, err := r.Commit(ctx, CommitOptions{Message: "no"}); !errors.Is(err, syscall.EROFS) {
			t.Errorf("a commit: %v", err)
		}
		check(t, r.Close())
	}
}

// Damage to a page of the trees is met by many goroutines at once: each gets the right content. Then the next record puts
// whole trees in place, and later readers meet no damage.
func TestDamagedTreesSideBySide(t *testing.T) {
	w := grown(t)
	trees := map[string]int64{}
	filesIn(t, w.mem, filepath.Join(memRoot, DirName, "trees"), trees)
	last := w.moments[len(w.moments)-1]
	for name, size := range trees {
		for part := range int64(7) {
			mem := copyOf(w.mem)
			for off := size * part / 7; off < min(size, size*part/7+600); off += 40 {
				alter(t, mem, name, func(f vfs.File) error {
					_, err := f.WriteAt([]byte{0xa5}, off)
					return err
				})
			}
			r, err := Open(memRoot, memOptions(mem))
			check(t, err)
			d, err := r.DiffStates(StateRef{Num: NoState}, last.state, nil)
			check(t, err)
			var group sync.WaitGroup
			for g := range 4 {
				group.Go(func() {
					for i := g; i < len(d.Files); i += 4 {
						b, err := d.New(nil, i)
						if err != nil || string(b) != last.files[d.Files[i].New.Path][5:] {
							t.Errorf("part %d: %s: %v", part, d.Files[i].New.Path, err)
						}
					}
				})
			}
			group.Wait()
			check(t, r.Close())
			with(t, mem, func(r *Repo) error { return commitAll(context.Background(), r) })
			with(t, mem, func(r *Repo) error {
				_, err := contents(r, last.state)
				if n := r.renewals.Load(); n != 0 {
					t.Errorf("part %d: the trees are still damaged after a record", part)
				}
				return err
			})
		}
	}
}
