package repo

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/oracle"
	"github.com/oxy-vcs/oxy/internal/oracle/tree"
)

// The laws of docs/spec/algebra.md and docs/spec/tree.md, each by its name, of what people see. Unlike the mirrored stories, nothing here asks the
// definition what is right: it only tells the story.

var lawStories = flag.Int64("law-stories", 25, "random stories after which each law is looked at")

// afterStories looks at a law after each of some stories.
func afterStories(t *testing.T, law func(m *mirror)) {
	t.Helper()
	seen := map[string]int{}
	for seed := range *lawStories {
		m := newMirror(t, 100_000+seed, seen)
		m.quiet = true
		for range 12 {
			m.step()
		}
		law(m)
		check(t, m.r.Close())
	}
	t.Log(seen)
}

// fresh puts the working copy on a bookmark of its own.
func (m *mirror) fresh(s StateRef) {
	m.t.Helper()
	m.hands++
	name := fmt.Sprint("hand", m.hands)
	check(m.t, m.r.SetBookmark(name, s, false))
	_, err := m.r.Checkout(context.Background(), name)
	check(m.t, err)
	m.on = -1
}

// here is the state that the working copy stands on, and all it shows; the disk must show that too.
func (m *mirror) here() (StateRef, picture) {
	m.t.Helper()
	base, err := m.r.Base()
	check(m.t, err)
	p := pictureOf(m.t, m.r, base)
	if disk := memDisk(m.t, m.w.mem); !maps.Equal(disk, p.Files) {
		m.fail("the disk has\n %q\nthe state\n %q", disk, p.Files)
	}
	return base, p
}

func (m *mirror) replica(i int) StateRef {
	s, err := m.r.ResolveState(replicas[i])
	check(m.t, err)
	return s
}

func (m *mirror) merge(with string) {
	_, err := m.r.Merge(context.Background(), with, MergeOptions{})
	m.no(err)
}

func (m *mirror) id(c uint32) string { return m.r.store.ChangeID(c).String() }

// build picks the changes of a set one by one, in a random order that dependencies allow.
func (m *mirror) build(s tree.Set) {
	m.t.Helper()
	m.fresh(m.first)
	in := oracle.Of(0)
	for len(in) < len(s) {
		var ready []uint32
		for _, c := range s.Minus(in).Sorted() {
			if in.Holds(oracle.Of(m.r.store.Deps(c)...)) {
				ready = append(ready, c)
			}
		}
		c := ready[m.Rand.Intn(len(ready))]
		_, err := m.r.Pick(context.Background(), []string{m.id(c)}, PickOptions{})
		check(m.t, err)
		in[c] = true
	}
}

// union puts the working copy on all that the three have.
func (m *mirror) union() tree.Set {
	m.fresh(m.replica(0))
	m.merge(replicas[1])
	m.merge(replicas[2])
	return m.Replicas[0].Union(m.Replicas[1]).Union(m.Replicas[2])
}

func (m *mirror) alike(what string, a StateRef, p picture, b StateRef, q picture) {
	m.t.Helper()
	if a.ID != b.ID {
		m.fail("%s: other changes", what)
	}
	if !p.equal(q) {
		m.fail("%s:\n%q\nnot\n%q", what, q, p)
	}
}

func TestConvergence(t *testing.T) {
	afterStories(t, func(m *mirror) {
		all := m.union()
		a, p := m.here()
		for range 3 {
			order := m.Rand.Perm(3)
			m.fresh(m.replica(order[0]))
			m.merge(replicas[order[1]])
			m.merge(replicas[order[2]])
			b, q := m.here()
			m.alike("merged in another order", a, p, b, q)
		}
		m.build(all)
		b, q := m.here()
		m.alike("picked one by one", a, p, b, q)
	})
}

func TestIdempotence(t *testing.T) {
	afterStories(t, func(m *mirror) {
		all := m.union()
		a, p := m.here()
		for i := range 3 {
			if _, err := m.r.Merge(context.Background(), replicas[i], MergeOptions{}); !m.no(err) {
				m.fail("merged twice")
			}
		}
		c := all.Sorted()[m.Rand.Intn(len(all))]
		if _, err := m.r.Pick(context.Background(), []string{m.id(c)}, PickOptions{}); !m.no(err) {
			m.fail("picked twice")
		}
		b, q := m.here()
		m.alike("united with what is there", a, p, b, q)
	})
}

func TestApplyThenUnrecordIsNothing(t *testing.T) {
	afterStories(t, func(m *mirror) {
		m.fresh(m.replica(0))
		a, p := m.here()
		more := m.Replicas[1].Union(m.Replicas[2]).Minus(m.Replicas[0])
		for c := range more {
			res, err := m.r.Pick(context.Background(), []string{m.id(c)}, PickOptions{})
			check(m.t, err)
			var came []string
			for _, n := range res.Came {
				came = append(came, m.id(n))
			}
			_, err = m.r.Unrecord(context.Background(), came, UnrecordOptions{})
			check(m.t, err)
			b, q := m.here()
			m.alike("picked and taken away", a, p, b, q)
		}
	})
}

func TestUnrecordIsTheStateWithout(t *testing.T) {
	afterStories(t, func(m *mirror) {
		all := m.union()
		whole, err := m.r.Base()
		check(m.t, err)
		for _, c := range m.Free(all) {
			m.fresh(whole)
			_, err := m.r.Unrecord(context.Background(), []string{m.id(c)}, UnrecordOptions{})
			check(m.t, err)
			a, p := m.here()
			m.build(all.Minus(oracle.Of(c)))
			b, q := m.here()
			m.alike("taken away, and never there", b, q, a, p)
		}
	})
}

// What a change did is not there once it is undone, also beside what others did who know of neither.
func TestUndoneIsNotThere(t *testing.T) {
	afterStories(t, func(m *mirror) {
		for i := range 3 {
			s := m.Replicas[i]
			for _, p := range m.Free(s) {
				if !m.Live(s)[p] {
					continue
				}
				m.fresh(m.replica(i))
				res, err := m.r.Rollback(context.Background(), m.id(p), RollbackOptions{Message: fmt.Sprint("undo in ", i), Time: at(5000)})
				check(m.t, err)
				undoing := res.Made.Num
				_, undone := m.here()
				m.fresh(m.replica(i))
				_, err = m.r.Unrecord(context.Background(), []string{m.id(p)}, UnrecordOptions{})
				check(m.t, err)
				if _, never := m.here(); !never.equal(undone) {
					m.fail("%d undone:\n%q\nnever there:\n%q", p, undone, never)
				}
				m.undoneBeside(i, p, undoing)
			}
		}
	})
}

func (m *mirror) undoneBeside(i int, p, undoing uint32) {
	other := tree.Set{}
	for c := range m.Replicas[(i+1)%3] {
		if !m.Reaches(c, p) {
			other[c] = true
		}
	}
	never := m.Replicas[i].Minus(oracle.Of(p)).Union(other)
	m.build(never)
	a, q := m.here()
	m.fresh(a)
	_, err := m.r.Pick(context.Background(), []string{m.id(p), m.id(undoing)}, PickOptions{})
	check(m.t, err)
	if _, undone := m.here(); !undone.equal(q) {
		m.fail("%d undone by %d beside others:\n%q\nnever there:\n%q", p, undoing, undone, q)
	}
}

// afterRecords looks at a law after records on what the three make together; disk is what was recorded.
func afterRecords(t *testing.T, law func(m *mirror, before StateRef, disk map[string]string, res *CommitResult)) {
	t.Helper()
	afterStories(t, func(m *mirror) {
		v := m.Look(m.union())
		base, err := m.r.Base()
		check(m.t, err)
		for range 4 {
			m.write(m.Scribble(v))
			disk := memDisk(m.t, m.w.mem)
			m.now++
			res, err := m.r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint("c", m.now), Time: at(int64(m.now))})
			if m.no(err) {
				continue
			}
			law(m, base, disk, res)
			m.fresh(base)
		}
	})
}

func TestRecordThenRender(t *testing.T) {
	afterRecords(t, func(m *mirror, _ StateRef, disk map[string]string, res *CommitResult) {
		if got := stored(m.t, m.r, res.State); !maps.Equal(got, disk) {
			m.fail("recorded\n %q\nshown\n %q", disk, got)
		}
		if now := memDisk(m.t, m.w.mem); !maps.Equal(now, disk) {
			m.fail("a record touched the files: %q, were %q", now, disk)
		}
	})
}

func TestFreshRecordConflictsWithNothing(t *testing.T) {
	afterRecords(t, func(m *mirror, before StateRef, _ map[string]string, res *CommitResult) {
		m.conflictsWithNothing(before, res)
	})
}

// A fresh record conflicts with nothing that it was recorded on.
func (m *mirror) conflictsWithNothing(before StateRef, res *CommitResult, but ...string) {
	step, err := m.r.newConflicts(before, res.State)
	check(m.t, err)
	for _, c := range step.came {
		if !slices.Contains(but, c.Kind) {
			m.fail("a fresh record conflicts with what it was recorded on: %+v", c)
		}
	}
	cs, err := m.r.Conflicts(res.State)
	check(m.t, err)
	n, _ := m.r.store.FindChange(res.ID)
	for _, c := range cs {
		for _, s := range c.Sides {
			if c.Kind != "name" && slices.Contains(s.Changes, n) {
				m.fail("a fresh record is at odds: %+v", c)
			}
		}
	}
}

func TestRecordWithNoEditRecordsNothing(t *testing.T) {
	afterStories(t, func(m *mirror) {
		n := m.r.store.NumChanges()
		nothing := func() {
			if _, err := m.r.Commit(context.Background(), CommitOptions{Message: "nothing", Time: at(9000)}); !m.no(err) || m.r.store.NumChanges() != n {
				m.fail("something was recorded")
			}
		}
		for i := range 3 {
			m.fresh(m.replica(i))
			nothing()
		}
		m.union()
		nothing()
	})
}

// What a change depends on is the least that it needs, and enough: with that alone it shows what it says and conflicts with nothing.
func TestDependenciesAreMinimalAndSufficient(t *testing.T) {
	afterStories(t, func(m *mirror) {
		past := map[uint32]tree.Set{}
		for n := range m.r.store.NumChanges() {
			past[n] = tree.Set{}
			deps := m.r.store.Deps(n)
			for _, d := range deps {
				past[n] = past[n].Union(past[d]).With(d)
			}
			for _, d := range deps {
				for _, e := range deps {
					if past[e][d] {
						m.fail("%d depends on %d, which %d does", n, d, e)
					}
				}
			}
			if !past[n][0] {
				continue
			}
			m.build(past[n])
			before, _ := m.here()
			_, err := m.r.Pick(context.Background(), []string{m.id(n)}, PickOptions{})
			check(m.t, err)
			after, _ := m.here()
			but := []string{"name", "text"} // see the exception in docs/spec/tree.md; a text that is shown again may show its blocks
			if m.Changes[n].Undoes != tree.None {
				but = append(but, "place", "mode", "body", "life") // what it takes back may have settled them
			}
			m.conflictsWithNothing(before, &CommitResult{ID: m.r.store.ChangeID(n), State: after}, but...)
		}
		// What is apart is independent.
		m.union()
		put(m.t, m.w.mem, "apart", "1\n")
		res, err := m.r.Commit(context.Background(), CommitOptions{Message: "apart", Time: at(9000)})
		check(m.t, err)
		n, _ := m.r.store.FindChange(res.ID)
		if deps := m.r.store.Deps(n); len(deps) > 0 {
			m.fail("a new file depends on %v", deps)
		}
	})
}
