package diff

// search finds which lines two sequences of numbers share, in order: Myers' O(ND) algorithm in linear space
// ("An O(ND) Difference Algorithm and Its Variations", 1986), which divides a box of the edit graph at the middle of
// a shortest path. Where that path is too long to look for, the box is divided at lines that are unique on both
// sides, and where there are none at the farthest place reached.
type search struct {
	a, b    *reduced
	minimal bool
	marked  bool // something is changed
	effort  int  // how many more steps may be spent on looking for middles
	// By diagonal x-y, from shift: the farthest x reached from the box's start, and the nearest from its end.
	fwd, bwd []int32
	shift    int
	anchors  anchors
}

const (
	// A box may need this many differences at most before it is divided otherwise. Its square is the cost: 1 to 2 ms.
	maxCost = 1024
	// When the effort for the whole comparison is spent, so many, so that the rest costs little a line.
	minCost = 48
	// none stands on a diagonal that no path inside the box reaches; -none does backwards.
	none = -1 << 30
	// Steps for a comparison: some tenths of a second.
	baseEffort    = 1 << 26
	effortPerLine = 16
)

// start makes ready for sequences of up to na and nb lines, whose numbers are below ids.
func (s *search) start(na, nb, ids int, minimal bool) {
	s.minimal, s.marked = minimal, false
	s.effort = baseEffort + effortPerLine*(na+nb)
	if need := na + nb + 3; cap(s.fwd) < need {
		s.fwd, s.bwd = make([]int32, need), make([]int32, need)
	} else {
		s.fwd, s.bwd = s.fwd[:need], s.bwd[:need]
	}
	s.shift = nb + 1
	s.anchors.reset(ids)
}

// run marks the changed lines of a and b.
func (s *search) run(a, b *reduced) {
	s.a, s.b = a, b
	s.box(0, len(a.id), 0, len(b.id), len(a.id)+len(b.id))
}

// box marks what changes from a[a0:a1] to b[b0:b1]. Anchors are looked for only in boxes of at most anchorSize
// lines: looking costs the box's size, and is in vain in the halves of a box that had none.
func (s *search) box(a0, a1, b0, b1, anchorSize int) {
	a, b := s.a.id, s.b.id
	for {
		for a0 < a1 && b0 < b1 && a[a0] == b[b0] {
			a0++
			b0++
		}
		for a0 < a1 && b0 < b1 && a[a1-1] == b[b1-1] {
			a1--
			b1--
		}
		if a0 == a1 || b0 == b1 {
			s.marked = s.marked || a0 < a1 || b0 < b1
			s.a.mark(a0, a1)
			s.b.mark(b0, b1)
			return
		}
		x, y, found := s.middle(a0, a1, b0, b1)
		if size := a1 - a0 + b1 - b0; !found && size <= anchorSize {
			if s.divide(a0, a1, b0, b1) {
				return
			}
			anchorSize = size / 2
		}
		// The second half is done in this loop, so that the depth of calls stays logarithmic in practice.
		s.box(a0, x, b0, y, anchorSize)
		a0, b0 = x, y
	}
}

// middle returns a point that divides the box. If found it lies on a shortest path.
func (s *search) middle(a0, a1, b0, b1 int) (x, y int, found bool) {
	a, b := s.a.id, s.b.id
	fwd, bwd, shift := s.fwd, s.bwd, s.shift
	fmid, bmid := a0-b0, a1-b1
	odd := (fmid-bmid)&1 != 0
	dmin, dmax := a0-b1, a1-b0
	limit := maxCost
	if s.effort <= 0 {
		limit = minCost
	}
	fmin, fmax, bmin, bmax := fmid, fmid, bmid, bmid
	fwd[fmid+shift], bwd[bmid+shift] = int32(a0), int32(a1)
	for cost := 1; ; cost++ {
		// One step forwards: the diagonals reached widen by one on each side, within the box.
		if fmin > dmin {
			fmin--
			fwd[fmin-1+shift] = none
		} else {
			fmin++
		}
		if fmax < dmax {
			fmax++
			fwd[fmax+1+shift] = none
		} else {
			fmax--
		}
		for k := fmin; k <= fmax; k += 2 {
			x := max(int(fwd[k-1+shift])+1, int(fwd[k+1+shift]))
			y := x - k
			if x < a0 || x > a1 || y > b1 {
				fwd[k+shift] = none
				continue
			}
			for x < a1 && y < b1 && a[x] == b[y] {
				x++
				y++
			}
			fwd[k+shift] = int32(x)
			if odd && bmin <= k && k <= bmax && int(bwd[k+shift]) <= x {
				s.effort -= cost * cost
				return x, y, true
			}
		}
		// The same backwards.
		if bmin > dmin {
			bmin--
			bwd[bmin-1+shift] = -none
		} else {
			bmin++
		}
		if bmax < dmax {
			bmax++
			bwd[bmax+1+shift] = -none
		} else {
			bmax--
		}
		for k := bmin; k <= bmax; k += 2 {
			x := min(int(bwd[k-1+shift]), int(bwd[k+1+shift])-1)
			y := x - k
			if x > a1 || x < a0 || y < b0 {
				bwd[k+shift] = -none
				continue
			}
			for x > a0 && y > b0 && a[x-1] == b[y-1] {
				x--
				y--
			}
			bwd[k+shift] = int32(x)
			if !odd && fmin <= k && k <= fmax && x <= int(fwd[k+shift]) {
				s.effort -= cost * cost
				return x, y, true
			}
		}
		if cost >= limit && !s.minimal {
			s.effort -= cost * cost
			x, y = s.farthest(fmin, fmax, bmin, bmax, a0+b0, a1+b1)
			return x, y, false
		}
	}
}

// farthest returns the point on a path from the box's start or end that has left the most lines behind. Start and
// end are sums of coordinates.
func (s *search) farthest(fmin, fmax, bmin, bmax, start, end int) (x, y int) {
	best := 0
	for k := fmin; k <= fmax; k += 2 {
		if at := int(s.fwd[k+s.shift]); at >= 0 && 2*at-k-start > best {
			x, y, best = at, at-k, 2*at-k-start
		}
	}
	for k := bmin; k <= bmax; k += 2 {
		if at := int(s.bwd[k+s.shift]); at < -none/2 && end-(2*at-k) > best {
			x, y, best = at, at-k, end-(2*at-k)
		}
	}
	return x, y
}
