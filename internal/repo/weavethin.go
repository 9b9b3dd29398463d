package repo

import (
	"cmp"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// thinCandidates is how many weaves are tried as what an earlier snapshot adds to.
const thinCandidates = 4

// thin puts records in place of the snapshots that stretches begin with, where these make the same of the file as it was added, or of
// the weave of another stretch, and where a reader then still meets no more of them than in any other chain. The latest weave
// has a snapshot unless a few records do.
func (w *weavePacking) thin(latest *weaveStretch) error {
	var snaps []*weaveStretch
	var ends []*weaveStretch // those whose weave is known, with fewer sources before those with more
	for _, s := range w.of {
		if s.beginsWithSnapshot() {
			snaps = append(snaps, s)
		}
		ends = append(ends, s)
	}
	if len(snaps) == 0 {
		return nil
	}
	for _, s := range ends {
		if err := s.weave(); err != nil {
			return err
		}
	}
	at := make(map[*weaveStretch]*weave.Weave, len(snaps)) // what a snapshot holds
	for _, s := range snaps {
		l, err := build(nil, s.blocks[len(s.blocks)-1:], newUnzip)
		if err != nil {
			return err
		}
		at[s] = l.w
	}
	slices.SortFunc(snaps, func(a, b *weaveStretch) int {
		return cmp.Or(cmp.Compare(len(at[a].Sources), len(at[b].Sources)), cmp.Compare(a.head, b.head))
	})
	slices.SortFunc(ends, func(a, b *weaveStretch) int {
		return cmp.Or(cmp.Compare(len(a.w.Sources), len(b.w.Sources)), cmp.Compare(a.head, b.head))
	})
	for _, s := range snaps {
		snap := at[s]
		n, _ := slices.BinarySearchFunc(ends, len(snap.Sources), func(e *weaveStretch, n int) int { return cmp.Compare(len(e.w.Sources), n) })
		candidates := append([]*weaveStretch{nil}, ends[max(0, n-thinCandidates):n]...)
		most := chainMax
		if s == latest {
			candidates, most = candidates[:1], chainMin
		}
		for _, e := range slices.Backward(candidates) {
			// It has fewer sources, and so has whatever it adds to: no chain leads back to itself.
			from := weave.New(snap.Sources[0])
			if e != nil {
				from = e.w
			}
			records, err := recordsBetween(from, snap, e == nil)
			if err != nil {
				return err
			}
			if records == nil || e.depth()+len(records)+len(s.blocks) > most {
				continue
			}
			text, err := textBlock(s.blocks[len(s.blocks)-1])
			if err != nil {
				return err
			}
			if text != nil {
				records = append([][]byte{text}, records...)
			}
			s.below = e
			s.blocks = append(s.blocks[:len(s.blocks)-1:len(s.blocks)-1], records...)
			break
		}
	}
	return nil
}

// textApart is how many records lie between two texts of a chain: who reads a weave gathers from changes what these brought.
const textApart = 64

// fewerTexts drops texts that lie close behind another: where trees are kept often, they would weigh more than all else.
func (s *weaveStretch) fewerTexts() {
	var chain []*weaveStretch
	for t := s; t != nil && !t.spaced; t = t.below {
		chain = append(chain, t)
	}
	for _, t := range slices.Backward(chain) {
		ago := textApart // where a chain begins with records nothing lies behind
		if t.below != nil {
			ago = t.below.textAgo
		}
		var kept [][]byte
		for i, b := range slices.Backward(t.blocks) {
			switch {
			case isSnapshot(b) || t.fresh && i == 0:
				ago = 0
			case b[0] != blockShown:
				ago++
			case ago < textApart:
				continue
			default:
				ago = 0
			}
			kept = append(kept, b)
		}
		slices.Reverse(kept)
		t.blocks, t.textAgo, t.spaced = kept, ago, true
	}
}

// weave makes the weave of a stretch.
func (s *weaveStretch) weave() error {
	var chain [][]byte
	for t := s; t != nil; t = t.below {
		chain = append(chain, t.blocks...)
	}
	l, err := build(nil, chain, newUnzip)
	if err == nil {
		s.w = l.w
	}
	return err
}

// depth is how many blocks there are from a snapshot, or the first, on.
func (s *weaveStretch) depth() (n int) {
	for ; s != nil; s = s.below {
		n += len(s.blocks)
	}
	return n
}

func (s *weaveStretch) beginsWithSnapshot() bool {
	return s.below == nil && isSnapshot(s.blocks[len(s.blocks)-1])
}

// recordsBetween gives the records that make one weave of another, the latest first, or nil where none do. born says that the first
// of them is the first of the file.
func recordsBetween(from, to *weave.Weave, born bool) ([][]byte, error) {
	var records [][]byte
	w := from.Clone()
	have := from.Sources
	for i, src := range to.Sources {
		if len(have) > 0 && have[0] == src {
			have = have[1:]
			continue
		}
		p, err := to.PatchAt(i)
		if err != nil {
			return nil, err
		}
		if p.Undoes != nil || len(p.Hunks) == 0 || len(records) >= chainMax || w.Apply(src, p.Hunks) != nil {
			return nil, nil
		}
		b := appendSource([]byte{blockDelta}, src)
		if born && len(records) == 0 {
			b = appendSource(b, to.Sources[0])
		}
		records = append(records, change.AppendLocalHunks(b, p.Hunks))
	}
	if len(have) > 0 || !w.Equal(to) {
		return nil, nil
	}
	slices.Reverse(records)
	return records, nil
}

// textBlock gives the text of a snapshot as a block of its own, or nil where it has none.
func textBlock(snapshot []byte) ([]byte, error) {
	var l loaded
	if err := l.snapshot(snapshot, newUnzip); err != nil || l.text == nil {
		return nil, err
	}
	return append([]byte{blockShown}, l.text...), nil
}
