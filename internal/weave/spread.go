package weave

import (
	"cmp"
	"slices"
	"sort"

	"github.com/oxy-vcs/oxy/internal/change"
)

// From so many hunks and runs on, hunks are applied to a weave that is spread over chunks: each run that comes in between others moves
// all that follow it, and in a catalogue of messages a hundred thousand follow, a thousand times a patch.
const (
	spreadHunks = 16
	spreadRuns  = 512
	chunkRuns   = 64
	longChunk   = 4 * chunkRuns
)

// spread is a weave's runs in short chunks, in order, while hunks are applied. A hunk needs the chunks that its gap lies in.
type spread struct {
	w      *Weave
	chunks [][]Run
	into   []int32 // of chunks: which one took it in, or itself
	// Where the runs of before lie, those of one source together, by offset; of each change where its own begin and end.
	offs, in []int32
	of       map[uint32][2]int32
	later    map[uint32][]laterRun // by change, ascending: what hunks inserted
	went     int                   // how many runs more than in a short chunk were in the windows of all hunks
}

// laterRun is where what a hunk inserted begins in its change's text, and the chunk that it came into.
type laterRun struct {
	off   uint32
	chunk int32
}

// spreadOut takes the runs of a weave, which it leaves as they are.
func (w *Weave) spreadOut() *spread {
	p := w.places()
	n := (len(w.Runs) + chunkRuns - 1) / chunkRuns
	s := &spread{w: w, chunks: make([][]Run, n), into: make([]int32, n), offs: make([]int32, len(p.runs)), in: make([]int32, len(p.runs)),
		of: make(map[uint32][2]int32, len(w.Sources)), later: map[uint32][]laterRun{}}
	for i, r := range p.runs {
		s.offs[i], s.in[i] = int32(w.Runs[r].Off), r/chunkRuns
	}
	for k := range w.Sources {
		s.of[w.Sources[k].Change] = [2]int32{p.begins[k], p.begins[k+1]}
	}
	all := slices.Clone(w.Runs)
	for i := range s.chunks {
		from, to := i*chunkRuns, min((i+1)*chunkRuns, len(all))
		s.chunks[i], s.into[i] = all[from:to:to], int32(i)
	}
	return s
}

// gather gives the weave its runs again.
func (s *spread) gather() {
	n := 0
	for _, c := range s.chunks {
		n += len(c)
	}
	s.w.Runs = make([]Run, 0, n)
	for _, c := range s.chunks {
		s.w.Runs = append(s.w.Runs, c...)
	}
}

// holding gives the chunk that a byte of a change lies in, if that is there.
func (s *spread) holding(c, off uint32) (chunk int32, ok bool) {
	if own, old := s.of[c]; old {
		begins := s.offs[own[0]:own[1]]
		i := sort.Search(len(begins), func(i int) bool { return uint32(begins[i]) > off })
		if i == 0 {
			return 0, false
		}
		chunk = s.in[int(own[0])+i-1]
	} else {
		own := s.later[c]
		i, found := slices.BinarySearchFunc(own, off, func(l laterRun, off uint32) int { return cmp.Compare(l.off, off) })
		if !found {
			i--
		}
		if i < 0 {
			return 0, false
		}
		chunk = own[i].chunk
	}
	for s.into[chunk] != chunk {
		chunk = s.into[chunk]
	}
	return chunk, true
}

// window gives the chunk that holds a hunk's gap with the runs at its ends, after it took in those that follow, if there are several.
func (s *spread) window(h *change.Hunk) (int32, bool) {
	first, last, ok := int32(0), s.last(), true
	if h.L != change.Start {
		if h.L.Off == 0 {
			return 0, false
		}
		if first, ok = s.holding(h.L.Change, h.L.Off-1); !ok {
			return 0, false
		}
	}
	if h.R != change.End {
		if last, ok = s.holding(h.R.Change, h.R.Off); !ok {
			return 0, false
		}
	}
	if last < first {
		return 0, false
	}
	for i := first + 1; i <= last; i++ {
		s.chunks[first] = append(s.chunks[first], s.chunks[i]...)
		s.chunks[i], s.into[i] = nil, first
	}
	s.went += max(0, len(s.chunks[first])-longChunk)
	return first, true
}

func (s *spread) last() int32 {
	i := int32(len(s.into)) - 1
	for s.into[i] != i {
		i = s.into[i]
	}
	return i
}

// put applies a change's hunks. Where one does not fit in its window it gives false: the weave is to be made again without this.
func (s *spread) put(a *applier, hunks []change.Hunk) bool {
	w := s.w
	var off uint32
	for i := range hunks {
		h := &hunks[i]
		k, ok := s.window(h)
		if !ok {
			return false
		}
		w.Runs = s.chunks[k]
		_, err := a.hunk(off, h, 0)
		s.chunks[k] = w.Runs
		if err != nil {
			return false
		}
		if h.InsLen > 0 {
			s.later[a.change] = append(s.later[a.change], laterRun{off, k})
		}
		off += h.InsLen
	}
	return true
}

// spreading applies many hunks to a large weave. done is false, and the weave as it was, where something stands otherwise than most do.
func (a *applier) spreading(hunks []change.Hunk) (done bool) {
	w := a.w
	if a.h != nil && !a.alone || len(hunks) < spreadHunks || len(w.Runs) < spreadRuns {
		return false
	}
	was, tail := w.Runs, w.Tail
	s := w.spreadOut()
	if !s.put(a, hunks) {
		w.Runs, w.Tail, a.hidden = was, tail, nil
		return false
	}
	s.gather()
	return true
}

// ApplyAll adds in place what several changes did, none of which undoes another, one after the other, each upon all that it meets: see
// Apply and ApplyBeside.
func (w *Weave) ApplyAll(ps []Patch) error {
	for len(ps) > 0 {
		n, err := w.applySome(ps)
		if err != nil {
			return err
		}
		if n == 0 {
			n = 1
			if err := w.ApplyBeside(ps[0].Source, ps[0].Hunks); err != nil {
				return err
			}
		}
		ps = ps[n:]
	}
	return nil
}

// applySome adds the first of some changes, as many as can be while the weave is spread: none, and the weave as it was, where something
// stands otherwise than most do.
func (w *Weave) applySome(ps []Patch) (n int, err error) {
	if len(w.Runs) < spreadRuns || len(ps) < 2 {
		return 0, nil
	}
	w.Sources, w.acts = slices.Clip(w.Sources), slices.Clip(w.acts) // what comes is not put into what is there now
	was := *w
	var s *spread
	for i := range ps {
		p := &ps[i]
		did, ok := w.plainly(p)
		if !ok {
			break
		}
		if s == nil {
			s = w.spreadOut()
		}
		if !s.put(&applier{w: w, change: p.Change}, p.Hunks) {
			w.takeBack(&was)
			return 0, nil
		}
		w.enter(p, did)
		if n++; w.odd && !w.turnsOnlyItsOwn(*p) {
			s.gather()
			return n, w.settle()
		}
	}
	if s != nil {
		s.gather()
	}
	if w.odd {
		w.join()
	}
	return n, nil
}

// plainly gives what a patch does, if that is nothing that has to be looked at by itself.
func (w *Weave) plainly(p *Patch) (did act, ok bool) {
	did, err := p.did()
	_, there := w.source(p.Change)
	return did, err == nil && !there && p.Undoes == nil && (!did.solves || len(w.open) == 0)
}

// takeBack has the weave as it was before patches were put in while it was spread.
func (w *Weave) takeBack(was *Weave) {
	w.Runs, w.Tail, w.Sources, w.acts, w.odd = was.Runs, was.Tail, was.Sources, was.acts, was.odd
	w.numbers, w.numbered = nil, 0
}
