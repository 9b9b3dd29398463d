package diff

// anchors finds lines to divide a box at, as patience diff does: those that occur once on each side of the box, and of
// them the longest chain that ascends on both.
type anchors struct {
	// By number: occurrences in the box (2 stands for more) and where the last is. Zero outside find.
	inA, inB []uint8
	at       []int32
	pairs    []pair
	tails    []int32 // by length of chain: its last pair, the one with the least y
	prev     []int32 // by pair: the one before it in its chain
}

type pair struct{ x, y int32 }

func (f *anchors) reset(ids int) {
	if len(f.inA) < ids {
		f.inA, f.inB, f.at = make([]uint8, ids), make([]uint8, ids), make([]int32, ids)
	}
}

// divide compares the box between its anchors, if it has any.
func (s *search) divide(a0, a1, b0, b1 int) bool {
	chain := s.anchors.find(s.a.id, s.b.id, a0, a1, b0, b1)
	if len(chain) == 0 {
		return false
	}
	for _, p := range chain {
		x, y := int(p.x), int(p.y)
		s.box(a0, x, b0, y, x-a0+y-b0)
		a0, b0 = x+1, y+1
	}
	s.box(a0, a1, b0, b1, a1-a0+b1-b0)
	return true
}

func (f *anchors) find(a, b []int32, a0, a1, b0, b1 int) []pair {
	for x := a0; x < a1; x++ {
		f.inA[a[x]] = min(f.inA[a[x]]+1, 2)
	}
	for y := b0; y < b1; y++ {
		f.inB[b[y]] = min(f.inB[b[y]]+1, 2)
		f.at[b[y]] = int32(y)
	}
	f.pairs, f.tails, f.prev = f.pairs[:0], f.tails[:0], f.prev[:0]
	for x := a0; x < a1; x++ {
		if id := a[x]; f.inA[id] == 1 && f.inB[id] == 1 {
			f.link(pair{int32(x), f.at[id]})
		}
	}
	for x := a0; x < a1; x++ {
		f.inA[a[x]] = 0
	}
	for y := b0; y < b1; y++ {
		f.inB[b[y]] = 0
	}
	// The boxes between the anchors use this memory again, so the chain is a copy.
	n := len(f.tails)
	if n == 0 {
		return nil
	}
	chain := make([]pair, n)
	for i, at := n-1, f.tails[n-1]; i >= 0; i-- {
		chain[i] = f.pairs[at]
		at = f.prev[at]
	}
	return chain
}

// link adds a pair, whose x is past all others', to the chains: a step of patience sorting.
func (f *anchors) link(p pair) {
	lo, hi := 0, len(f.tails)
	for lo < hi {
		if mid := (lo + hi) / 2; f.pairs[f.tails[mid]].y < p.y {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	at := int32(len(f.pairs))
	f.pairs = append(f.pairs, p)
	before := int32(-1)
	if lo > 0 {
		before = f.tails[lo-1]
	}
	f.prev = append(f.prev, before)
	if lo == len(f.tails) {
		f.tails = append(f.tails, at)
	} else {
		f.tails[lo] = at
	}
}
