package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Replay makes the trees of imported states again, one after the other, from nothing but their changes: what is stored of trees
// is not looked at, and nothing is written. It is for one goroutine.
type Replay struct {
	r     *Repo // another view of the repository, with trees of its own, in memory
	ctx   context.Context
	grown map[uint32]*grownState
	// next is the number of the next generation of trees.
	next  uint64
	steps int
}

// replayedBytes is from what size on the trees of a replay are cleared of what is out of use.
const replayedBytes = 64 << 20

// NewReplay begins with nothing.
func (r *Repo) NewReplay(ctx context.Context) (*Replay, error) {
	of := &Repo{root: r.root, dir: r.dir, fs: vfs.NewMem(), opt: r.opt, store: r.store, kept: newKeptWeaves()}
	of.touched = newTouchedFiles(of.origin)
	of.shared = of.keptReach()
	p := &Replay{r: of, ctx: ctx, grown: map[uint32]*grownState{}, next: 1}
	if _, err := of.openBlocksAt(p.next); err != nil {
		return nil, err
	}
	p.grown[NoState] = &grownState{ref: StateRef{Num: NoState}, tree: of.blocks.Tree(state.Root{}), set: &state.Set{}}
	return p, nil
}

// openBlocksAt begins trees of a generation, in memory.
func (r *Repo) openBlocksAt(generation uint64) (b *state.Blocks, err error) {
	r.blocks, err = state.OpenBlocks(nil, r.dir, state.Hint{Generation: generation})
	return r.blocks, err
}

// Close ends the replay.
func (p *Replay) Close() error {
	if p.r.blocks == nil {
		return nil
	}
	err := p.r.blocks.Close()
	p.r.blocks = nil
	return err
}

// Forget says that no state that comes will stand upon this one.
func (p *Replay) Forget(s uint32) {
	if s != NoState {
		delete(p.grown, s)
	}
}

// errReplayed is a state that is not what its changes make.
var errReplayed = errors.New("the state is not what its changes make it")

// Step makes the tree of a state that one change made upon the union of others, which were made before, and calls give for each
// path at which it differs from the first of them, with what the file there holds.
func (p *Replay) Step(s uint32, parents []uint32, give func(old, new *state.Entry, content func() ([]byte, error)) error) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if err := p.tidy(); err != nil {
		return err
	}
	if p.steps++; p.steps%importChanges == 0 {
		p.r.store.Release()
	}
	if len(parents) == 0 {
		parents = []uint32{NoState}
	}
	var base, first *grownState
	for i, n := range parents {
		g := p.grown[n]
		if g == nil {
			return fmt.Errorf("state %d comes before state %d, upon which it stands", s, n)
		}
		if i == 0 {
			base, first = g, g
			continue
		}
		var err error
		was := base
		if base, err = p.r.uniteGrown(was, g); err != nil {
			return err
		}
		if base != was && base != g {
			for n := range g.set.Minus(*was.set).All() {
				base.hash.Add(p.r.store.ChangeID(n))
			}
		}
	}
	st, err := p.r.store.State(s)
	if err != nil {
		return storeError(err)
	}
	if len(st.Changes) != 1 || len(st.Without) > 0 {
		return errReplayed
	}
	n := st.Changes[0]
	g := &grownState{ref: StateRef{Num: s, ID: st.ID, Len: st.Pos}, hash: base.hash}
	g.hash.Add(p.r.store.ChangeID(n))
	set := base.set.Union(state.NewSet(n))
	g.set = &set
	if id := g.hash.Bytes(); !bytes.Equal(id[:], st.ID[:]) {
		return fmt.Errorf("%w: its id is another", errReplayed)
	}
	if g.tree, err = p.r.grow(base.tree, n); err != nil {
		return err
	}
	if g.tree.Disputed() {
		return fmt.Errorf("%w: conflicts are open", errReplayed)
	}
	p.grown[s] = g
	return state.Diff(first.tree, g.tree, func(old, new *state.Entry) error {
		return give(old, new, func() ([]byte, error) { return p.r.contentKept(new) })
	})
}

// grow gives the tree with one change more, which was recorded upon it.
func (r *Repo) grow(tree state.Tree, n uint32) (state.Tree, error) {
	b, err := r.bodyOf(n)
	if err != nil {
		return tree, storeError(err)
	}
	if b.undoes != NoState || tree.Disputed() {
		f, err := r.newFuse(tree, r.newReach())
		if err != nil {
			return tree, err
		}
		f.upon = b.undoes == NoState
		if err := f.add(n); err != nil {
			return tree, err
		}
		return f.finish()
	}
	o := r.newOverlay(tree)
	if err := o.apply(n, b.files, nil); err != nil {
		return tree, err
	}
	return o.finish()
}

// contentKept is content, from what is kept if it is there.
func (r *Repo) contentKept(e *state.Entry) ([]byte, error) {
	if l := r.kept.find(e); l != nil && l.shown != nil {
		return l.shown, nil
	}
	return r.content(nil, e)
}

// tidy clears the trees of what is out of use.
func (p *Replay) tidy() error {
	if b := p.r.blocks; b.Size() < replayedBytes || !b.ShouldCompact() {
		return nil
	}
	var keep []uint32
	for n, g := range p.grown {
		if n != NoState {
			p.r.blocks.PutRoot(state.StateRoot{State: n, Root: g.tree.Root()})
			keep = append(keep, n)
		}
	}
	p.next++
	next, err := p.r.blocks.Compact(keep, p.next, nil)
	if err != nil {
		return err
	}
	if err := p.r.blocks.Close(); err != nil {
		return err
	}
	p.r.blocks = next
	p.r.kept.move(next.TakeMoved(), p.next)
	for n, g := range p.grown {
		if n == NoState {
			g.tree = next.Tree(state.Root{})
			continue
		}
		root, ok, err := next.Root(n)
		if err != nil || !ok {
			return errors.Join(err, fmt.Errorf("the tree of state %d is gone", n))
		}
		g.tree = next.Tree(root.Root)
	}
	return nil
}
