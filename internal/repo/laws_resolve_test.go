package repo

import (
	"context"
	"fmt"
	"maps"
	"testing"
)

// The laws of resolutions.

// afterConflicts looks at a law after each of some stories and for each conflict that it left, where all three have united.
func afterConflicts(t *testing.T, law func(m *mirror, base StateRef, c Conflict)) {
	t.Helper()
	kinds := map[string]int{}
	afterStories(t, func(m *mirror) {
		m.union()
		base, err := m.r.Base()
		check(m.t, err)
		cs, err := m.r.Conflicts(base)
		check(m.t, err)
		for _, c := range cs {
			kinds[c.Kind]++
			m.fresh(base)
			law(m, base, c)
		}
	})
	t.Log(kinds)
	for _, k := range []string{"text", "place", "body", "life", "name"} {
		if kinds[k] == 0 {
			t.Errorf("no conflict of %s was looked at", k)
		}
	}
}

// decide resolves a conflict as the working copy has it, or for a side, from 1, and records that; false if that side cannot be taken.
func (m *mirror) decide(c Conflict, side int, message string) (*CommitResult, bool) {
	opt := ResolveOptions{Paths: []string{c.Path}, Block: c.ID}
	if side > 0 {
		opt.Take = []string{fmt.Sprint(side)}
	}
	if _, err := m.r.Resolve(context.Background(), opt); err != nil {
		if _, said := err.(*Error); !said {
			m.fail("resolve %s of %s: %v", c.Kind, c.Path, err)
		}
		m.say("%s of %s: %v", c.Kind, c.Path, err)
		return nil, false
	}
	res, err := m.r.Commit(context.Background(), CommitOptions{Message: message, Time: at(7000)})
	if err != nil {
		m.fail("record the resolution of %s of %s: %v", c.Kind, c.Path, err)
	}
	return res, true
}

// easySide is a side that can be taken without a further thought.
func easySide(c Conflict) int {
	if c.Kind == "text" {
		return 1
	}
	return 0
}

// A resolution closes what it decides and nothing else, holds under any later change that is apart, and what it closed is open again when
// it is taken away.
func TestResolutionClosesExactlyWhatItDecides(t *testing.T) {
	afterConflicts(t, func(m *mirror, base StateRef, c Conflict) {
		_, before := m.here()
		was, err := m.r.Conflicts(base)
		check(m.t, err)
		res, ok := m.decide(c, easySide(c), "decided")
		if !ok {
			m.fail("%s of %s cannot be decided: %+v", c.Kind, c.Path, c)
		}
		is, err := m.r.Conflicts(res.State)
		check(m.t, err)
		if c.openIn(is, false) {
			m.fail("%s of %s is decided, and open", c.Kind, c.Path)
		}
		for _, o := range was {
			apart := o.File != c.File && o.Place != c.Place && c.Kind != "name" && o.Kind != "name"
			if apart && !o.openIn(is, false) {
				m.fail("%s of %s was decided, and %s of %s is closed", c.Kind, c.Path, o.Kind, o.Path)
			}
		}
		_, decided := m.here()
		m.holds(base, res, c)
		m.fresh(res.State)
		_, err = m.r.Unrecord(context.Background(), []string{res.ID.String()}, UnrecordOptions{})
		check(m.t, err)
		if _, again := m.here(); !again.equal(before) {
			m.fail("%s of %s was decided:\n%q\ntaken away:\n%q\nbefore:\n%q", c.Kind, c.Path, decided, again, before)
		}
	})
}

func (m *mirror) holds(base StateRef, res *CommitResult, c Conflict) {
	m.fresh(base)
	put(m.t, m.w.mem, "apart/from/all", "1\n")
	later, err := m.r.Commit(context.Background(), CommitOptions{Message: "apart", Time: at(8000)})
	check(m.t, err)
	_, err = m.r.Pick(context.Background(), []string{res.ID.String()}, PickOptions{})
	check(m.t, err)
	now, p := m.here()
	cs, err := m.r.Conflicts(now)
	check(m.t, err)
	if c.openIn(cs, false) {
		m.fail("%s of %s was decided, and a later change opens it", c.Kind, c.Path)
	}
	decided := pictureOf(m.t, m.r, res.State)
	if delete(p.Files, "apart/from/all"); !p.equal(decided) {
		m.fail("%s of %s was decided:\n%q\nand beside %v\n%q", c.Kind, c.Path, decided, later.ID, p)
	}
}

// Two people who decide one conflict alike are at one.
func TestEqualResolutionsDoNotConflict(t *testing.T) {
	afterConflicts(t, func(m *mirror, base StateRef, c Conflict) {
		one, ok := m.decide(c, easySide(c), "one")
		if !ok {
			return
		}
		m.fresh(base)
		two, ok := m.decide(c, easySide(c), "two")
		if !ok {
			m.fail("one decided, and the other cannot")
		}
		_, err := m.r.Pick(context.Background(), []string{one.ID.String()}, PickOptions{})
		check(m.t, err)
		now, p := m.here()
		step, err := m.r.newConflicts(two.State, now)
		check(m.t, err)
		if len(step.came) > 0 {
			m.fail("%s of %s was decided twice alike: %+v", c.Kind, c.Path, step.came)
		}
		if alone := pictureOf(m.t, m.r, two.State); !maps.Equal(p.Files, alone.Files) {
			m.fail("%s of %s was decided twice alike:\n%q\nonce:\n%q", c.Kind, c.Path, p.Files, alone.Files)
		}
	})
}

// Two people who decide one conflict differently are in conflict.
func TestDifferentResolutionsConflict(t *testing.T) {
	rivals := map[string]int{}
	afterConflicts(t, func(m *mirror, base StateRef, c Conflict) {
		if c.Kind == "name" {
			return // each keeps another file: who removes which is what they are at odds about
		}
		for a := range c.Sides {
			for b := range a {
				if !differ(c, a, b) {
					continue
				}
				m.fresh(base)
				one, ok := m.decide(c, a+1, "one")
				if !ok {
					continue
				}
				m.fresh(base)
				two, ok := m.decide(c, b+1, "two")
				if !ok {
					continue
				}
				_, err := m.r.Pick(context.Background(), []string{one.ID.String()}, PickOptions{})
				check(m.t, err)
				now, _ := m.here()
				step, err := m.r.newConflicts(two.State, now)
				check(m.t, err)
				if len(step.came) == 0 {
					m.fail("%s of %s was decided for %q and for %q, and nothing is open", c.Kind, c.Path, describe(c.Sides[a]), describe(c.Sides[b]))
				}
				rivals[c.Kind]++
			}
		}
	})
	t.Log(rivals)
}

func describe(s ConflictSide) string { return fmt.Sprint(s.What, s.Path, string(s.Text), s.Dead) }

// differ tells whether two sides are two ways to decide.
func differ(c Conflict, a, b int) bool {
	x, y := c.Sides[a], c.Sides[b]
	if c.Kind == "life" {
		return x.Dead != y.Dead
	}
	return describe(x) != describe(y)
}
