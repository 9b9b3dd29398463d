package state

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// divided finds the values that stand unlike the one that is shown, where no pair names them.
func (j *judge) divided(v *Verdict) (out []Pair) {
	for _, r := range [...]struct {
		reg    register
		kind   Disputed
		values []*Deed
	}{{regPlace, DisputedPlace, v.Place}, {regMode, DisputedMode, v.Mode}, {regBody, DisputedBody, v.Body}} {
		if len(r.values) < 2 {
			continue
		}
		said := []act{j.value(r.values[0], r.reg)}
		for _, p := range v.Pairs {
			if p.Kinds&r.kind != 0 {
				said = append(said, j.value(j.deed(p.A), r.reg), j.value(j.deed(p.B), r.reg))
			}
		}
		for _, d := range r.values[1:] {
			a := j.value(d, r.reg)
			if !slices.ContainsFunc(said, func(b act) bool { return sameValue(a, b) }) {
				said = append(said, a)
				out = append(out, Pair{r.values[0].Change, d.Change, r.kind})
			}
		}
	}
	return out
}

func (j *judge) deed(c uint32) *Deed {
	return &j.deeds[slices.IndexFunc(j.deeds, func(d Deed) bool { return d.Change == c })]
}

// value is what a deed does to a register, or did that it takes back.
func (j *judge) value(d *Deed, reg register) act {
	if reg == regBody && d.Did.Writes&change.WritesBody == 0 {
		reg = regEdit
	}
	return act{Deed: d, reg: reg}
}
