package tree

import (
	"errors"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Moves are the renames that a person names, all at once: old path to new. A directory's move is the moves of its files.
type Moves map[string]string

// draft is a change in the making.
type draft struct {
	*Change
	w    *World
	v    *View
	want map[File]string // where each file shall be shown
}

// Record makes the change that turns what a set shows into want; nil if nothing differs. The conflicts in settle are
// decided as want has them; those in texts are by editing their blocks away. It refuses a text with half a block.
func (w *World) Record(s Set, want map[string]Entry, moves Moves, settle []Conflict) (*Change, error) {
	d := &draft{w.begin(None), w, w.Look(s), map[File]string{}}
	err := d.write(want, moves, settle)
	if err != nil || len(d.Ops)+len(d.Edits) == 0 {
		w.Forget(d.Num)
		return nil, err
	}
	return d.Change, nil
}

func (d *draft) write(want map[string]Entry, moves Moves, settle []Conflict) error {
	if err := d.matchFiles(want, moves); err != nil {
		return err
	}
	for _, k := range settle {
		d.settle(k, want)
	}
	for range 20 {
		d.finish()
		if !d.correct() {
			return nil
		}
	}
	return errors.New("a record does not converge")
}

// has reports whether the draft has an act on a file in one of the registers.
func (d *draft) has(x File, regs ...Reg) bool {
	return slices.ContainsFunc(d.w.Acts(d.Num), func(a Act) bool { return a.File == x && slices.Contains(regs, a.Reg) })
}

// put adds an op, naming the values that it replaces.
func (d *draft) put(o Op) {
	if d.has(o.File, o.Reg) {
		return
	}
	if o.Reg != Keep { // which is said by any act
		d.Ops = slices.DeleteFunc(d.Ops, func(p Op) bool { return p.File == o.File && p.Reg == Keep })
	}
	for _, r := range registers {
		if d.v.acts[o.File] != nil && (o.Reg == r || o.Reg == Gone) {
			for _, v := range d.v.Values(o.File, r) {
				if v.Reg != Edit {
					o.Over = append(o.Over, v)
				}
			}
		}
	}
	d.Ops = append(d.Ops, o)
}

// matchFiles finds for each shown file its path in want, and from that what is done to it; what is left over in want is added.
func (d *draft) matchFiles(want map[string]Entry, moves Moves) error {
	taken := map[string]bool{}
	claim := func(f *Shown, q string) {
		if _, ok := want[q]; ok && !taken[q] {
			taken[q] = true
			d.want[f.File] = q
		}
	}
	shown := slices.Sorted(maps.Keys(d.v.byPath))
	for _, p := range shown {
		if q, ok := moves[p]; ok {
			claim(d.v.byPath[p], q)
		}
	}
	for _, p := range shown {
		f := d.v.byPath[p]
		if _, ok := moves[p]; !ok {
			claim(f, p)
		}
		q, ok := d.want[f.File]
		if !ok {
			d.put(Op{File: f.File, Reg: Gone})
		} else {
			if q != p {
				d.put(Op{File: f.File, Reg: Place, Path: q})
			}
			if err := d.entry(f, want[q]); err != nil {
				return err
			}
		}
		if d.has(f.File, Place, Mode, Body, Edit, Gone) {
			d.dropTwins(f)
		}
	}
	x := File{Change: d.Num}
	for _, q := range slices.Sorted(maps.Keys(want)) {
		if !taken[q] {
			e := want[q]
			d.want[x] = q
			d.put(Op{File: x, Reg: Place, Path: q})
			d.put(Op{File: x, Reg: Mode, Exec: e.Exec})
			d.put(Op{File: x, Reg: Body, Kind: e.Kind, Content: e.Content})
			if e.Kind != change.Text {
				e.Content = ""
			}
			d.w.plant(x, e.Content)
			x.Ord++
		}
	}
	return nil
}

// entry makes a file what want has: another kind or value is a body; what a text becomes hunks say, from what the file's weave shows.
func (d *draft) entry(f *Shown, e Entry) error {
	was := f.Entry()
	if e.Kind != was.Kind || e.Kind != change.Text && e.Content != was.Content {
		d.body(f, e)
	}
	if e.Kind == change.Text && (was.Kind != change.Text || e.Content != was.Content) {
		if err := d.edit(f, e.Content); err != nil {
			return err
		}
	}
	if e.Kind != change.Link && e.Exec != f.exec() {
		d.put(Op{File: f.File, Reg: Mode, Exec: e.Exec})
	}
	return nil
}

// body writes what a file is.
func (d *draft) body(f *Shown, e Entry) {
	o := Op{File: f.File, Reg: Body, Kind: e.Kind}
	if e.Kind != change.Text {
		o.Content = e.Content
	}
	d.put(o)
}

func (d *draft) edit(f *Shown, page string) error {
	t := d.w.texts[f.File]
	c := t.Changes[d.Num]
	if err := t.Write(f.woven(), c, d.w.read(f.File, f.woven(), page)); err != nil {
		return err
	}
	if len(c.Hunks) > 0 {
		d.Edits = append(d.Edits, TextEdit{f.File, c.Hunks})
	}
	return nil
}

// settle decides a conflict as it is shown, or as the draft already has it.
func (d *draft) settle(k Conflict, want map[string]Entry) {
	for _, x := range k.Files {
		f, gone := d.v.File(x), d.has(x, Gone)
		switch {
		case k.Kind == "place" && !gone:
			d.put(Op{File: x, Reg: Place, Path: f.True})
		case k.Kind == "mode" && !gone:
			d.put(Op{File: x, Reg: Mode, Exec: f.exec()})
		case k.Kind == "body" && !gone:
			d.settleBody(f, want)
		case k.Kind == "life" && !d.has(x, Place, Mode, Body, Edit, Gone):
			d.put(Op{File: x, Reg: Keep})
		case k.Kind == "name" && !gone: // the name it is shown under becomes its name
			if q, ok := d.want[x]; ok {
				d.put(Op{File: x, Reg: Place, Path: q})
				d.dropTwins(f)
			}
		}
	}
}

// settleBody writes what the file shall be, for an edit settles nothing.
func (d *draft) settleBody(f *Shown, want map[string]Entry) {
	e := f.Entry()
	if q, ok := d.want[f.File]; ok {
		e = want[q]
	}
	d.body(f, e)
}

// unedit takes back what the draft did to a file's text.
func (d *draft) unedit(x File) {
	d.Edits = slices.DeleteFunc(d.Edits, func(e TextEdit) bool {
		if e.File == x {
			d.w.texts[x].Changes[d.Num].Forget()
		}
		return e.File == x
	})
}

func (d *draft) dropTwins(f *Shown) {
	for _, t := range f.Twins {
		d.drop(t.File)
	}
}

// drop removes a file, whatever the draft did to it so far.
func (d *draft) drop(x File) {
	if d.has(x, Gone) {
		return
	}
	d.Ops = slices.DeleteFunc(d.Ops, func(o Op) bool { return o.File == x })
	d.unedit(x)
	d.put(Op{File: x, Reg: Gone})
}

// Rollback records that p is undone, by name.
func (w *World) Rollback(s Set, p uint32) *Change {
	d := &draft{w.begin(p), w, w.Look(s), nil}
	of, _ := w.origin(p)
	for _, x := range w.Texts(s) {
		t := w.texts[x]
		if len(t.Changes[of].Hunks) == 0 {
			continue
		}
		c := t.Changes[d.Num]
		if t.Undo(t.Render(s), c); len(c.Hunks) > 0 {
			d.Edits = append(d.Edits, TextEdit{x, c.Hunks})
		}
	}
	d.finish()
	return d.Change
}
