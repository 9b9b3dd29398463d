package bucket

import (
	"context"
	"errors"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/s3"
	"github.com/oxy-vcs/oxy/internal/sync"
)

const (
	// runLength is how many packs of a step make one of the next; mostInRun how many there may be where sizes alternate.
	runLength = 8
	mostInRun = 32
	// longestRun and largestRun bound one merge, which somebody waits for who pushed a line, perhaps over a thin wire.
	longestRun = 64
	largestRun = 16 << 20
	// firstStep and lastStep are below which sizes packs are merged.
	firstStep = 32 << 10
	lastStep  = 2 << 20
	// manyPacks is from how many on larger ones are merged too: a root of them all would be the larger burden.
	manyPacks = 4096
	// fuseBelow is up to which size neighbouring segments become one: more is compressed better, and is what a reader of half of it reads for nothing.
	fuseBelow = 256 << 10
)

// within finds how much of a run is merged at once: at least two.
func (r *Root) within(begin, end int) int {
	from, sum := end, uint64(0)
	for from > begin && end-from < longestRun {
		sum += r.Packs[from-1].Data
		if sum > largestRun && end-from >= 2 {
			break
		}
		from--
	}
	return from
}

func (r *Root) lastStep() uint64 {
	last := uint64(lastStep)
	for n := len(r.Packs); n > manyPacks; n /= 8 {
		last *= 8
	}
	return last
}

// mergeRun finds the packs that are to become one: from and beyond, or false.
func (r *Root) mergeRun() (from, to int, ok bool) {
	below := uint64(0)
	for bound, last := uint64(firstStep), r.lastStep(); bound <= last; bound *= 8 {
		end := len(r.Packs)
		for end > 0 {
			begin := end
			counts := 0
			for begin > 0 && r.Packs[begin-1].Data < bound {
				if begin--; r.Packs[begin].Data >= below {
					counts++
				}
			}
			if counts >= runLength && (below > 0 || counts%runLength == 0) || below > 0 && end-begin >= mostInRun {
				return r.within(begin, end), end, true
			}
			end = min(begin, end-1)
		}
		below = bound
	}
	return 0, 0, false
}

// tidy merges packs as long as there are too many, and sweeps. What fails here is left to the next: the push itself stands.
func (b *Remote) tidy(ctx context.Context) {
	merged := false
	for {
		from, to, ok := b.root.mergeRun()
		if !ok {
			break
		}
		if err := b.merge(ctx, from, to); err != nil {
			return
		}
		merged = true
	}
	if merged {
		_ = b.sweep(ctx)
	}
}

// merge makes one pack of some neighbours, and has it take their place.
func (b *Remote) merge(ctx context.Context, from, to int) error {
	old := slices.Clone(b.root.Packs[from:to])
	w := b.newPack(ctx)
	if err := b.copyPacks(ctx, old, w); err != nil {
		w.close()
		return err
	}
	p, err := w.finish(true)
	if err != nil {
		return err
	}
	at := b.root
	for try := range swaps {
		if at.date.Sub(w.last) > packAge {
			return ErrSlow
		}
		i := slices.IndexFunc(at.Packs, func(o Pack) bool { return o.Key == old[0].Key })
		if i < 0 {
			if slices.ContainsFunc(at.Packs, func(o Pack) bool { return o.Key == p.Key }) {
				b.root = at // it was done, and the answer was lost
				return nil
			}
			return s3.ErrCondition
		}
		if i+len(old) > len(at.Packs) || !slices.EqualFunc(at.Packs[i:i+len(old)], old, func(x, y Pack) bool { return x.Key == y.Key }) {
			return s3.ErrCondition
		}
		next := at.next()
		next.Packs = slices.Replace(next.Packs, i, i+len(old), p)
		now, err := b.swap(ctx, at, next)
		if err == nil {
			b.root = now
			return nil
		}
		if !errors.Is(err, s3.ErrCondition) {
			return err
		}
		if err := b.yield(ctx, try); err != nil {
			return err
		}
		if at, err = b.readRoot(ctx); err != nil {
			return err
		}
	}
	return ErrBusy
}

// copyPacks writes the segments of packs one after the other, small neighbours fused.
func (b *Remote) copyPacks(ctx context.Context, old []Pack, w *packWriter) error {
	var extents []extent
	var segments []Segment
	for i := range old {
		t, err := b.tables.read(ctx, &old[i])
		if err != nil {
			return err
		}
		at := uint64(0)
		for j := range t {
			extents = append(extents, extent{old[i].Key, at, t[j].Bytes})
			segments = append(segments, t[j])
			at += t[j].Bytes
		}
	}
	a := b.ahead(ctx, b.pieces(extents))
	defer a.close()
	for i := 0; i < len(segments); {
		n := fused(segments[i:])
		var err error
		if n == 1 {
			err = w.copySegment(a, segments[i])
		} else {
			err = w.fuse(a, segments[i:i+n])
		}
		if err != nil {
			return err
		}
		i += n
	}
	return nil
}

// fused is how many of the segments become one.
func fused(segments []Segment) int {
	n, sum := 0, uint64(0)
	for n < len(segments) && segments[n].Bytes < fuseBelow && sum < fuseBelow {
		sum += segments[n].Bytes
		n++
	}
	return max(n, 1)
}

// fuse makes one stream of several.
func (w *packWriter) fuse(a *ahead, segments []Segment) error {
	var moves []Move
	for i := range segments {
		moves = append(moves, segments[i].Moves...)
	}
	sent := map[change.ID]struct{}{}
	skip := func(id change.ID) bool {
		_, before := sent[id]
		sent[id] = struct{}{}
		return before
	}
	return w.segment(moves, func(out *sync.Writer) error {
		for i := range segments {
			err := oneStream(limited(a, segments[i].Bytes), func(in *sync.Reader) error { return in.Pass(out, skip, out.Update) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}
