package repo

import (
	"slices"
	"sync"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// firstSpare is the number of the first spare. No store comes near so many states: their index alone would take 128 GiB.
const firstSpare = 1 << 31

func isSpare(s uint32) bool { return s >= firstSpare && s != NoState }

// spares are the states that were made on demand, and those that the transaction under way put. A process that goes on for
// long, as a server, opens the repository for each request.
type spares struct {
	mu     sync.Mutex
	made   []spare            // numbered from firstSpare on
	steps  map[string]*midway // by key
	put    map[uint32]store.State
	roots  map[uint32]state.Root // of their trees, in blocks
	blocks *state.Blocks
}

// spare is the position with k changes of a step.
type spare struct {
	of *midway
	k  int
	id [32]byte
}

func (p *spares) of(s uint32) (spare, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if isSpare(s) && int(s-firstSpare) < len(p.made) {
		return p.made[s-firstSpare], true
	}
	return spare{}, false
}

// beside finds what position pos of the log of a spare is, if it lies in the same step.
func (p *spares) beside(s uint32, pos uint64) (spare, bool) {
	sp, ok := p.of(s)
	if !ok || pos <= sp.of.pos || pos > sp.of.pos+uint64(sp.k) {
		return spare{}, false
	}
	return spare{of: sp.of, k: int(pos - sp.of.pos)}, true
}

func (p *spares) state(s uint32) (store.State, bool) {
	if sp, ok := p.of(s); ok {
		st := sp.of.onParent(sp.k)
		st.ID = sp.id
		return st, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	st, ok := p.put[s]
	return st, ok
}

// forgetPut forgets what a transaction put: it is in the store now, or nowhere.
func (p *spares) forgetPut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put = nil
}

// forget forgets all: states have other numbers now.
func (p *spares) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made, p.steps, p.put, p.roots, p.blocks = nil, nil, nil, nil, nil
}

// nearest tells the position with k changes of a step by what is nearest: the state before the step or that at its end, or a spare
// of the step that will do.
func (p *spares) nearest(m *midway, k int, will func(s uint32) bool) store.State {
	st := m.short(k)
	best := len(st.Changes) + len(st.Without)
	i, _ := p.find(m, k)
	for _, s := range slices.Backward(m.made[:i]) {
		more := p.made[s-firstSpare].k
		if more-k >= best {
			break
		}
		if will(s) {
			best, st = more-k, store.State{Parent: int64(s), Without: sortedWith(nil, m.changes[k:more]), Pos: m.pos + uint64(k)}
			break
		}
	}
	for _, s := range m.made[i:] {
		less := p.made[s-firstSpare].k
		if k-less >= best {
			break
		}
		if less < k && will(s) {
			return store.State{Parent: int64(s), Changes: m.changes[less:k:k], Pos: m.pos + uint64(k), Beside: m.beside}
		}
	}
	return st
}

// find finds the spare with k changes of a step, or where it would be.
func (p *spares) find(m *midway, k int) (int, bool) {
	return slices.BinarySearchFunc(m.made, k, func(s uint32, k int) int { return k - p.made[s-firstSpare].k })
}

// spare makes the position with k changes of a step a state.
func (r *Repo) spare(m *midway, k int) (uint32, error) {
	p := &r.spares
	p.mu.Lock()
	if p.steps == nil {
		p.steps = map[string]*midway{}
	}
	key := m.key()
	if known := p.steps[key]; known != nil {
		m = known
	} else {
		p.steps[key] = m
	}
	i, ok := p.find(m, k)
	if ok {
		defer p.mu.Unlock()
		return m.made[i], nil
	}
	st := p.nearest(m, k, func(uint32) bool { return true })
	p.mu.Unlock()
	id, err := r.idOfState(&st, r.store.ChangeID)
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i, ok = p.find(m, k); ok { // somebody else was faster
		return m.made[i], nil
	}
	s := firstSpare + uint32(len(p.made))
	p.made = append(p.made, spare{m, k, id})
	m.made = slices.Insert(m.made, i, s)
	return s, nil
}

// treeStep is how the tree of a state is made: from the parent's.
func (r *Repo) treeStep(b *state.Blocks, s uint32) (store.State, error) {
	p := &r.spares
	if sp, ok := p.of(s); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.nearest(sp.of, sp.k, func(s uint32) bool {
			_, ok := p.roots[s]
			return ok && p.blocks == b
		}), nil
	}
	st, err := r.state(s)
	if err != nil {
		return st, storeError(err)
	}
	return st, nil
}

func (p *spares) root(b *state.Blocks, s uint32) (state.Root, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	root, ok := p.roots[s]
	return root, ok && p.blocks == b
}

// rootOf gives the root of a state's tree, if it is there.
func (r *Repo) rootOf(b *state.Blocks, s uint32) (state.Root, bool, error) {
	if isSpare(s) {
		root, ok := r.spares.root(b, s)
		return root, ok, nil
	}
	root, ok, err := b.Root(s)
	return root.Root, ok, err
}

// putRoot keeps the root of a state's tree: a spare's only as long as these blocks are at hand.
func (r *Repo) putRoot(b *state.Blocks, s uint32, root state.Root) {
	if !isSpare(s) {
		b.PutRoot(state.StateRoot{State: s, Root: root})
		return
	}
	p := &r.spares
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blocks != b || p.roots == nil {
		p.blocks, p.roots = b, map[uint32]state.Root{}
	}
	p.roots[s] = root
}
