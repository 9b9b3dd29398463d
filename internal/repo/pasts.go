package repo

import (
	"math/bits"
	"slices"
)

// wholePasts are the pasts of changes, each whole: a bit for each number before its own. Whoever asks of one change after the other, as an
// import does, finds the pasts of those that it depends on, and puts them together; to walk each down to what is asked was a sixth of
// the time of importing git's own history.
type wholePasts struct {
	deps       func(n uint32) []uint32
	young, old map[uint32]bitset
	bytes      int // of young
	todo       bitset
}

type bitset []uint64

func (b bitset) add(n uint32)      { b[n>>6] |= 1 << (n & 63) }
func (b bitset) has(n uint32) bool { return b[n>>6]&(1<<(n&63)) != 0 }

func (b bitset) with(o bitset) {
	for i, w := range o {
		b[i] |= w
	}
}

func (b bitset) without(o bitset) {
	for i, w := range o {
		b[i] &^= w
	}
}

// pastBytes is half of what is kept: some thousand pasts in a history of 100 000 changes.
const pastBytes = 24 << 20

func newWholePasts(deps func(n uint32) []uint32) *wholePasts {
	return &wholePasts{deps: deps, young: map[uint32]bitset{}}
}

// of gives the past of a change, without the change.
func (p *wholePasts) of(n uint32) bitset {
	if b := p.kept(n); b != nil {
		return b
	}
	for _, d := range p.deps(n) { // others will ask about them
		if p.kept(d) == nil {
			p.keep(d, p.gather(d, p.deps(d)))
		}
	}
	b := p.gather(n, p.deps(n))
	p.keep(n, b)
	return b
}

// gather puts together the past of a change that depends on some.
func (p *wholePasts) gather(n uint32, deps []uint32) bitset {
	b := make(bitset, n>>6+1)
	if len(p.todo) < len(b) {
		p.todo = make(bitset, 2*len(b))
	}
	todo, top := p.todo[:len(b)], -1 // what is in b and not walked; the highest word that has any
	reach := func(deps []uint32) {
		for _, d := range deps {
			if b.has(d) {
				continue
			}
			b.add(d)
			if known := p.kept(d); known != nil {
				b.with(known)
				todo.without(known)
			} else {
				todo.add(d)
				top = max(top, int(d>>6))
			}
		}
	}
	for reach(deps); top >= 0; {
		w := todo[top]
		if w == 0 {
			top--
			continue
		}
		n := uint32(top)<<6 + uint32(bits.Len64(w)) - 1
		todo[top] &^= 1 << (n & 63)
		reach(p.deps(n))
	}
	return b
}

func (p *wholePasts) kept(n uint32) bitset {
	b, ok := p.young[n]
	if !ok {
		if b, ok = p.old[n]; ok {
			p.keep(n, b)
		}
	}
	return b
}

func (p *wholePasts) keep(n uint32, b bitset) {
	if p.bytes += 8 * len(b); p.bytes > pastBytes {
		p.old, p.young, p.bytes = p.young, map[uint32]bitset{}, 0
	}
	p.young[n] = b
}

func (p *wholePasts) forget(n uint32) {
	delete(p.young, n)
	delete(p.old, n)
}

// minimal is minimalOf. What another one reaches, one that no other reaches does: from the greatest down, the pasts of these alone are looked
// at.
func (p *wholePasts) minimal(deps []uint32) []uint32 {
	deps = slices.Clone(deps)
	slices.Sort(deps)
	deps = slices.Compact(deps)
	if len(deps) < 2 {
		return deps
	}
	reached := make(bitset, deps[len(deps)-2]>>6+1)
	at := len(deps)
	for i, d := range slices.Backward(deps) {
		if int(d>>6) < len(reached) && reached.has(d) {
			continue
		}
		at--
		deps[at] = d // what stood there was looked at
		if i > 0 {
			past := p.of(d)
			reached.with(past[:min(len(past), len(reached))])
		}
	}
	return slices.Clone(deps[at:])
}
