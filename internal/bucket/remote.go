package bucket

import (
	"context"
	"errors"
	"fmt"
	"slices"
	gosync "sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// Local is what a bucket needs to know of the repository that asks it.
type Local interface {
	// States gives the ids of the states that names stand for there.
	States() ([][32]byte, error)
	// IDs gives the changes of such a state.
	IDs(state [32]byte) ([]change.ID, error)
}

// Remote answers what a repository asks of a bucket, in the repository's own process. Requests come one after another.
type Remote struct {
	store  Store
	prefix string // of objects' names, "" or with a slash at its end
	local  Local

	root   *rooted     // as it was when it was listed: what follows speaks of that
	signed *signatures // as they were when they were first needed after that
	tables *tableCache
	sets   map[[32]byte]*sync.IDSet // of states that were told apart

	mu     gosync.Mutex
	failed error // of the last request: the pipe between has words for it only
}

// New gives access to what lies under a prefix of a store.
func New(store Store, prefix string, local Local) *Remote {
	if prefix != "" {
		prefix += "/"
	}
	b := &Remote{store: store, prefix: prefix, local: local, sets: map[[32]byte]*sync.IDSet{}}
	b.tables = &tableCache{b: b, kept: map[Key]Table{}}
	return b
}

// Dial makes a peer of it.
func (b *Remote) Dial(ctx context.Context, release func() error) sync.Peer {
	return &peer{sync.Local(ctx, b, release), b}
}

// peer gives errors as they are, where the handler's went through a pipe.
type peer struct {
	sync.Peer
	b *Remote
}

func (p *peer) Do(ctx context.Context, send func(*sync.Writer) error, receive func(*sync.Reader) error) error {
	p.b.setFailed(nil)
	err := p.Peer.Do(ctx, send, receive)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, refused := errors.AsType[*sync.RemoteError](err); refused {
		p.b.mu.Lock()
		defer p.b.mu.Unlock()
		if p.b.failed != nil {
			return p.b.failed
		}
	}
	return err
}

func (b *Remote) setFailed(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = err
}

// Handle answers one request.
func (b *Remote) Handle(ctx context.Context, in *sync.Reader, out *sync.Writer) error {
	err := b.handle(ctx, in, out)
	if err != nil {
		b.setFailed(err)
	}
	return err
}

func (b *Remote) handle(ctx context.Context, in *sync.Reader, out *sync.Writer) error {
	q, err := in.Request()
	if err != nil {
		return err
	}
	if q.Verb == sync.List || b.root == nil {
		if b.root, err = b.readRoot(ctx); err != nil {
			return err
		}
		b.signed = nil
	}
	switch q.Verb {
	case sync.List:
		return b.list(q, out)
	case sync.Fetch:
		return b.fetch(ctx, q, out)
	case sync.Ranges:
		return b.ranges(ctx, q, out)
	case sync.Take:
		return b.take(ctx, q, out)
	case sync.Single:
		return b.single(ctx, q, out)
	case sync.Push:
		return b.push(ctx, in, out)
	case sync.SignedSets:
		return b.signedSets(ctx, q, out)
	case sync.TakeSigned:
		return b.takeSigned(ctx, q, out)
	case sync.GiveSigned:
		return b.giveSigned(ctx, q, out)
	}
	return &sync.RefusedError{Text: fmt.Sprintf("there is no request %d to a bucket", q.Verb)}
}

func (b *Remote) list(q *sync.Request, out *sync.Writer) error {
	if err := out.Reply(); err != nil {
		return err
	}
	for _, ref := range b.root.Refs() {
		if err := out.Ref(ref); err != nil {
			return err
		}
	}
	if !q.Marked {
		return nil
	}
	return out.Marked(markOf(b.root.Root))
}

// wanted finds the names that are asked for.
func (b *Remote) wanted(refs []sync.Ref) ([]*Name, error) {
	out := make([]*Name, len(refs))
	for i, ref := range refs {
		n, ok := b.root.Name(ref.Kind, ref.Name)
		if !ok {
			return nil, &sync.RefusedError{Text: fmt.Sprintf("there is no %s %s", ref.Kind, safepath.Quote(ref.Name))}
		}
		out[i] = n
	}
	return out, nil
}

// lacking finds the segments that lead from what the asker has to names' states.
func (b *Remote) lacking(ctx context.Context, names []*Name, haves map[[32]byte]bool) ([]extent, error) {
	from := make([]made, len(names))
	for i, n := range names {
		from[i] = made{n.Generation, n.State}
	}
	ahead := 1
	if len(haves) == 0 {
		ahead = tablesAtOnce
	}
	tables := b.tablesBackward(b.root.Root, ahead)
	defer tables.close()
	return b.walk(ctx, b.root.Root, from, func(s [32]byte) bool { return haves[s] }, tables)
}

// fetch sends the changes that lead to names, and tells of each name by what the asker has.
func (b *Remote) fetch(ctx context.Context, q *sync.Request, out *sync.Writer) error {
	names, err := b.wanted(q.Wants)
	if err != nil {
		return err
	}
	haves := sync.StateSet(q.Haves)
	extents, err := b.lacking(ctx, names, haves)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	s := newStory(haves)
	if err := b.send(ctx, extents, q.DryRun, out, s); err != nil {
		return err
	}
	var first *[32]byte
	for _, n := range names {
		t, ok := s.tell(n.State, first)
		if !ok {
			return malformed("nothing leads to %s %s", n.Kind, safepath.Quote(n.Name))
		}
		u := &sync.Update{Kind: n.Kind, Name: n.Name, Base: t.base, Removed: t.removed, Added: t.added, State: n.State}
		if err := out.Update(u); err != nil {
			return err
		}
		if first == nil && !haves[n.State] {
			first = &n.State
		}
	}
	return nil
}

// send copies the changes of segments, each once, or tells of them in a dry run.
func (b *Remote) send(ctx context.Context, extents []extent, dry bool, out *sync.Writer, s *story) error {
	sent := map[change.ID]struct{}{}
	skip := func(id change.ID) bool {
		_, before := sent[id]
		sent[id] = struct{}{}
		return before
	}
	update := func(u *sync.Update) error {
		s.add(u)
		return nil
	}
	return b.streams(ctx, extents, func(_ int, in *sync.Reader) error {
		if dry {
			return previews(in, out, skip, update)
		}
		return in.Pass(out, skip, update)
	})
}

// single sends what the names have beyond the asker's states: the change that is asked for is among it, or is not in the bucket. Which of the changes
// need which others is not written in a bucket.
func (b *Remote) single(ctx context.Context, q *sync.Request, out *sync.Writer) error {
	var names []*Name
	for i := range b.root.Names {
		names = append(names, &b.root.Names[i])
	}
	haves := sync.StateSet(q.Haves)
	extents, err := b.lacking(ctx, names, haves)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return b.send(ctx, extents, q.DryRun, out, newStory(haves))
}

// take sends of what leads to a name the changes that are asked for, for who has their states and not their bytes any more. All of it is read,
// since a bucket does not say where which change lies.
func (b *Remote) take(ctx context.Context, q *sync.Request, out *sync.Writer) error {
	if len(q.Wants) != 1 || q.DryRun {
		return &sync.RefusedError{Text: "the request names nothing, or too much"}
	}
	names, err := b.wanted(q.Wants)
	if err != nil {
		return err
	}
	wanted := map[change.ID]bool{}
	for i, id := range q.IDs {
		wanted[id] = q.Lacks[i]
	}
	extents, err := b.lacking(ctx, names, nil)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	skip := func(id change.ID) bool {
		is := wanted[id]
		delete(wanted, id)
		return !is
	}
	return b.streams(ctx, extents, func(_ int, in *sync.Reader) error {
		return in.Pass(out, skip, func(*sync.Update) error { return nil })
	})
}

// ranges tells the set of a name's state apart from the asker's. What it has is known here once the segments up to a state of the asker's were read.
func (b *Remote) ranges(ctx context.Context, q *sync.Request, out *sync.Writer) error {
	if len(q.Wants) != 1 {
		return &sync.RefusedError{Text: "the request names nothing, or too much"}
	}
	names, err := b.wanted(q.Wants)
	if err != nil {
		return err
	}
	set, ok := b.sets[names[0].State]
	if !ok {
		if set, err = b.idSet(ctx, names[0]); err != nil {
			return err
		}
		b.sets[names[0].State] = set
	}
	answers, err := set.Answer(q.Ranges)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Ranges(answers)
}

// idSet is the set of a name's state: what the nearest of the asker's states has, and what leads on from there. Where the asker cannot
// say what that has, as with damage, all is read.
func (b *Remote) idSet(ctx context.Context, n *Name) (*sync.IDSet, error) {
	states, err := b.local.States()
	if err == nil {
		var set *sync.IDSet
		if set, err = b.idSetFrom(ctx, n, sync.StateSet(states)); err == nil || !errors.Is(err, errLocal) {
			return set, err
		}
	}
	return b.idSetFrom(ctx, n, nil)
}

var errLocal = errors.New("what the asker has cannot be read")

func (b *Remote) idSetFrom(ctx context.Context, n *Name, haves map[[32]byte]bool) (*sync.IDSet, error) {
	extents, err := b.lacking(ctx, []*Name{n}, haves)
	if err != nil {
		return nil, err
	}
	s := newStory(haves)
	err = b.streams(ctx, extents, func(_ int, in *sync.Reader) error {
		return in.Pass(nil, nil, func(u *sync.Update) error {
			s.add(u)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	t, ok := s.tell(n.State, nil)
	if !ok {
		return nil, malformed("nothing leads to %s %s", n.Kind, safepath.Quote(n.Name))
	}
	var ids []change.ID
	if t.base != ([32]byte{}) {
		if ids, err = b.local.IDs(t.base); err != nil {
			return nil, fmt.Errorf("%w: %w", errLocal, err)
		}
	}
	gone := map[change.ID]struct{}{}
	for _, id := range t.removed {
		gone[id] = struct{}{}
	}
	ids = slices.DeleteFunc(ids, func(id change.ID) bool { _, out := gone[id]; return out })
	return sync.NewIDSet(append(ids, t.added...)), nil
}
