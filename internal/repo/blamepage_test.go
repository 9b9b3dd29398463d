package repo

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Blame tells of every byte that a file shows, with conflicts and without; by nobody are its marks alone; and with Deleted
// of every byte that was deleted and that nothing shows.
func TestBlameTellsAllThatIsShown(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := &teller{t: t, w: &world{mem: newMem()}, rnd: rand.New(rand.NewPCG(seed, 78)), seen: map[string]int{}}
			check(t, s.w.mem.MkdirAll(memRoot, 0o777))
			put(t, s.w.mem, "a", "x\ny\nz\n")
			put(t, s.w.mem, "d/a", "x\nx\nx\ny\n")
			r, err := Init(memRoot, memOptions(s.w.mem))
			check(t, err)
			_, err = r.Commit(context.Background(), CommitOptions{Message: "first", Time: at(0)})
			check(t, err)
			base, err := r.Base()
			check(t, err)
			s.first = r.store.ChangeID(0).String()
			for _, b := range []string{"one", "two"} {
				check(t, r.SetBookmark(b, base, false))
			}
			check(t, r.Close())
			for range 24 {
				s.w.with(t, func(r *Repo) error { s.act(r); return nil })
				s.w.with(t, func(r *Repo) error { blameAll(t, r, seen); return nil })
			}
		})
	}
	t.Log(seen)
	if seen["marks"] == 0 || seen["gone beside marks"] == 0 {
		t.Error("no story has what this is about")
	}
}

func blameAll(t *testing.T, r *Repo, seen map[string]int) {
	t.Helper()
	base, err := r.Base()
	check(t, err)
	if base.Num == NoState {
		return
	}
	check(t, r.Files(base, "", func(f *Side) error {
		if f.Kind != change.Text {
			return nil
		}
		var want bytes.Buffer
		check(t, r.Cat(&want, base, f.Path))
		e, err := r.fileAt(base, f.Path)
		check(t, err)
		l, err := r.loadWeave(e)
		check(t, err)
		for _, deleted := range []bool{false, true} {
			runs, err := r.Blame(context.Background(), f.Path, BlameOptions{State: &base, Deleted: deleted})
			check(t, err)
			var got []byte
			marks, gone, line := 0, 0, 1
			for i := range runs {
				run := &runs[i]
				if run.DeletedBy != nil {
					gone += len(run.Text)
					continue
				}
				if run.Line != line {
					t.Fatalf("%s: a run is on line %d, not %d", f.Path, run.Line, line)
				}
				line += bytes.Count(run.Text, []byte("\n"))
				got = append(got, run.Text...)
				if run.Mark {
					marks += bytes.Count(run.Text, []byte("\n"))
				}
				if run.Mark != (run.Change == nil) {
					t.Fatalf("%s: %q is by %v", f.Path, run.Text, run.Change)
				}
			}
			if !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("%s shows\n%s\nblame\n%s", f.Path, want.Bytes(), got)
			}
			wantMarks, wantGone := unseenIn(t, r, e.File, l)
			if marks != wantMarks {
				t.Fatalf("%s: %d lines are marks, not %d:\n%s", f.Path, marks, wantMarks, got)
			}
			if deleted && gone != wantGone {
				t.Fatalf("%s: %d bytes are gone, not %d", f.Path, gone, wantGone)
			}
			if seen["marks"] += marks; marks > 0 && gone > 0 {
				seen["gone beside marks"]++
			}
		}
		return nil
	}))
}

// unseenIn counts, one by one, the lines of a file that are marks, and the deleted bytes that nothing shows.
func unseenIn(t *testing.T, r *Repo, id change.FileID, l *loaded) (marks, gone int) {
	t.Helper()
	shows := map[change.Pos]bool{}
	show := func(s change.Stretch) {
		for i := range s.Len {
			shows[change.Pos{Change: s.Change, Off: s.Off + i}] = true
		}
	}
	if len(l.w.Open()) > 0 {
		v, _, err := r.page(id, l, r.newReach())
		check(t, err)
		for _, it := range v.Items {
			if it.Block == nil {
				show(it.Stretch)
				continue
			}
			for _, s := range it.Block.Base {
				show(s)
			}
			for _, side := range it.Block.Sides {
				for _, s := range side.Show {
					show(s)
				}
			}
			marks += len(it.Block.Sides) + 2
			if len(it.Block.Sides) == 1 {
				marks++
			}
		}
	} else {
		for i := range l.w.Runs {
			if run := &l.w.Runs[i]; run.Shown() {
				show(change.Stretch{Change: run.Change, Off: run.Off, Len: run.Len})
			}
		}
	}
	for i := range l.w.Runs {
		run := &l.w.Runs[i]
		for k := range run.Len {
			if run.Dead != 0 && !shows[change.Pos{Change: run.Change, Off: run.Off + k}] {
				gone++
			}
		}
	}
	return marks, gone
}
