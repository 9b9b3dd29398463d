package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// A change's stated dependencies must lead to all that its ops and hunks name: whoever has the change then has that, too. One
// walk for each name would cost the length of history each time; here the names of all changes are looked at together.

// reachMemory bounds the bytes of the bits that say, of a block of changes, which others reach them.
const reachMemory = 64 << 20

// covers notes what a change names beside its dependencies. ch is bound.
func (c *checker) covers(n uint32, ch *change.Change) error {
	var named []uint64
	note := func(id change.ID) bool {
		m, ok := c.r.store.FindChange(id)
		if ok {
			named = append(named, uint64(m)<<32|uint64(n))
		}
		return ok
	}
	for _, id := range ch.Others {
		note(id) // one that is missing was told
	}
	if !ch.Undoes.IsZero() && !note(ch.Undoes) {
		return fmt.Errorf("change %s, which it undoes, is missing", ch.Undoes.Short())
	}
	if len(named) > 0 {
		c.mu.Lock()
		c.beside = append(c.beside, named...)
		c.mu.Unlock()
	}
	return nil
}

// covered checks what was noted.
func (c *checker) covered() error {
	pairs := c.beside
	c.beside = nil
	slices.Sort(pairs)
	total := c.r.store.NumChanges()
	words := max(1, min(64, reachMemory/8/int(max(total, 1)))) // of 64 changes each, for every change
	bits := make([]uint64, words*int(total))
	for len(pairs) > 0 {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		first := uint32(pairs[0]>>32) &^ 63
		beyond := uint64(first) + uint64(64*words)
		k, _ := slices.BinarySearch(pairs, beyond<<32)
		block := pairs[:k]
		pairs = pairs[k:]
		last := first
		for _, p := range block {
			last = max(last, uint32(p))
		}
		// Of the changes from first on: which of the block each has in its past. Lower ones have none.
		for n := first; n <= last; n++ {
			own := bits[int(n-first)*words:][:words]
			clear(own)
			if uint64(n) < beyond {
				own[(n-first)/64] |= 1 << (n % 64)
			}
			for _, d := range c.r.store.Deps(n) {
				if d < first || d >= n {
					continue
				}
				for i, w := range bits[int(d-first)*words:][:words] {
					own[i] |= w
				}
			}
		}
		for _, p := range block {
			m, n := uint32(p>>32), uint32(p)
			if bits[int(n-first)*words+int(m-first)/64]>>(m%64)&1 == 0 {
				id := c.r.store.ChangeID(n)
				c.find(finding{Problem{Text: fmt.Sprintf("change %s: it names change %s and does not depend on it", id.Short(),
					c.r.store.ChangeID(m).Short()), Change: id}, int64(n), -1})
			}
		}
	}
	return nil
}
