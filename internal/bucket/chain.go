package bucket

import (
	"container/heap"
	"context"
	"slices"
)

// made is a move, seen as what it made.
type made struct {
	generation uint64
	state      [32]byte
}

// walk follows chains from moves to states that there is no need to tell, or to nothing, and gives where the segments on their ways lie, in their order. A base is
// older than what is told by it: one pass from the newest pack to the oldest meets them all, with one table in memory at a time.
func (b *Remote) walk(ctx context.Context, r *Root, from []made, stop func([32]byte) bool, tables tableReader) ([]extent, error) {
	var front newest
	add := func(m made) {
		if m.generation != 0 && !stop(m.state) {
			heap.Push(&front, m)
		}
	}
	for _, m := range from {
		add(m)
	}
	var out []extent // from the last to the first
	for len(front) > 0 {
		p, ok := r.pack(front[0].generation)
		if !ok {
			return nil, malformed("no pack has the move that made %x in generation %d", front[0].state[:6], front[0].generation)
		}
		want := map[made]struct{}{}
		for len(front) > 0 && front[0].generation >= p.From {
			want[heap.Pop(&front).(made)] = struct{}{}
		}
		t, err := tables.read(ctx, p)
		if err != nil {
			return nil, err
		}
		at := p.Data
		for i := range slices.Backward(t) {
			at -= t[i].Bytes
			on := false
			for j := range slices.Backward(t[i].Moves) {
				m := &t[i].Moves[j]
				this := made{m.Generation, m.State}
				if _, ok := want[this]; !ok {
					continue
				}
				delete(want, this)
				on = true
				if base := (made{m.BaseGeneration, m.Base}); base.generation < p.From {
					add(base)
				} else if !stop(base.state) {
					want[base] = struct{}{}
				}
			}
			if on {
				out = append(out, extent{p.Key, at, t[i].Bytes})
			}
		}
		for m := range want {
			return nil, malformed("pack %s has no move that made %x", p.Key, m.state[:6])
		}
	}
	slices.Reverse(out)
	return out, nil
}

// newest is a heap of moves, the newest first.
type newest []made

func (h newest) Len() int           { return len(h) }
func (h newest) Less(i, j int) bool { return h[i].generation > h[j].generation }
func (h newest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *newest) Push(m any)        { *h = append(*h, m.(made)) }
func (h *newest) Pop() any {
	last := len(*h) - 1
	m := (*h)[last]
	*h = (*h)[:last]
	return m
}
