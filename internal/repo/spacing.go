package repo

// spacing chooses which trees stay at intervals: on the longest log one every so many changes, and on what branched off it one for so many
// changes since. So twice that many changes lie at most between any state and a tree of its own log, and what one step on the way took
// in at once; and a thousand short branches keep none.
type spacing struct {
	r     *Repo
	apart uint64
	onTop bitset            // the states of the longest log
	last  uint64            // on that: the length of the log of the last that stays
	side  map[uint32]uint64 // of other states that have trees: of the last in their log that stays, or where it branched off
}

func (r *Repo) newSpacing(apart uint64) *spacing {
	return &spacing{r: r, apart: apart, onTop: make(bitset, r.store.NumStates()/64+1), side: map[uint32]uint64{}}
}

// main says which state has the longest log.
func (p *spacing) main(s uint32) {
	for s != NoState && int(s>>6) < len(p.onTop) {
		p.onTop.add(s)
		_, parent, err := p.r.step(s)
		if err != nil {
			return // told when it is asked for
		}
		s = parent
	}
}

func (p *spacing) isMain(s uint32) bool { return int(s>>6) < len(p.onTop) && p.onTop.has(s) }

// falls tells whether a tree stays. It is asked of every state that has one, by number.
func (p *spacing) falls(s uint32, pos uint64) bool {
	if p.isMain(s) {
		if pos < p.last+p.apart {
			return false
		}
		p.last = pos
		return true
	}
	below := uint64(0)
	for at := s; ; {
		_, parent, err := p.r.step(at)
		if err != nil {
			return false
		}
		if at = parent; at == NoState {
			break
		}
		if v, ok := p.side[at]; ok {
			below = v
			break
		}
		if p.isMain(at) {
			st, err := p.r.state(at)
			if err != nil {
				return false
			}
			below = st.Pos
			break
		}
	}
	stays := pos >= below+p.apart
	if stays {
		below = pos
	}
	p.side[s] = below
	return stays
}
