package weave

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// twins is one stretch of text as several changes inserted it, each with a hunk that does the same as the others': where
// it begins in each, by the changes' hashes. The first that counts shows, the others are hidden.
type twins struct {
	at  []change.Pos
	len uint32
}

// index tells which of the twins holds a byte; -1 for none.
func (t twins) index(c, off uint32) int {
	return slices.IndexFunc(t.at, func(p change.Pos) bool { return p.Change == c && p.Off <= off && off-p.Off < t.len })
}

func (w *Weave) hasTwins(s change.Stretch) bool {
	return slices.ContainsFunc(w.twins, func(t twins) bool { return t.index(s.Change, s.Off) >= 0 })
}

// killsTwins reports whether hunks delete something of twins: another of these may have to show then.
func (w *Weave) killsTwins(hunks []change.Hunk) bool {
	for i := range hunks {
		for _, s := range hunks[i].Del {
			for _, t := range w.twins {
				for _, p := range t.at {
					if p.Change == s.Change && s.Off < p.Off+t.len && p.Off < s.Off+s.Len {
						return true
					}
				}
			}
		}
	}
	return false
}

// deleteTwins takes the twins of what a hunk deletes into its deletions, those too that do not count just now: else one
// would show instead. It gives deps with the twins' owners.
func (w *Weave) deleteTwins(h *change.Hunk, deps []uint32) []uint32 {
	var more []change.Stretch
	for _, s := range h.Del {
		for _, t := range w.twins {
			for _, m := range t.at {
				from, to := max(s.Off, m.Off), min(s.Off+s.Len, m.Off+t.len)
				if m.Change != s.Change || from >= to {
					continue
				}
				for _, o := range t.at {
					if o != m {
						more = append(more, change.Stretch{Change: o.Change, Off: o.Off + from - m.Off, Len: to - from})
						deps = append(deps, o.Change)
					}
				}
			}
		}
	}
	if len(more) > 0 {
		h.Del = w.inOrder(append(h.Del, more...))
	}
	return deps
}

// inOrder gives stretches in the order of the weave, each maximal.
func (w *Weave) inOrder(of []change.Stretch) (out []change.Stretch) {
	p := w.places()
	type part struct {
		run int
		s   change.Stretch
	}
	var parts []part
	for _, s := range of {
		p.each(s, func(i int) {
			r := &w.Runs[i]
			from, to := max(s.Off, r.Off), min(s.Off+s.Len, r.Off+r.Len)
			parts = append(parts, part{i, change.Stretch{Change: s.Change, Off: from, Len: to - from}})
		})
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.s.Off, b.s.Off)) })
	for i, n := range parts {
		if i > 0 && n == parts[i-1] {
			continue
		}
		out = appendStretch(out, n.s)
	}
	return out
}

// twins unites the two sides' twins and finds those that a hunk of one has among the other's.
func (m *merger) twins() error {
	u := uniter{of: map[change.Pos]int{}}
	for _, w := range [2]*Weave{m.a.w, m.b.w} {
		for _, t := range w.twins {
			u.add(t)
		}
	}
	if err := m.newTwins(&u); err != nil {
		return err
	}
	m.out.twins = u.sorted(m.h)
	m.out.odd = m.out.odd || len(m.out.twins) > 0
	return nil
}

// newTwins compares the hunks that only a has with those that only b has: no change of the one depends on one of the other.
func (m *merger) newTwins(u *uniter) error {
	forms := map[formKey][]hunk{}
	err := m.a.eachOwn(func(h hunk) error {
		if h.inserts() {
			f := h.formKey()
			forms[f] = append(forms[f], h)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.b.eachOwn(func(h hunk) error {
		if !h.inserts() {
			return nil
		}
		for _, g := range forms[h.formKey()] {
			if !sameForm(&g, &h) {
				continue
			}
			found, err := twinsOf(&g, &h, m.h)
			if err != nil {
				return err
			}
			for _, t := range found {
				u.add(t)
			}
		}
		return nil
	})
}

// eachOwn calls f with every hunk of the changes that only this weave has.
func (c *cursor) eachOwn(f func(h hunk) error) (err error) {
	for i := range c.w.Sources {
		if !c.only[c.w.Sources[i].Change] {
			continue
		}
		damaged := c.w.eachHunk(i, func(h hunk) {
			if err == nil {
				err = f(h)
			}
		})
		if damaged != nil {
			return damaged
		}
	}
	return err
}

// twinsOf gives the stretches of two hunks of one form if they hold the same bytes.
func twinsOf(g, h *hunk, history History) (out []twins, err error) {
	at, bt := change.Stretch{Change: g.change, Off: g.off}, change.Stretch{Change: h.change, Off: h.off}
	for i := range g.parts {
		n := g.parts[i].InsLen
		if n == 0 {
			continue
		}
		at.Len, bt.Len = n, n
		same, err := history.SameText(at, bt)
		if err != nil || !same {
			return nil, err
		}
		out = append(out, twins{[]change.Pos{{Change: at.Change, Off: at.Off}, {Change: bt.Change, Off: bt.Off}}, n})
		at.Off, bt.Off = at.Off+n, bt.Off+n
	}
	return out, nil
}

// uniter makes one of twins that share a member.
type uniter struct {
	all []twins
	of  map[change.Pos]int
}

func (u *uniter) add(t twins) {
	into := len(u.all)
	u.all = append(u.all, twins{len: t.len})
	for _, p := range t.at {
		k, known := u.of[p]
		if !known {
			u.of[p] = into
			u.all[into].at = append(u.all[into].at, p)
			continue
		}
		if k == into {
			continue
		}
		for _, q := range u.all[k].at {
			u.of[q] = into
		}
		u.all[into].at = append(u.all[into].at, u.all[k].at...)
		u.all[k].at = nil
	}
}

func (u *uniter) sorted(h History) (out []twins) {
	for _, t := range u.all {
		if len(t.at) == 0 {
			continue
		}
		slices.SortFunc(t.at, func(a, b change.Pos) int {
			if h.Less(a.Change, b.Change) {
				return -1
			}
			return 1
		})
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b twins) int { return comparePos(a.at[0], b.at[0]) })
	return out
}
