package weave

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// EditsBetween tells how what one weave of a file shows becomes what another shows, by the lines themselves: of equal lines it
// never takes one for another. What both show stands in both in one order.
func EditsBetween(a, b *Weave) (edits []Edit) {
	was, is := a.showing(), b.showing()
	pa, pb := within(was, is), within(is, was)
	var e Edit
	flush := func() {
		if e.A1 > e.A0 || e.B1 > e.B0 {
			edits = append(edits, e)
		}
		e.A0, e.B0 = e.A1, e.B1
	}
	for len(pa) > 0 || len(pb) > 0 {
		switch {
		case len(pa) > 0 && !pa[0].both:
			e.A1 += int(pa[0].Len)
			pa = pa[1:]
		case len(pb) > 0 && !pb[0].both:
			e.B1 += int(pb[0].Len)
			pb = pb[1:]
		case len(pa) == 0 || len(pb) == 0: // they are no weaves of one file
			return edits
		default:
			flush()
			n := min(pa[0].Len, pb[0].Len)
			e.A1, e.B1 = e.A1+int(n), e.B1+int(n)
			e.A0, e.B0 = e.A1, e.B1
			if pa[0].Len -= n; pa[0].Len == 0 {
				pa = pa[1:]
			}
			if pb[0].Len -= n; pb[0].Len == 0 {
				pb = pb[1:]
			}
		}
	}
	flush()
	return edits
}

// showing lists the stretches that show.
func (w *Weave) showing() (out []change.Stretch) {
	for i := range w.Runs {
		if r := &w.Runs[i]; r.Shown() {
			out = appendStretch(out, change.Stretch{Change: r.Change, Off: r.Off, Len: r.Len})
		}
	}
	return out
}

// shared is a stretch, and whether another list has it too.
type shared struct {
	change.Stretch
	both bool
}

// within cuts stretches where another list has them and where it has not.
func within(of, other []change.Stretch) (out []shared) {
	sorted := slices.SortedFunc(slices.Values(other), func(a, b change.Stretch) int {
		return cmp.Or(cmp.Compare(a.Change, b.Change), cmp.Compare(a.Off, b.Off))
	})
	for _, s := range of {
		i, _ := slices.BinarySearchFunc(sorted, s, func(o, s change.Stretch) int { // the first that ends behind its beginning
			if c := cmp.Compare(o.Change, s.Change); c != 0 {
				return c
			}
			if o.Off+o.Len <= s.Off {
				return -1
			}
			return 1
		})
		for ; s.Len > 0; i++ {
			if i == len(sorted) || sorted[i].Change != s.Change || sorted[i].Off >= s.Off+s.Len {
				out = append(out, shared{s, false})
				break
			}
			o := sorted[i]
			if o.Off > s.Off {
				out = append(out, shared{change.Stretch{Change: s.Change, Off: s.Off, Len: o.Off - s.Off}, false})
				s.Len -= o.Off - s.Off
				s.Off = o.Off
			}
			n := min(s.Len, o.Off+o.Len-s.Off)
			out = append(out, shared{change.Stretch{Change: s.Change, Off: s.Off, Len: n}, true})
			s.Off, s.Len = s.Off+n, s.Len-n
		}
	}
	return out
}
