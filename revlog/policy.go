package revlog

import "slices"

// What Mercurial bounds deltas by, from what "hg help internals.revlogs" and the comments in
// mercurial/revlogutils/deltas.py say.
const (
	// chainLimit: all chunks of a chain together hold no more than this many times the text.
	chainLimit = 2
	// baseLimit: of a base with a text shorter than this part of the new one no short delta is expected.
	baseLimit = 500
	// spanLimit: without sparse reading, a chain spans no more of the file than this many times the text.
	spanLimit = 4
	// sparseChain is how long a chain may be by default.
	sparseChain = 1000
)

// candidate is one way to store a text.
type candidate struct {
	base  Rev    // of the delta; Null: the whole text
	chunk []byte // as it will be stored
}

// search looks for the best way to store one text: as a delta against a parent, else against a snapshot, else whole. A
// snapshot is a chunk that is no delta against a parent; a chain is a whole text, snapshots that shrink by half or more,
// and then deltas, so that it stays short while histories grow beside each other.
type search struct {
	w      *Writer
	text   []byte
	p1, p2 Rev
	tested map[Rev]bool
	best   *candidate
}

// store finds how to store the text.
func (w *Writer) store(text []byte, p1, p2 Rev, flags Flags) (candidate, error) {
	whole := func() (candidate, error) {
		chunk, err := w.enc.encode(text)
		return candidate{Null, chunk}, err
	}
	if len(text) == 0 || w.opts.NoDeltas || w.log.n == 0 || flags&(FlagCensored|FlagExternal) != 0 {
		return whole()
	}
	s := &search{w: w, text: text, p1: p1, p2: p2, tested: map[Rev]bool{Null: true}}
	var err error
	if w.log.generalDelta {
		err = s.general()
	} else {
		err = s.try(w.log.Tip())
	}
	if err != nil {
		return candidate{}, err
	}
	if s.best == nil {
		return whole()
	}
	return *s.best, nil
}

// general searches among all revisions.
func (s *search) general() error {
	if err := s.try(s.p1, s.p2); err != nil || s.best != nil {
		return err
	}
	if s.p1 != Null || s.p2 != Null {
		if err := s.trySnapshots(); err != nil {
			return err
		}
	}
	if s.best == nil || s.best.base == s.p1 || s.best.base == s.p2 || !s.w.snapshot[s.best.base] {
		return nil
	}
	// Perhaps a snapshot beneath the one found, or above it, is better still.
	for {
		had := s.best.base
		base := s.w.base(had)
		if base == Null {
			break
		}
		if err := s.try(base); err != nil {
			return err
		}
		if s.best.base == had {
			break
		}
	}
	for {
		had := s.best.base
		if err := s.try(s.w.children[had]...); err != nil {
			return err
		}
		if s.best.base == had {
			return nil
		}
	}
}

// trySnapshots tries the snapshots of the parents' chains and of one chain beside them, deepest first, before each what was
// built on it since, and at last the whole texts.
func (s *search) trySnapshots() error {
	w := s.w
	var levels [][]Rev
	add := func(level int, rev Rev) {
		if level == len(levels) {
			levels = append(levels, nil)
		}
		if !slices.Contains(levels[level], rev) {
			levels[level] = append(levels[level], rev)
		}
	}
	known := map[Rev]bool{}
	for _, p := range []Rev{s.p1, s.p2} {
		if p == Null {
			continue
		}
		chain := w.chain(p)
		for _, rev := range chain {
			known[rev] = true
		}
		for level, rev := range chain {
			if !w.snapshot[rev] {
				break
			}
			add(level, rev)
		}
	}
	floor := slices.Min(levels[0]) + 1
	for other := w.log.Tip(); other >= floor; other-- {
		if known[other] {
			continue
		}
		depth := len(levels) - 1
		for level, rev := range w.chain(other) {
			if level > depth || !w.snapshot[rev] {
				break
			}
			if rev >= floor {
				add(level, rev)
			}
		}
		break
	}
	above := floor - 1 // what a sibling must be newer than
	for level := len(levels) - 1; level >= 0; level-- {
		var siblings []Rev
		for _, rev := range levels[level] {
			for _, child := range w.children[rev] {
				if child > above {
					siblings = append(siblings, child)
				}
			}
		}
		if err := s.try(siblings...); err != nil || s.best != nil {
			return err
		}
		if err := s.try(levels[level]...); err != nil || s.best != nil {
			return err
		}
		above = max(slices.Min(levels[level]), floor-1)
	}
	var whole []Rev
	for _, rev := range w.children[Null] {
		if rev >= floor {
			whole = append(whole, rev)
		}
	}
	return s.try(whole...)
}

// try makes deltas against a group of revisions and keeps the shortest that is good, if it beats what was best before.
func (s *search) try(group ...Rev) error {
	slices.Sort(group)
	for _, base := range group {
		// An empty delta is no link of a chain.
		for base != Null && !s.tested[base] && s.w.entries[base].Stored == 0 && s.w.log.generalDelta {
			s.tested[base] = true
			base = s.w.base(base)
		}
		if s.tested[base] {
			continue
		}
		s.tested[base] = true
		if !s.promising(base) {
			continue
		}
		c, err := s.build(base)
		if err != nil {
			return err
		}
		if c != nil && (s.best == nil || len(c.chunk) < len(s.best.chunk)) {
			s.best = &candidate{c.base, slices.Clone(c.chunk)}
		}
	}
	return nil
}

// promising tells before a delta is made that it would be no good.
func (s *search) promising(base Rev) bool {
	w := s.w
	e := &w.entries[base]
	limit := int64(len(s.text)) * chainLimit
	if int64(e.Stored) > limit || e.Flags&(FlagCensored|FlagExternal) != 0 {
		return false
	}
	if w.log.generalDelta && int(e.Size) < len(s.text)/baseLimit {
		return false
	}
	if w.chainLen[base] >= int32(w.opts.MaxChain) || w.chainSize[base] > limit {
		return false
	}
	if bound := w.opts.Compresses; bound > 0 && base != s.p1 && base != s.p2 && w.snapshot[base] {
		least := max(len(s.text)-int(e.Size), 0) / bound
		if len(s.text)>>w.chainLen[base] < least || int(e.Stored) < least {
			return false
		}
	}
	return true
}

// build makes the delta against base; nil if it is no good.
func (s *search) build(base Rev) (*candidate, error) {
	w := s.w
	from, err := w.reader.Raw(base)
	if err != nil {
		return nil, err
	}
	w.delta = w.diff.delta(w.delta[:0], from, s.text)
	depth := 0 // of the snapshot that this would be; 0: none
	if w.log.generalDelta && w.snapshot[base] && base != s.p1 && base != s.p2 {
		depth = int(w.chainLen[base]) + 1
	}
	if bound := w.opts.Compresses; bound > 0 && depth > 0 {
		least := len(w.delta) / bound
		if len(s.text)>>depth < least || int(w.entries[base].Stored) < least {
			return nil, nil
		}
	}
	chunk, err := w.enc.encode(w.delta)
	if err != nil {
		return nil, err
	}
	size := len(chunk)
	switch {
	case size > len(s.text), w.chainSize[base]+int64(size) > int64(len(s.text))*chainLimit:
		return nil, nil
	case depth > 0 && (size > len(s.text)>>depth || size > int(w.entries[base].Stored)):
		return nil, nil
	case !w.log.generalDelta:
		// Read whole from where the chain begins.
		first := w.entries[base].Base
		if span := w.end() + int64(size) - w.entries[first].Offset; span > int64(len(s.text))*spanLimit {
			return nil, nil
		}
	}
	return &candidate{base, chunk}, nil
}
