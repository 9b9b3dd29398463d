package bucket

import (
	"cmp"
	"context"
	"slices"
)

// packTable is a table, and where in it each move is.
type packTable struct {
	key   Key
	table Table
	from  []uint64        // where each segment begins
	at    map[made][2]int // segment and move
}

func newPackTable(key Key, t Table) *packTable {
	p := &packTable{key: key, table: t, at: map[made][2]int{}}
	at := uint64(0)
	for i := range t {
		p.from = append(p.from, at)
		at += t[i].Bytes
		for j, m := range t[i].Moves {
			p.at[made{m.Generation, m.State}] = [2]int{i, j}
		}
	}
	return p
}

// walked is what chains lead through.
type walked struct {
	segments map[segmentAt]struct{}
	seen     map[made]struct{}
}

type segmentAt struct {
	from uint64 // generation of the pack
	n    int
}

func newWalked() *walked { return &walked{map[segmentAt]struct{}{}, map[made]struct{}{}} }

// walk follows a name's chain from a move to a state that there is no need to tell, and notes the segments on its way. stop gives whether a state is
// one; the chain ends there, or at nothing.
func (b *Remote) walk(ctx context.Context, r *Root, from made, w *walked, stop func([32]byte) bool) error {
	for at := from; at.generation != 0 && !stop(at.state); {
		if _, ok := w.seen[at]; ok {
			return nil
		}
		w.seen[at] = struct{}{}
		p, ok := r.pack(at.generation)
		if !ok {
			return malformed("no pack has the move that made %x in generation %d", at.state[:6], at.generation)
		}
		t, err := b.table(ctx, p)
		if err != nil {
			return err
		}
		where, ok := t.at[at]
		if !ok {
			return malformed("pack %s has no move that made %x", p.Key, at.state[:6])
		}
		w.segments[segmentAt{p.From, where[0]}] = struct{}{}
		m := &t.table[where[0]].Moves[where[1]]
		at = made{m.BaseGeneration, m.Base} // of a lesser generation: it comes to an end
	}
	return nil
}

// extents gives where the segments that were walked through lie, in their order.
func (b *Remote) extents(ctx context.Context, r *Root, w *walked) ([]extent, error) {
	all := make([]segmentAt, 0, len(w.segments))
	for s := range w.segments {
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y segmentAt) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.n, y.n)) })
	out := make([]extent, 0, len(all))
	for _, s := range all {
		p, _ := r.pack(s.from)
		t, err := b.table(ctx, p)
		if err != nil {
			return nil, err
		}
		out = append(out, extent{p.Key, t.from[s.n], t.table[s.n].Bytes})
	}
	return out, nil
}
