package repo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// editor is undo, redo and restore as an editor has them, in lists of what was true.
type editor struct {
	after  []string // by operation
	past   []moved  // what undo goes back through, latest last
	now    string
	future []moved // what redo goes forward through, next last
}

// moved is an operation and what was true on its other side.
type moved struct {
	view string
	op   uint32
}

// did is any operation but undo and redo.
func (e *editor) did(view string) {
	e.past, e.now, e.future = append(e.past, moved{e.now, uint32(len(e.after))}), view, nil
}

// undo gives the operation that it takes back.
func (e *editor) undo() uint32 {
	k := len(e.past) - 1
	m := e.past[k]
	e.future, e.now, e.past = append(e.future, moved{e.now, m.op}), m.view, e.past[:k]
	return m.op
}

// redo gives the operation that it does again.
func (e *editor) redo() uint32 {
	k := len(e.future) - 1
	m := e.future[k]
	e.past, e.now, e.future = append(e.past, moved{e.now, m.op}), m.view, e.future[:k]
	return m.op
}

func viewText(t testing.TB, r *Repo) string {
	t.Helper()
	v, err := r.view()
	check(t, err)
	return fmt.Sprintf("on %q, base %d, bookmarks %v, tags %v, checkpoints %v", v.Current, v.Base, v.Bookmarks, v.Tags, v.Checkpoints)
}

// Undo, redo and restore do what an editor's would, whatever comes between, and lose no edit.
func TestUndoRedoRestoreAgainstLists(t *testing.T) {
	for seed := range 12 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { backAndForth(t, rand.New(rand.NewPCG(uint64(seed), 3)), 70) })
	}
}

func backAndForth(t *testing.T, rnd *rand.Rand, steps int) {
	ctx := context.Background()
	w := born(t)
	e := &editor{}
	w.with(t, func(r *Repo) error {
		e.now = viewText(t, r)
		e.after = []string{e.now}
		return nil
	})
	refused := 0
	for i := range steps {
		if rnd.IntN(2) == 0 {
			put(t, w.mem, []string{"a", "d/b", "new"}[rnd.IntN(3)], lines(rnd.IntN(5), 5+rnd.IntN(5)))
		}
		edits := unrecorded(t, w.mem)
		var what string
		var err error
		var ops, told, wanted uint32
		var view string
		w.with(t, func(r *Repo) error {
			what, told, err = anything(ctx, r, rnd, i)
			ops, view = r.store.NumOps(), viewText(t, r)
			return nil
		})
		var no *Error
		isNo := errors.As(err, &no) && no.No
		if err != nil && no == nil {
			t.Fatalf("step %d, %s: %v", i, what, err)
		}
		switch {
		case err != nil && what == "undo" && isNo != (len(e.past) == 0), err != nil && what == "redo" && isNo != (len(e.future) == 0):
			t.Fatalf("step %d, %s with %d before and %d after: %v", i, what, len(e.past), len(e.future), err)
		case err != nil:
			refused++
		case what == "undo" && len(e.past) == 0, what == "redo" && len(e.future) == 0:
			t.Fatalf("step %d: an %s of nothing", i, what)
		case what == "undo":
			wanted = e.undo()
		case what == "redo":
			wanted = e.redo()
		default:
			var n int
			if _, scanErr := fmt.Sscanf(what, "restore %d", &n); scanErr == nil {
				e.did(e.after[n])
			} else {
				e.did(view)
			}
		}
		if told != wanted {
			t.Fatalf("step %d, %s: it tells of operation %d, not %d", i, what, told, wanted)
		}
		if err == nil {
			e.after = append(e.after, view)
		}
		if int(ops) != len(e.after) {
			t.Fatalf("step %d, %s: %d operations, not %d; it said %v", i, what, ops, len(e.after), err)
		}
		if view != e.now {
			t.Fatalf("step %d, %s: it said %v\nwanted %s\nis     %s", i, what, err, e.now, view)
		}
		checkNothingLost(t, w.mem, edits)
	}
	if refused == steps {
		t.Fatal("everything was refused")
	}
	look(t, w.mem, nil)
}

// anything does one operation, and says which, and of which one it tells.
func anything(ctx context.Context, r *Repo, rnd *rand.Rand, i int) (what string, told uint32, err error) {
	base, err := r.Base()
	if err != nil {
		return "", 0, err
	}
	name := []string{"x", "y", "z"}[rnd.IntN(3)]
	switch k := rnd.IntN(16); k {
	case 0, 1, 2:
		_, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint(i), Time: at(int64(i))})
		return "commit", 0, err
	case 3:
		return "bookmark", 0, r.SetBookmark(name, base, true)
	case 4:
		return "delete", 0, r.DeleteBookmark(name)
	case 5:
		return "tag", 0, r.SetTag("v"+name, base, true)
	case 6, 7:
		_, err := r.Checkout(ctx, []string{"main", "x", "y", "@~1", "main~1"}[rnd.IntN(5)])
		return "checkout", 0, err
	case 8:
		_, err := r.Discard(ctx, nil, nil)
		return "discard", 0, err
	case 9:
		n := rnd.Uint32N(r.store.NumOps())
		_, err := r.Restore(ctx, n)
		return fmt.Sprint("restore ", n), 0, err
	case 10, 11, 12:
		op, err := r.Redo(ctx)
		return "redo", numOf(op), err
	default:
		op, err := r.Undo(ctx)
		return "undo", numOf(op), err
	}
}

func numOf(op *OpInfo) uint32 {
	if op == nil {
		return 0
	}
	return op.Num
}

func TestVerbOfACommand(t *testing.T) {
	for _, test := range []struct {
		command []string
		verb    string
	}{
		{nil, ""},
		{[]string{"undo"}, "undo"},
		{[]string{"-C", "undo", "redo"}, "redo"},
		{[]string{"--json", "--color", "always", "--dir=x", "undo", "-C", "y"}, "undo"},
		{[]string{"-C"}, ""},
	} {
		if got := verbOf(test.command); got != test.verb {
			t.Errorf("the verb of %q is %q, not %q", test.command, got, test.verb)
		}
	}
}

// What an operation brought and took is the difference of all that had a name before and after.
func TestShowOpAgainstLogs(t *testing.T) {
	w := branched(t, 7, 30)
	w.with(t, func(r *Repo) error {
		named := func(n uint32) map[uint32]bool {
			out := map[uint32]bool{}
			v, err := r.store.OpView(n)
			check(t, err)
			states := []uint32{baseOf(v)}
			for _, s := range v.Bookmarks {
				states = append(states, s)
			}
			for _, s := range v.Tags {
				states = append(states, s)
			}
			for _, s := range states {
				ref, err := r.stateRef(s)
				check(t, err)
				for c := range changesOf(t, r, ref) {
					out[c] = true
				}
			}
			return out
		}
		for n := uint32(1); n < r.store.NumOps(); n++ {
			d, err := r.ShowOp(n)
			check(t, err)
			was, is := named(n-1), named(n)
			for c := range r.store.NumChanges() {
				if slices.Contains(d.Gained, c) != (is[c] && !was[c]) || slices.Contains(d.Lost, c) != (was[c] && !is[c]) {
					t.Fatalf("operation %d, %v: it says %v came and %v went, which is wrong of %d", n, d.Command, d.Gained, d.Lost, c)
				}
			}
		}
		return nil
	})
}
