package bucket

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	gosync "sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// client is a repository as far as a bucket is concerned: logs of changes, each a state, and nothing about what is in them.
type client struct {
	store  Store
	states map[[32]byte][]change.ID
}

func newClient(s Store) *client { return &client{s, map[[32]byte][]change.ID{{}: nil}} }

// stateOf names the set of a log. It is as good as a sum of points, and cheaper.
func stateOf(log []change.ID) (s [32]byte) {
	if len(log) == 0 {
		return s
	}
	sorted := slices.Clone(log)
	change.SortIDs(sorted)
	h := sha256.New()
	for _, id := range sorted {
		h.Write(id[:])
	}
	return [32]byte(h.Sum(nil))
}

func (c *client) know(log []change.ID) [32]byte {
	s := stateOf(log)
	c.states[s] = log
	return s
}

func (c *client) States() (out [][32]byte, err error) {
	for s := range c.states {
		if s != ([32]byte{}) {
			out = append(out, s)
		}
	}
	return out, nil
}

func (c *client) IDs(state [32]byte) ([]change.ID, error) { return slices.Clone(c.states[state]), nil }

func (c *client) dial(ctx context.Context) (*Remote, sync.Peer) {
	b := New(c.store, "project", c)
	return b, b.Dial(ctx, func() error { return nil })
}

func list(ctx context.Context, p sync.Peer) (refs []sync.Ref, err error) {
	err = p.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.List}) },
		func(r *sync.Reader) error {
			if err := r.Reply(); err != nil {
				return err
			}
			refs, err = r.Refs()
			return err
		})
	return refs, err
}

func refOf(refs []sync.Ref, kind sync.RefKind, name string) (out sync.Ref) {
	for _, ref := range refs {
		if ref.Kind == kind && ref.Name == name {
			return ref
		}
	}
	return out
}

// pushOne is a push of one name: to a log, of which the changes after the first n are new.
type pushOne struct {
	kind  sync.RefKind
	name  string
	log   []change.ID
	force bool
}

// push tells of each name by what the bucket has it at, if that is known here, and else by nothing.
func (c *client) push(ctx context.Context, ps ...pushOne) ([]sync.Answer, error) {
	_, peer := c.dial(ctx)
	defer peer.Close()
	refs, err := list(ctx, peer)
	if err != nil {
		return nil, err
	}
	return c.pushTo(ctx, peer, refs, ps...)
}

func (c *client) pushTo(ctx context.Context, peer sync.Peer, refs []sync.Ref, ps ...pushOne) (answers []sync.Answer, err error) {
	var updates []*sync.Update
	sent := map[change.ID]bool{}
	var news []change.ID
	for _, p := range ps {
		ref := refOf(refs, p.kind, p.name)
		u := &sync.Update{Kind: p.kind, Name: p.name, Old: ref.State, State: c.know(p.log), Force: p.force}
		from, ok := c.states[ref.State]
		if ok {
			u.Base = ref.State
		} else if !p.force {
			return []sync.Answer{{Pull: true}}, nil
		}
		u.Removed, u.Added = less(from, p.log), less(p.log, from)
		for _, id := range u.Added {
			if !sent[id] {
				sent[id] = true
				news = append(news, id)
			}
		}
		updates = append(updates, u)
	}
	err = peer.Do(ctx, func(w *sync.Writer) error {
		if err := w.Request(&sync.Request{Verb: sync.Push}); err != nil {
			return err
		}
		for _, id := range news {
			if err := send(w, id); err != nil {
				return err
			}
		}
		for _, u := range updates {
			if err := w.Update(u); err != nil {
				return err
			}
		}
		return nil
	}, func(r *sync.Reader) error {
		if err := r.Reply(); err != nil {
			return err
		}
		answers, err = r.Answers()
		return err
	})
	return answers, err
}

// less is a without what is in b.
func less(a, b []change.ID) (out []change.ID) {
	in := make(map[change.ID]struct{}, len(b))
	for _, id := range b {
		in[id] = struct{}{}
	}
	for _, id := range a {
		if _, ok := in[id]; !ok {
			out = append(out, id)
		}
	}
	return out
}

// bodies are the changes that tests made, by their ids.
var bodies gosync.Map

// newChange makes a change whose message is its name.
func newChange(name string) change.ID {
	ch := &change.Change{Message: name}
	meta, body := change.Encode(ch)
	id := change.Sum(meta, body)
	bodies.Store(id, ch)
	return id
}

func send(w *sync.Writer, id change.ID) error {
	v, _ := bodies.Load(id)
	ch := v.(*change.Change)
	meta, body := change.Encode(ch)
	return w.Change(&sync.Change{ID: id, Meta: meta, Body: body, Change: ch}, nil)
}

// fetched is what a fetch brought.
type fetched struct {
	refs    []sync.Ref
	changes map[change.ID]bool
	logs    map[[32]byte][]change.ID
}

// fetch takes names, all if wants is nil, telling of some states that it has, and puts their logs together.
func (c *client) fetch(ctx context.Context, haves [][32]byte, wants func(sync.Ref) bool) (*fetched, error) {
	_, peer := c.dial(ctx)
	defer peer.Close()
	refs, err := list(ctx, peer)
	if err != nil {
		return nil, err
	}
	q := &sync.Request{Verb: sync.Fetch, Haves: haves}
	for _, ref := range refs {
		if wants == nil || wants(ref) {
			q.Wants = append(q.Wants, ref)
		}
	}
	f := &fetched{refs: q.Wants, changes: map[change.ID]bool{}, logs: map[[32]byte][]change.ID{{}: nil}}
	if len(q.Wants) == 0 {
		return f, nil
	}
	known := map[change.ID]bool{}
	for _, s := range haves {
		f.logs[s] = c.states[s]
		for _, id := range c.states[s] {
			known[id] = true
		}
	}
	told := 0
	err = peer.Do(ctx, func(w *sync.Writer) error { return w.Request(q) }, func(r *sync.Reader) error {
		if err := r.Reply(); err != nil {
			return err
		}
		return r.Pack(sync.Receiver{
			Known: func(change.ID) bool { return false },
			Change: func(ch *sync.Change, t *sync.Texts) error {
				if f.changes[ch.ID] {
					return fmt.Errorf("change %s came twice", ch.Change.Message)
				}
				f.changes[ch.ID] = true
				if _, _, err := t.Next(); err != io.EOF {
					return fmt.Errorf("a content: %w", err)
				}
				return nil
			},
			Update: func(u *sync.Update) error {
				log, ok := f.logs[u.Base]
				if !ok {
					return fmt.Errorf("%s is told by a state that is not known", u.Name)
				}
				log = append(less(log, u.Removed), u.Added...)
				if stateOf(log) != u.State || q.Wants[told].State != u.State || q.Wants[told].Len != uint64(len(log)) {
					return fmt.Errorf("%s is not what its update says", u.Name)
				}
				for _, id := range log {
					if !known[id] && !f.changes[id] {
						return fmt.Errorf("%s has a change that did not come", u.Name)
					}
				}
				f.logs[u.State] = log
				told++
				return nil
			},
		})
	})
	if err == nil && told != len(q.Wants) {
		err = fmt.Errorf("%d names were told of, not %d", told, len(q.Wants))
	}
	return f, err
}
