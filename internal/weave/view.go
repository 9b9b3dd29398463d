package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// View is a file as a person sees it: stretches of text, and a block where conflicts are open. It is a picture of the
// weave as it was.
type View struct {
	Items []Item

	w       *Weave // a copy, its runs cut where sides may differ
	h       History
	l       *looking
	live    []bool // of each source
	shown   []bool // of each run
	regions []*region
}

// Item is a stretch that shows, or a block.
type Item struct {
	change.Stretch
	Block *Block
}

// Block is a region of open conflicts as it is shown.
type Block struct {
	Name  HunkID // the same whatever else is open: its least hunk by hash
	Pairs []Pair
	Sides []Side
	Base  []change.Stretch

	region *region
}

// Side is what one party of a conflict shows. By is the changes that it is named by, by their hashes: none when it
// shows all that the others would hide.
type Side struct {
	By   []uint32
	Show []change.Stretch
}

// View shows the file.
func (w *Weave) View(h History) (*View, error) {
	v := &View{w: w.Clone(), h: h}
	var err error
	var hunks map[HunkID]located
	if hunks, err = v.cutAtHulls(); err != nil {
		return nil, err
	}
	v.live = v.l.live(nil)
	v.shown = v.l.shown(v.live)
	v.findRegions(hunks)
	for _, r := range v.regions {
		if err := r.divide(); err != nil {
			return nil, err
		}
		r.bound()
	}
	v.items()
	return v, nil
}

// cutAtHulls cuts the runs where hunks with open conflicts end, and finds these hunks.
func (v *View) cutAtHulls() (map[HunkID]located, error) {
	open := map[uint32]bool{}
	for _, p := range v.w.open {
		open[p[0].Change], open[p[1].Change] = true, true
	}
	of := func(i int) bool { return open[v.w.Sources[i].Change] }
	var ends []change.Pos
	for i := range v.w.Sources {
		if !of(i) {
			continue
		}
		err := v.w.eachHunk(i, func(h hunk) { ends = append(ends, h.parts[0].L, h.parts[0].R) })
		if err != nil {
			return nil, err
		}
	}
	v.w.cut(ends)
	var err error
	if v.l, err = v.w.looking(); err != nil {
		return nil, err
	}
	found, err := v.l.places.locate(of)
	if err != nil {
		return nil, err
	}
	return byID(found, v.w.open)
}

// byID gives the hunks that pairs name.
func byID(hunks []located, pairs []Pair) (map[HunkID]located, error) {
	out := map[HunkID]located{}
	for _, h := range hunks {
		out[h.id()] = h
	}
	for _, p := range pairs {
		for _, id := range p {
			if _, ok := out[id]; !ok {
				return nil, ErrDamaged
			}
		}
	}
	return out, nil
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
		if !v.shown[i] {
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
	b := &Block{Name: r.name(), Pairs: slices.Clone(r.pairs), Base: r.stretches(r.base), region: r}
	slices.SortFunc(b.Pairs, comparePairs)
	for _, s := range r.sides {
		b.Sides = append(b.Sides, Side{s.by, r.stretches(s.shown)})
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
