package weave

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// quarrel is changes of one file made one by one, each set's weave held to the definition.
type quarrel struct{ replicas }

func newQuarrel(t *testing.T, seed int64) *quarrel {
	w := oracle.NewWorld(rand.New(rand.NewSource(seed)))
	return &quarrel{replicas{t: t, h: history{w}, seen: &coverage{}}}
}

func (q *quarrel) record(on oracle.Set, want []string) oracle.Set {
	c, err := q.h.Record(on, want)
	if err != nil || c == nil {
		q.t.Fatal(c, err)
	}
	return on.With(c.Num)
}

// edit replaces the first line that is not there for ever, or each block, by some text.
func (q *quarrel) edit(on oracle.Set, text string) oracle.Set {
	var want []string
	for _, it := range q.h.Render(on).Items {
		if it.Block != nil || it.Lines[0] != "1\n" && it.Lines[0] != "2\n" {
			want = append(want, text)
		} else {
			want = append(want, it.Lines...)
		}
	}
	return q.record(on, want)
}

func (q *quarrel) undo(on oracle.Set, c uint32) oracle.Set {
	return on.With(q.h.Rollback(on, c).Num)
}

// weave is that of a set, by adding one change after another.
func (q *quarrel) weave(s oracle.Set) *Weave {
	w := New(q.h.patch(0).Source)
	for _, c := range s.Sorted()[1:] {
		var err error
		if w, err = w.Add(q.h.patch(c), q.h); err != nil {
			q.t.Fatal(err)
		}
	}
	return w
}

func (q *quarrel) hold(w *Weave, s oracle.Set) {
	q.t.Helper()
	q.compare(w, s)
	q.view(w, s)
}

// newest is the change that a set has and an older one has not.
func newest(s oracle.Set) uint32 { return slices.Max(s.Sorted()) }

// They edit one line again and again, we settle it each time. Each of our settlements undone, undone and that undone, or the last
// one or two left out, opens what only that one had closed.
func TestRounds(t *testing.T) {
	for seed := range int64(6) {
		q := newQuarrel(t, seed)
		base := q.record(oracle.Set{}, []string{"1\n", "x\n", "2\n"})
		they, we := base, q.edit(base, "w\n")
		var ours []uint32
		for round := range 5 {
			they = q.edit(they, string(rune('a'+round))+"\n")
			we = we.Union(they)
			q.hold(q.weave(we), we)
			we = q.edit(we, string(rune('m'+round))+"\n")
			ours = append(ours, newest(we))
		}
		all := q.weave(we)
		q.hold(all, we)
		for i, c := range ours {
			once := q.undo(we, c)
			q.hold(q.weave(once), once)
			twice := q.undo(once, newest(once))
			q.hold(q.weave(twice), twice)
			if i >= len(ours)-2 {
				left := we.Minus(oracle.Of(ours[i:]...))
				part, err := all.Only(func(c uint32) bool { return left[c] }, q.h)
				if err != nil {
					t.Fatal(err)
				}
				q.hold(part, left)
			}
		}
	}
}

// Two conflicting changes, each undone by someone: they conflict again when both undoings are left out, or undone, at once.
func TestBothUndoingsTakenBack(t *testing.T) {
	q := newQuarrel(t, 1)
	base := q.record(oracle.Set{}, []string{"1\n", "x\n", "2\n"})
	l, r := q.edit(base, "l\n"), q.edit(base, "r\n")
	both := l.Union(r)
	noL := q.undo(l, newest(l))
	noR := q.undo(r, newest(r))
	none := noL.Union(noR)
	w := q.weave(none)
	q.hold(w, none)
	part, err := w.Only(func(c uint32) bool { return both[c] }, q.h)
	if err != nil {
		t.Fatal(err)
	}
	q.hold(part, both)
	again := q.undo(noL, newest(noL)).Union(q.undo(noR, newest(noR)))
	m, err := Merge(w, q.weave(again), q.h)
	if err != nil {
		t.Fatal(err)
	}
	q.hold(m, again)
	if len(m.Open()) != 1 || len(part.Open()) != 1 {
		t.Errorf("open are %v and %v", part.Open(), m.Open())
	}
}
