package weave

import (
	"github.com/oxy-vcs/oxy/internal/change"
)

// View is a file as a person sees it: stretches of text, and a block where conflicts are open and their sides differ. It is
// a picture of the weave as it was. Where all sides say the same, as of a line edited away by one and deleted by the other,
// pairs are open (Weave.Open) and no block is shown.
type View struct {
	Items []Item

	w       *Weave // a copy, its runs cut where sides may differ
	h       History
	l       *looking
	live    counting
	regions []*region
	// What parties need of all sources, made once: room, and which undo.
	at       []int32
	out      []bool
	undoings []int
}

// Item is a stretch that shows, or a block.
type Item struct {
	change.Stretch
	Block *Block
}

// Block is a region of open conflicts as it is shown.
type Block struct {
	Name  HunkID           // the same whatever else is open: its least hunk by hash
	Pairs []Pair           // in order
	Sides []Side           // two or more, save that all together may be the only one
	Base  []change.Stretch // what the file would show in the block had none of the sides' changes been made

	region *region
}

// Side is what one party of a conflict shows.
type Side struct {
	// By is the changes that the side is named by, by their hashes: those of its conflicts that no other of these builds on. None
	// when it shows all together, which the others would hide.
	By []uint32
	// Changes is all that act here for the side: first those of By, then those of conflicts that a later one builds on, then the
	// others; each by hash. A change that opposes none may be on several sides.
	Changes []uint32
	Show    []change.Stretch // what the side shows in the block
}

// Blocks lists the blocks in the order of the file.
func (v *View) Blocks() (out []*Block) {
	for _, it := range v.Items {
		if it.Block != nil {
			out = append(out, it.Block)
		}
	}
	return out
}

// View shows the file. It costs in proportion to the runs, and to the pairs of changes of each region.
func (w *Weave) View(h History) (*View, error) {
	v := &View{w: w.Clone(), h: h}
	var err error
	if err = v.cutAtHulls(); err != nil {
		return nil, err
	}
	v.live = v.l.without(nil)
	if err := v.chainOpen(); err != nil {
		return nil, err
	}
	if len(v.regions) > 0 {
		if err := v.findActs(); err != nil {
			return nil, err
		}
	}
	for _, r := range v.regions {
		r.divide()
		r.bound()
	}
	v.items()
	return v, nil
}

// cutAtHulls cuts the runs where hunks with open conflicts end.
func (v *View) cutAtHulls() (err error) {
	open := map[uint32]bool{}
	for _, p := range v.w.open {
		open[p[0].Change], open[p[1].Change] = true, true
	}
	var ends []change.Pos
	for i := range v.w.Sources {
		if !open[v.w.Sources[i].Change] {
			continue
		}
		if err := v.w.eachHunk(i, func(h hunk) { ends = append(ends, h.parts[0].L, h.parts[0].R) }); err != nil {
			return err
		}
	}
	v.w.cut(ends)
	v.l, err = v.w.looking()
	return err
}

func (v *View) items() {
	blocks := map[int]*region{}
	for _, r := range v.regions {
		if r.first <= r.last {
			blocks[r.first] = r
		}
	}
	for i := 0; i < len(v.w.Runs); i++ {
		run := &v.w.Runs[i]
		if r := blocks[i]; r != nil {
			v.Items = append(v.Items, Item{Block: r.block()})
			i = r.last
			continue
		}
		if !v.w.Runs[i].Shown() {
			continue
		}
		s := change.Stretch{Change: run.Change, Off: run.Off, Len: run.Len}
		if n := len(v.Items); n > 0 && v.Items[n-1].Block == nil && v.Items[n-1].Change == s.Change && v.Items[n-1].Off+v.Items[n-1].Len == s.Off {
			v.Items[n-1].Len += s.Len
			continue
		}
		v.Items = append(v.Items, Item{Stretch: s})
	}
}

func (r *region) block() *Block {
	b := &Block{Name: r.name(), Pairs: r.pairs, Base: r.stretches(r.base), region: r}
	for _, s := range r.sides {
		b.Sides = append(b.Sides, Side{s.by, s.changes, r.stretches(s.shown)})
	}
	return b
}

func (v *View) byHash(a, b uint32) int {
	switch {
	case a == b:
		return 0
	case v.h.Less(a, b):
		return -1
	}
	return 1
}
