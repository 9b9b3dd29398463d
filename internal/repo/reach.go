package repo

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// reach answers which changes lie in the past of which. A change's number is above those of its dependencies, so the past
// of one is walked down by descending number, no deeper than was asked so far. It is for one goroutine.
type reach struct {
	deps  func(n uint32) []uint32
	id    func(n uint32) change.ID
	pasts map[uint32]*past
	whole *wholePasts // in place of pasts, for many questions; of no change in the making
	// A change in the making, if draftDeps is not nil, and what is known by now of what it depends on.
	draft     uint32
	draftDeps []uint32
	draftPast bitset // with whole, when it was asked for
}

// past is what was walked of one change's past: a set of numbers, walked downwards.
type past struct {
	pages []*pastPage
	from  uint32 // those that were reached from here on were walked
}

// pastPage holds a bit for each of 4096 numbers: the past of a change may be few of those before it.
type pastPage [64]uint64

const pastBits = 12

// newPast is a past whose numbers are up to a last one.
func newPast(last uint32) *past {
	return &past{pages: make([]*pastPage, last>>pastBits+1), from: last + 1}
}

func (p *past) add(n uint32) {
	page := p.pages[n>>pastBits]
	if page == nil {
		page = new(pastPage)
		p.pages[n>>pastBits] = page
	}
	page[n>>6&63] |= 1 << (n & 63)
}

func (p *past) has(n uint32) bool {
	i := n >> pastBits
	return int(i) < len(p.pages) && p.pages[i] != nil && p.pages[i][n>>6&63]&(1<<(n&63)) != 0
}

// next takes the greatest number, not below least, that was reached and not walked.
func (p *past) next(least uint32) (uint32, bool) {
	for p.from > least {
		n := p.from - 1
		page := p.pages[n>>pastBits]
		if page == nil {
			p.from = n &^ (1<<pastBits - 1)
			continue
		}
		word := page[n>>6&63] & (1<<(n&63)<<1 - 1) // those up to n
		if word == 0 {
			p.from = n &^ 63
			continue
		}
		p.from = n&^63 + uint32(bits.Len64(word)) - 1
		if p.from < least {
			break
		}
		return p.from, true
	}
	p.from = max(p.from, least)
	return 0, false
}

// newReach gives the one that is shared, or another. It sees the changes that the transaction under way made, too.
func (r *Repo) newReach() *reach {
	if r.shared != nil {
		return r.shared
	}
	return r.ownReach()
}

// keptReach is a reach for many questions, for as long as changes are only added: it reads what one depends on once.
func (r *Repo) keptReach() *reach {
	h := &reach{id: r.idNow, deps: r.keptDeps()}
	h.whole = newWholePasts(h.deps)
	return h
}

// keptDeps is depsNow that reads what a change depends on once. It is for one goroutine.
func (r *Repo) keptDeps() func(n uint32) []uint32 {
	var kept [][]uint32
	return func(n uint32) []uint32 {
		if n >= r.store.NumChanges() {
			return r.depsNow(n)
		}
		if uint64(n) >= uint64(len(kept)) {
			kept = append(kept, make([][]uint32, int(n)+1-len(kept))...)
		}
		if kept[n] == nil {
			kept[n] = append([]uint32{}, r.store.Deps(n)...) // these may lie in a file that is mapped for a while
		}
		return kept[n]
	}
}

func (r *Repo) ownReach() *reach {
	return &reach{pasts: map[uint32]*past{}, deps: r.depsNow, id: r.idNow}
}

// depsNow gives what a change depends on, one of the transaction under way too.
func (r *Repo) depsNow(n uint32) []uint32 {
	if n < r.store.NumChanges() {
		return r.store.Deps(n)
	} else if b := r.freshOf(n); b != nil {
		return b.deps
	}
	return nil
}

func (r *Repo) idNow(n uint32) change.ID {
	if n < r.store.NumChanges() {
		return r.store.ChangeID(n)
	} else if b := r.freshOf(n); b != nil {
		return b.id // of one in the making it is not known before all that it says is
	}
	return change.ID{}
}

// depsOf gives the dependencies of a change of the store or of this transaction.
func (t *tx) depsOf(n uint32) []uint32 {
	if first := t.r.store.NumChanges(); n >= first {
		return t.made[n-first].deps
	}
	return t.r.store.Deps(n)
}

// Less orders changes by their hashes.
func (h *reach) Less(a, b uint32) bool {
	x, y := h.id(a), h.id(b)
	return bytes.Compare(x[:], y[:]) < 0
}

// Reaches reports whether b is a or in a's past.
func (h *reach) Reaches(a, b uint32) bool {
	if a <= b {
		return a == b
	}
	if h.whole != nil {
		return h.wholePast(a).has(b)
	}
	p := h.pasts[a]
	if p != nil && p.from <= b {
		return p.has(b)
	}
	if h.straight(a, b) {
		return true
	}
	if p == nil {
		p = newPast(a)
		p.add(a)
		h.pasts[a] = p
	}
	for {
		n, ok := p.next(b + 1)
		if !ok {
			return p.has(b)
		}
		for _, d := range h.depsOf(n) {
			p.add(d)
		}
	}
}

// straightSteps is how many steps are taken straight towards a change before a past is walked in order.
const straightSteps = 24

// straight looks for b in a's past where it is most likely: from each change on to the dependency nearest above b. Most of what one
// asks about is in the past of what it asks of, a few steps away and however many numbers below; false says nothing.
func (h *reach) straight(a, b uint32) bool {
	var ways [2 * straightSteps]uint32
	n := 0
	for range straightSteps {
		for _, d := range h.depsOf(a) {
			if d == b {
				return true
			}
			if d > b && n < len(ways) && !slices.Contains(ways[:n], d) {
				ways[n] = d
				n++
			}
		}
		if n == 0 {
			return false
		}
		best := 0
		for i := 1; i < n; i++ {
			if ways[i] < ways[best] {
				best = i
			}
		}
		n--
		a = ways[best]
		ways[best] = ways[n]
	}
	return false
}

// wholePast gives all of a change's past.
func (h *reach) wholePast(n uint32) bitset {
	if h.draftDeps == nil || n != h.draft {
		return h.whole.of(n)
	}
	if h.draftPast == nil {
		h.draftPast = h.whole.gather(n, h.draftDeps)
	}
	return h.draftPast
}

func (h *reach) depsOf(n uint32) []uint32 {
	if h.draftDeps != nil && n == h.draft {
		return h.draftDeps
	}
	return h.deps(n)
}

// inTheMaking lets a change be asked about that is not whole yet.
func (h *reach) inTheMaking(n uint32, deps []uint32) {
	h.draft, h.draftDeps, h.draftPast = n, append([]uint32{}, deps...), nil
	h.forget(n)
}

// made says that the change in the making is whole.
func (h *reach) made(n uint32) {
	h.draftDeps, h.draftPast = nil, nil
	h.forget(n)
}

func (h *reach) forget(n uint32) {
	delete(h.pasts, n)
	if h.whole != nil {
		h.whole.forget(n)
	}
}

// closure gives, ascending, the changes that a set lacks of the given ones and their pasts. The set is closed.
func (h *reach) closure(of []uint32, has func(uint32) bool) []uint32 {
	seen := map[uint32]struct{}{}
	var queue, out []uint32
	add := func(n uint32) {
		if _, ok := seen[n]; !ok && !has(n) {
			seen[n] = struct{}{}
			queue = append(queue, n)
		}
	}
	for _, n := range of {
		add(n)
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		out = append(out, n)
		for _, d := range h.deps(n) {
			add(d)
		}
	}
	slices.Sort(out)
	return out
}

// fileHistory is what the weave of one file asks.
type fileHistory struct {
	*reach
	owner uint32 // of the file: all that touch it reach it
	text  func(s change.Stretch) ([]byte, error)
}

func (h *fileHistory) Reaches(a, b uint32) bool {
	return b == h.owner && a >= b || h.reach.Reaches(a, b)
}

// SameText compares what two changes inserted.
func (h *fileHistory) SameText(a, b change.Stretch) (bool, error) {
	x, err := h.text(a)
	if err != nil {
		return false, err
	}
	y, err := h.text(b)
	return err == nil && bytes.Equal(x, y), err
}
