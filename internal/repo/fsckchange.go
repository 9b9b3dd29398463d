package repo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// changes checks every change by itself and against those it names.
func (c *checker) changes() error {
	n := c.r.store.NumChanges()
	c.res.Changes = uint64(n)
	return c.each("Checking changes", n, func(n uint32) {
		f := finding{change: int64(n), state: -1}
		f.Change = c.r.store.ChangeID(n)
		if err := c.change(n, &f.Problem); err != nil {
			f.Text = fmt.Sprintf("change %s: %v", f.Change.Short(), err)
			c.find(f)
		}
	})
}

// errHollow is a change that nobody had when the log was mended: nothing but its id and what it depends on is known.
var errHollow = errors.New("it was damaged, and no copy had it when the log was mended")

// change checks change n. The paths of what it brought and cannot be had go to p.
func (c *checker) change(n uint32, p *Problem) error {
	rec, err := c.r.store.Change(n)
	if err != nil {
		return err
	}
	if len(rec.Meta)+len(rec.Body) == 0 {
		return errHollow
	}
	if change.Sum(rec.Meta, rec.Body) != rec.ID {
		return errors.New("it has another hash than its name")
	}
	if m, ok := c.r.store.FindChange(rec.ID); !ok || m != n {
		return errors.New("it cannot be found by its name")
	}
	ch, err := change.Decode(rec.Meta, rec.Body)
	if err != nil {
		return err
	}
	if c.r.store.ChangeTime(n) != ch.Time.Sec {
		return errors.New("the store has another time for it")
	}
	if err := c.named(n, ch); err != nil {
		return err
	}
	if err := ch.Bind(n, c.r.store.FindChange); err != nil {
		return err
	}
	if err := c.covers(n, ch); err != nil {
		return err
	}
	if err := unhashed(rec.ID, rec.Unhashed); err != nil {
		return err
	}
	for i := range ch.DirMoves {
		if err := errors.Join(safepath.Check(ch.DirMoves[i].From), safepath.Check(ch.DirMoves[i].To)); err != nil {
			return err
		}
	}
	return c.files(ch.Files, rec.Texts, p)
}

// named checks the changes that a change names: they are there, were before it, and the store has the same.
func (c *checker) named(n uint32, ch *change.Change) error {
	var deps []uint32
	for i, ids := range [][]change.ID{ch.Deps, ch.Others} {
		for _, id := range ids {
			m, ok := c.r.store.FindChange(id)
			if !ok {
				return fmt.Errorf("change %s, which it names, is missing", id.Short())
			}
			if m >= n {
				return fmt.Errorf("change %s, which it names, came after it", id.Short())
			}
			if i == 0 {
				deps = append(deps, m)
			}
		}
	}
	stored := slices.Clone(c.r.store.Deps(n))
	slices.Sort(stored)
	slices.Sort(deps)
	if !slices.Equal(stored, deps) {
		return errors.New("the store has other dependencies for it")
	}
	return nil
}

// unhashed checks what stands beside a change: each signature is one of this change by the key that it names.
func unhashed(id change.ID, part []byte) error {
	entries, err := sign.DecodePart(part)
	if err != nil {
		return fmt.Errorf("its signatures: %w", err)
	}
	for _, e := range entries {
		if err := sign.CheckEntry(id, e); err != nil {
			return fmt.Errorf("a signature of it: %w", err)
		}
	}
	return nil
}

// signatures checks those that came after their changes.
func (c *checker) signatures() error {
	v, err := c.r.store.View()
	if err != nil {
		return nil // told with its operation
	}
	if _, err := c.r.signedCheckpoints(v); err != nil {
		c.find(finding{Problem{Text: fmt.Sprintf("the signed checkpoints cannot be had: %v", err)}, -1, -1})
	}
	hashes, err := signedHashes(v.Kept[keptSigned])
	tell := func(id change.ID, n int64, format string, args ...any) {
		c.find(finding{Problem{Text: fmt.Sprintf(format, args...), Change: id}, n, -1})
	}
	if err != nil {
		tell(change.ID{}, -1, "the signatures that came later: %v", err)
	}
	for _, h := range hashes {
		b, err := c.r.signedBlob(h)
		if err == nil {
			err = eachSigned(b, func(id change.ID, part []byte) error {
				n, ok := c.r.store.FindChange(id)
				if !ok {
					return nil // of one that gc dropped
				}
				if err := unhashed(id, part); err != nil {
					tell(id, int64(n), "change %s: %v", id.Short(), err)
				}
				return nil
			})
		}
		if err != nil {
			tell(change.ID{}, -1, "signatures that came later cannot be had: %v", err)
		}
	}
	return context.Cause(c.ctx)
}

// files checks the paths of a change's files and what came with them.
func (c *checker) files(files []change.File, texts []byte, p *Problem) error {
	var first error
	inline, at := len(texts) > 0, uint64(0)
	for i := range files {
		f := &files[i]
		if f.Writes&change.WritesPlace != 0 {
			if err := safepath.Check(f.Path); err != nil {
				return err
			}
		}
		if f.Size == 0 {
			continue
		}
		var err error
		if inline && f.Size < inlineBelow {
			if at+f.Size > uint64(len(texts)) {
				return errors.New("the texts that came with it are cut short")
			}
			if hashOf(texts[at:at+f.Size]) != f.Content {
				err = errors.New("a text that came with it has another hash")
			}
			at += f.Size
		} else {
			err = c.content(f)
		}
		if err != nil {
			p.addPath(c.pathOf(f))
			first = cmp.Or(first, err)
		}
	}
	if at != uint64(len(texts)) {
		return errors.New("it has more text than its files")
	}
	return first
}

// content checks a content that lies by itself in the store, where its hash was proved already.
func (c *checker) content(f *change.File) error {
	size, ok := c.r.store.BlobSize(f.Content)
	switch {
	case !ok && c.promised.has(f.Content):
		c.mu.Lock()
		if c.lacks == nil {
			c.lacks = map[change.Hash]struct{}{}
		}
		c.lacks[f.Content] = struct{}{}
		c.res.Promised = uint64(len(c.lacks))
		c.mu.Unlock()
	case !ok:
		return fmt.Errorf("content %s is missing", f.Content)
	case c.bad[f.Content] || size < 0: // so damaged that even its length is lost
		return fmt.Errorf("content %s is damaged", f.Content)
	case uint64(size) != f.Size:
		return fmt.Errorf("content %s has %d bytes, not %d", f.Content, size, f.Size)
	}
	return nil
}

// pathOf is a path under which a person knows a file that a change edits: its own, or that which the file was added with.
func (c *checker) pathOf(f *change.File) string {
	if f.Writes&change.WritesPlace != 0 {
		return f.Path
	}
	if b, err := c.r.bodyOf(f.ID.Change); err == nil && int(f.ID.Ord) < len(b.files) {
		return b.files[f.ID.Ord].Path
	}
	return fmt.Sprintf("file %d of change %s", f.ID.Ord, c.r.store.ChangeID(f.ID.Change).Short())
}

// states checks every state: its place in the log, its id, and that each change stands after all that it needs.
func (c *checker) states() error {
	n := c.r.store.NumStates()
	c.res.States = uint64(n)
	tree := newStateTree(n)
	err := c.each("Checking states", n, func(s uint32) {
		tree.parent[s] = unknownParent
		st, err := c.r.store.State(s)
		if err == nil {
			if err = c.inRange(s, &st); err == nil {
				tree.parent[s] = st.Parent
				err = c.state(&st)
			}
		}
		if err != nil {
			c.find(finding{Problem{Text: fmt.Sprintf("state %d: %v", s, err)}, -1, int64(s)})
		}
	})
	if err != nil {
		return err
	}
	tree.link()
	return c.closures(tree)
}

// inRange checks that a state names only what was there before it.
func (c *checker) inRange(s uint32, st *store.State) error {
	if st.Parent >= int64(s) {
		return fmt.Errorf("it follows state %d", st.Parent)
	}
	for _, n := range slices.Concat(st.Changes, st.Without) {
		if n >= c.r.store.NumChanges() {
			return fmt.Errorf("it has change %d of %d", n, c.r.store.NumChanges())
		}
	}
	return nil
}

func (c *checker) state(st *store.State) error {
	var set state.SetHash
	pos := uint64(0)
	if st.Parent >= 0 {
		before, err := c.r.store.State(uint32(st.Parent))
		if err != nil {
			return err
		}
		if set, err = state.ParseSetHash(before.ID); err != nil {
			return err
		}
		pos = before.Pos
	}
	if st.Pos != pos+uint64(len(st.Changes))-uint64(len(st.Without)) {
		return fmt.Errorf("it has position %d, %d changes after %d and without %d", st.Pos, len(st.Changes), pos, len(st.Without))
	}
	for _, n := range st.Without {
		set.Remove(c.r.store.ChangeID(n))
	}
	for _, n := range st.Changes {
		set.Add(c.r.store.ChangeID(n))
	}
	if set.Bytes() != st.ID {
		return errors.New("its id is not that of its changes")
	}
	return nil
}

// unknownParent marks a state that is damaged: what follows it is not gone through.
const unknownParent = -2

// stateTree is all states, each beneath its parent.
type stateTree struct {
	parent      []int64
	first, next []uint32 // child and sibling; NoState for none
}

func newStateTree(n uint32) *stateTree {
	t := &stateTree{parent: make([]int64, n), first: make([]uint32, n), next: make([]uint32, n)}
	for s := range t.first {
		t.first[s], t.next[s] = NoState, NoState
	}
	return t
}

func (t *stateTree) link() {
	for s, p := range slices.Backward(t.parent) {
		if p >= 0 {
			t.next[s], t.first[p] = t.first[p], uint32(s)
		}
	}
}

// walk goes through the tree: a state is entered once those before it are and left once all that follow it are. A state whose parent is not
// known, and what follows it, is passed over.
func (t *stateTree) walk(ctx context.Context, enter func(s uint32) error, leave func(s uint32)) error {
	for root, p := range t.parent {
		if p != -1 {
			continue
		}
		for s := int64(root); s >= 0; {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := enter(uint32(s)); err != nil {
				return err
			}
			if child := t.first[s]; child != NoState {
				s = int64(child)
				continue
			}
			for s >= 0 {
				leave(uint32(s))
				sibling := t.next[s]
				if s == int64(root) {
					s = -1
					break
				}
				if sibling != NoState {
					s = int64(sibling)
					break
				}
				s = t.parent[s]
			}
		}
	}
	return nil
}

// closures goes through the logs of all states, keeping the set of changes that the one at hand has.
func (c *checker) closures(t *stateTree) error {
	l := &logSet{checker: c, has: make([]bool, c.r.store.NumChanges()), needed: make([]uint32, c.r.store.NumChanges())}
	return t.walk(c.ctx, l.enter, l.leave)
}

// logSet is the set of the log at hand.
type logSet struct {
	*checker
	has    []bool
	needed []uint32 // of each change, how many of the log depend on it
}

func (l *logSet) put(n uint32) {
	l.has[n] = true
	for _, d := range l.r.store.Deps(n) {
		l.needed[d]++
	}
}

func (l *logSet) take(n uint32) {
	l.has[n] = false
	for _, d := range l.r.store.Deps(n) {
		l.needed[d]--
	}
}

func (l *logSet) fault(s, n uint32, format string, args ...any) {
	l.find(finding{Problem{Text: fmt.Sprintf(format, args...), Change: l.r.store.ChangeID(n)}, -1, int64(s)})
}

func (l *logSet) enter(s uint32) error {
	st, err := l.r.store.State(s)
	if err != nil {
		return nil // told before
	}
	for _, n := range st.Without {
		if !l.has[n] {
			l.fault(s, n, "state %d leaves out a change that the log before it does not have", s)
		}
		l.take(n)
	}
	for _, n := range st.Without {
		if l.needed[n] > 0 {
			l.fault(s, n, "state %d leaves out change %s, on which others of its log depend", s, l.r.store.ChangeID(n).Short())
		}
	}
	for _, n := range st.Changes {
		if l.has[n] {
			l.fault(s, n, "state %d has a change twice", s)
		}
		for _, d := range l.r.store.Deps(n) {
			if !l.has[d] {
				l.fault(s, n, "state %d has change %s without %s, on which it depends", s, l.r.store.ChangeID(n).Short(), l.r.store.ChangeID(d).Short())
			}
		}
		l.put(n)
	}
	return nil
}

func (l *logSet) leave(s uint32) {
	st, err := l.r.store.State(s)
	if err != nil {
		return
	}
	for _, n := range st.Changes {
		l.take(n)
	}
	for _, n := range st.Without {
		l.put(n)
	}
}
