package repo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// fault is a way in which calls fail.
type fault struct {
	name string
	err  error
	mode vfs.FaultMode
}

var faults = []fault{
	{"one call fails", syscall.EIO, 0},
	{"the disk is full", syscall.ENOSPC, vfs.FaultStays},
	{"the disk is full in the middle", syscall.ENOSPC, vfs.FaultStays | vfs.FaultShort},
	{"one call or read fails", syscall.EIO, vfs.FaultReads},
}

// Each call that a command makes fails in turn. Afterwards the repository opens and everything acknowledged reads back;
// the command did all, or it said that it failed, and then nothing is different and running it again does all. No edit
// is lost.
func TestFaults(t *testing.T) {
	for i := range commands {
		c := &commands[i]
		w := c.from(t)
		if c.prepare != nil {
			c.prepare(t, w)
		}
		before := look(t, copyOf(w.mem), w.moments)
		after := copyOf(w.mem)
		if err := c.attempt(after); err != nil {
			t.Fatalf("%s without a fault: %v", c.name, err)
		}
		wanted := look(t, after, w.moments)
		edits := unrecorded(t, copyOf(w.mem))
		for _, f := range faults {
			t.Run(c.name+"/"+f.name, func(t *testing.T) {
				step := 1
				if f.mode&vfs.FaultReads != 0 && !*thorough {
					step = 4 // reads are many, and fail alike
				}
				for n := 1; ; n += step {
					mem := copyOf(w.mem)
					faulty := vfs.Inject(mem, n, f.err, f.mode)
					err := c.attempt(faulty)
					if !t.Run(fmt.Sprint(n), func(t *testing.T) {
						c.judge(t, mem, w, before, wanted, edits, err, f.mode)
					}) {
						t.Logf("call %d: the command said: %v", n, err)
					}
					if !faulty.Fired() {
						break
					}
				}
			})
		}
	}
}

func (c *command) judge(t *testing.T, mem *vfs.Mem, w *world, before, wanted seen, edits []string, err error, mode vfs.FaultMode) {
	t.Helper()
	now := look(t, mem, w.moments)
	checkNothingLost(t, mem, edits)
	if err == nil {
		if d := cmp.Diff(wanted, now); d != "" {
			t.Fatalf("it said that it was done, but (-wanted +now)\n%s", d)
		}
		return
	}
	done := now.View == wanted.View && now.Ops == wanted.Ops
	if now.View != before.View || now.Ops != before.Ops {
		if done && mode&vfs.FaultStays != 0 && !c.late {
			// The sync failed and then the disk refused to take back what was written: nobody can do more.
			if d := cmp.Diff(wanted, now); d != "" {
				t.Fatalf("it failed (%v) half done (-wanted +now)\n%s", err, d)
			}
			return
		}
		if !c.late || !done {
			t.Fatalf("it failed (%v), and yet %d operations, %s\n(before %d, %s)", err, now.Ops, now.View, before.Ops, before.View)
		}
	}
	if err := c.attempt(mem); err != nil {
		if e := (*Error)(nil); !c.late || !errors.As(err, &e) || !e.No {
			t.Fatalf("it failed, and again without a fault: %v", err)
		}
	}
	again := look(t, mem, w.moments)
	if c.late { // what was kept aside before the fault has an operation of its own
		again.Ops, again.View = wanted.Ops, wanted.View
	}
	if d := cmp.Diff(wanted, again); d != "" {
		t.Fatalf("it failed (%v), and run again (-wanted +now)\n%s", err, d)
	}
}

// An init that was cut off is finished by the next, and one that others made meanwhile, or that lost its file format,
// is not taken away.
func TestInitGoesOn(t *testing.T) {
	mem := newMem()
	check(t, mem.MkdirAll(memRoot+"/.oxy/wc", 0o777))
	check(t, store.Create(mem, memRoot+"/.oxy"))
	r, err := Init(memRoot, memOptions(mem))
	check(t, err)
	check(t, r.Close())
	before := look(t, mem, nil)
	if _, err := Init(memRoot, memOptions(mem)); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("init again: %v", err)
	}
	check(t, mem.Rename(memRoot+"/.oxy/format", memRoot+"/format"))
	if _, err := Init(memRoot, memOptions(mem)); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("init over records: %v", err)
	}
	check(t, mem.Rename(memRoot+"/format", memRoot+"/.oxy/format"))
	if d := cmp.Diff(before, look(t, mem, nil)); d != "" {
		t.Fatal(d)
	}
}

// An init that failed leaves nothing that keeps the next from doing it.
func TestFaultsOfInit(t *testing.T) {
	for _, f := range faults {
		for n := 1; ; n++ {
			mem := newMem()
			check(t, mem.MkdirAll("/", 0o777))
			faulty := vfs.Inject(mem, n, f.err, f.mode)
			r, err := Init(memRoot, memOptions(faulty))
			if err == nil {
				_ = r.Close()
			} else if r, again := Init(memRoot, memOptions(mem)); again == nil {
				check(t, r.Close())
			} else if f.mode&vfs.FaultStays == 0 || !errors.Is(again, fs.ErrExist) {
				// Where a disk refuses to take back what it could not sync, the first one has done it.
				t.Fatalf("%s, call %d: %v, then again: %v", f.name, n, err, again)
			}
			if s := look(t, mem, nil); s.Ops != 1 {
				t.Fatalf("%s, call %d: %+v", f.name, n, s)
			}
			if !faulty.Fired() {
				break
			}
		}
	}
}

// A read that fails while somebody only looks is told or does not matter: what is shown is never another thing.
func TestReadFaults(t *testing.T) {
	w := settled(t)
	scribble(t, w.mem)
	ctx := context.Background()
	last := w.moments[len(w.moments)-1]
	views := map[string]func(r *Repo) (string, error){
		"status": func(r *Repo) (string, error) {
			st, err := r.Status(ctx, StatusOptions{})
			if err != nil {
				return "", err
			}
			return statusText(st), errors.Join(st.Problems...)
		},
		"log": func(r *Repo) (s string, err error) {
			err = r.Log(LogOptions{Paths: []string{"a"}}, func(c *ChangeInfo) error { s += c.ID.String(); return nil })
			return s, err
		},
		"files": func(r *Repo) (string, error) {
			m, err := contents(r, last.state)
			return fmt.Sprint(m), err
		},
		"blame": func(r *Repo) (s string, err error) {
			runs, err := r.Blame(ctx, "a", BlameOptions{})
			for _, run := range runs {
				s += fmt.Sprintf("%v %s", run.Change == nil, run.Text)
			}
			return s, err
		},
		"diff": func(r *Repo) (s string, err error) {
			d, err := r.DiffWorking(ctx, nil)
			if err != nil {
				return "", err
			}
			for i := range d.Files {
				a, errA := d.Old(nil, i)
				b, errB := d.New(nil, i)
				if err := errors.Join(errA, errB); err != nil {
					return "", err
				}
				s += fmt.Sprintf("%s %q %q\n", d.Files[i].What, a, b)
			}
			return s, nil
		},
	}
	for name, view := range views {
		ask := func(fsys vfs.FS) (string, error) {
			r, err := Open(memRoot, memOptions(fsys))
			if err != nil {
				return "", err
			}
			s, err := view(r)
			_ = r.Close()
			return s, err
		}
		want, err := ask(copyOf(w.mem))
		check(t, err)
		for n := 1; ; n++ {
			mem := copyOf(w.mem)
			faulty := vfs.Inject(mem, n, syscall.EIO, vfs.FaultReads)
			got, err := ask(faulty)
			if err == nil && got != want {
				t.Errorf("%s, call %d: %s", name, n, cmp.Diff(want, got))
			}
			if again, err := ask(mem); err != nil || again != want {
				t.Errorf("%s after call %d failed: %v", name, n, err)
			}
			if !faulty.Fired() {
				break
			}
		}
	}
}
