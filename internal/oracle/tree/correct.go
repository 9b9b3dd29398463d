package tree

import (
	"slices"
	"strings"
)

// correct adds what is missing: a place for each file that would not be shown where it shall be, or that stands aside and
// would newly meet another; and whoever stays when a meeting of names ends is confirmed where he stays, so that another
// way of ending it conflicts with this one. It reports whether it added anything.
func (d *draft) correct() bool {
	after := d.w.Look(d.v.Set.With(d.Num))
	again := false
	for _, k := range after.conflicts {
		if k.Kind != "name" || d.v.has(k.Key()) || d.w.loose.noAside {
			continue
		}
		for _, x := range k.Files {
			if after.File(x).True != d.want[x] {
				again = d.set(x, d.want[x]) || again
			}
		}
	}
	for x, q := range d.want {
		if f := after.File(x); f == nil || f.Hidden || f.Path != q {
			again = d.set(x, q) || again
		}
	}
	return again || !d.w.loose.noConfirm && d.confirm(after)
}

// confirm places whoever stays of a meeting that ends.
func (d *draft) confirm(after *View) bool {
	n := len(d.Ops)
	for _, k := range d.v.conflicts {
		if k.Kind != "name" || after.has(k.Key()) {
			continue
		}
		for _, f := range d.v.Files {
			if g := after.File(f.File); g != nil && d.party(k, f) {
				d.put(Op{File: f.File, Reg: Place, Path: g.True})
			}
		}
	}
	return len(d.Ops) > n
}

// party reports whether a file is in a meeting of names: as one that meets, as a twin hidden by one, or in the directory that
// keeps its name.
func (d *draft) party(k Conflict, f *Shown) bool {
	for _, x := range k.Files {
		met := d.v.File(x)
		if x == f.File || slices.Contains(met.Twins, f) || k.Dir && strings.HasPrefix(f.True, met.True+"/") {
			return true
		}
	}
	return false
}

// set places a file, without its hidden twins, at a path, whatever place the draft gave it so far.
func (d *draft) set(x File, q string) bool {
	if f := d.v.File(x); f != nil {
		d.dropTwins(f)
	}
	for i := range d.Ops {
		if o := &d.Ops[i]; o.File == x && o.Reg == Place {
			was := o.Path
			o.Path = q
			return was != q
		}
	}
	d.put(Op{File: x, Reg: Place, Path: q})
	return true
}
