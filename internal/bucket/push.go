package bucket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oxy-vcs/oxy/internal/s3"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

const (
	// swaps is how often a root is tried to be replaced: each time somebody else was faster.
	swaps = 64
	// packAge is how long after its last piece a pack may still be put into the root. A sweep waits for twice that.
	packAge = 12 * time.Hour
)

// pushed is a push whose pack lies in the store.
type pushed struct {
	pack    Pack
	bytes   uint64 // of its one segment
	last    time.Time
	updates []*sync.Update
	seen    *rooted // what the pusher told its updates by
}

// push writes the changes that come into a pack, and moves names.
func (b *Remote) push(ctx context.Context, in *sync.Reader, out *sync.Writer) error {
	p := &pushed{seen: b.root}
	w := b.newPack(ctx)
	err := w.segment(nil, func(to *sync.Writer) error {
		return in.Pass(to, nil, func(u *sync.Update) error {
			p.updates = append(p.updates, u)
			stored := *u
			stored.Old, stored.Force = [32]byte{}, false
			return to.Update(&stored)
		})
	})
	if err != nil {
		w.close()
		return err
	}
	if p.pack, err = w.finish(false); err != nil {
		return err
	}
	p.bytes, p.last = w.table[0].Bytes, w.last
	answers, err := b.commit(ctx, p)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	for _, a := range answers {
		if err := out.Answer(a); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(answers, func(a sync.Answer) bool { return a.Done }) {
		b.tidy(ctx)
	}
	return nil
}

// commit moves the names that stand where the pusher saw them.
func (b *Remote) commit(ctx context.Context, p *pushed) ([]sync.Answer, error) {
	at := b.root
	for try := range swaps {
		if at.date.Sub(p.last) > packAge {
			return nil, ErrSlow
		}
		next, answers, err := b.apply(ctx, at, p, try > 0)
		if err != nil {
			return nil, err
		}
		if next == nil {
			b.root = at
			return answers, nil
		}
		if at.etag == "" {
			if err := b.probe(ctx); err != nil {
				return nil, err
			}
		}
		now, err := b.swap(ctx, at, next)
		if err == nil {
			b.root = now
			return answers, nil
		}
		if ctx.Err() != nil || isRefused(err) {
			return nil, err
		}
		// Perhaps it was done and only the answer is lost: the root tells.
		if canceled := b.yield(ctx, try); canceled != nil {
			return nil, canceled
		}
		root, failed := b.readRoot(ctx)
		if failed != nil {
			return nil, fmt.Errorf("%w: %w", ErrUncertain, err)
		}
		at = root
	}
	return nil, ErrBusy
}

// yield waits a little before the next try, a while longer each time: whoever lost together would else lose together again.
func (b *Remote) yield(ctx context.Context, try int) error {
	most := 4 * time.Millisecond << min(try, 4)
	return sync.Sleep(ctx, rand.N(most))
}

// apply plans the root after a push, nil if it would be the same, and what to answer to each update. again says that it may have been done already.
func (b *Remote) apply(ctx context.Context, at *rooted, p *pushed, again bool) (*Root, []sync.Answer, error) {
	next := at.next()
	var moves []Move
	var answers []sync.Answer
	for _, u := range p.updates {
		a, m, err := next.judge(u, p.seen.Root)
		if err != nil {
			return nil, nil, err
		}
		if again && !a.Done {
			if did, err := b.passed(ctx, at, u); err != nil {
				return nil, nil, err
			} else if did {
				a = sync.Answer{Done: true}
			}
		}
		answers = append(answers, a)
		if m != nil {
			moves = append(moves, *m)
		}
	}
	if len(moves) == 0 {
		return nil, answers, nil
	}
	if slices.ContainsFunc(next.Packs, func(o Pack) bool { return o.Key == p.pack.Key }) {
		return nil, nil, errors.New("a name was moved, and moved back, while it was pushed: try again")
	}
	if len(next.Packs) >= maxPacks {
		return nil, nil, errTooManyPacks
	}
	if len(next.Names) > maxNames {
		return nil, nil, errTooManyNames
	}
	pack := p.pack
	pack.setTable(Table{{p.bytes, moves}})
	next.Packs = append(next.Packs, pack)
	return next, answers, nil
}

// next is a copy to be changed.
func (r *rooted) next() *Root {
	n := *r.Root
	n.Generation++
	n.Packs, n.Names = slices.Clone(n.Packs), slices.Clone(n.Names)
	return &n
}

// judge moves one name, if it stands where the pusher saw it. seen is the root that the update is told by.
func (r *Root) judge(u *sync.Update, seen *Root) (sync.Answer, *Move, error) {
	other := sync.Bookmark + sync.Tag - u.Kind
	if _, ok := r.Name(other, u.Name); ok {
		return sync.Answer{Text: fmt.Sprintf("there is something else called %s", safepath.Quote(u.Name))}, nil, nil
	}
	now, there := r.Name(u.Kind, u.Name)
	if !there {
		now = &Name{}
	}
	switch {
	case u.State == [32]byte{}:
		return sync.Answer{Text: "a name without a change"}, nil, nil
	case now.State == u.State:
		return sync.Answer{Done: true}, nil, nil
	case u.Kind == sync.Tag && there && !u.Force:
		return sync.Answer{Text: fmt.Sprintf("the tag %s is there already, at another state", safepath.Quote(u.Name))}, nil, nil
	case now.State != u.Old, len(u.Removed) > 0 && there && !u.Force:
		return sync.Answer{Pull: true, Text: fmt.Sprintf("%s has changes that you have not", safepath.Quote(u.Name))}, nil, nil
	}
	m := &Move{Generation: r.Generation, State: u.State, Base: u.Base}
	count := uint64(0)
	if u.Base != [32]byte{} {
		i := slices.IndexFunc(seen.Names, func(n Name) bool { return n.State == u.Base })
		if i < 0 {
			return sync.Answer{}, nil, errors.New("a push is told by a state that no name of the bucket stands for")
		}
		m.BaseGeneration, count = seen.Names[i].Generation, seen.Names[i].Len
	}
	if uint64(len(u.Removed)) > count {
		return sync.Answer{}, nil, errors.New("a push removes more than there is")
	}
	r.set(Name{u.Kind, u.Name, u.State, count - uint64(len(u.Removed)) + uint64(len(u.Added)), r.Generation})
	if r.First == "" && u.Kind == sync.Bookmark {
		r.First = u.Name
	}
	return sync.Answer{Done: true}, m, nil
}

// passed tells whether a name passed through the state that was pushed.
func (b *Remote) passed(ctx context.Context, at *rooted, u *sync.Update) (bool, error) {
	n, ok := at.Name(u.Kind, u.Name)
	if !ok {
		return false, nil
	}
	found := false
	_, err := b.walk(ctx, at.Root, []made{{n.Generation, n.State}}, func(s [32]byte) bool {
		found = found || s == u.State
		return found || s == u.Old
	}, b.tables)
	return found, err
}

// isRefused tells of the error of a conditional write whether trying again is of no use: the store refused it, and neither because somebody was
// faster nor for a fault of its own. Of any other error nobody knows whether it was done.
func isRefused(err error) bool {
	said, ok := errors.AsType[*s3.Error](err)
	return ok && !errors.Is(err, s3.ErrCondition) && said.Status/100 != 5
}
