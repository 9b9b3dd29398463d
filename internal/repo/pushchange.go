package repo

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// planChange plans to give a remote's bookmark one change, with what it builds on and nothing else: the bookmark there then has both that and
// what it had. It need not be here.
func (p *pushing) planChange() error {
	r := p.r
	v, err := r.view()
	if err != nil {
		return err
	}
	name := p.opt.Bookmark
	if name == "" {
		if name = v.Current; name == "" {
			return &Error{Text: "no bookmark is current: to which one there?", Next: "Name it: oxy push --change CHANGE REMOTE BOOKMARK"}
		}
	}
	n, err := r.ResolveChange(p.opt.Change)
	if err != nil {
		return err
	}
	u := &sync.Update{Kind: sync.Bookmark, Name: name}
	out := Pushed{Kind: sync.Bookmark.String(), Name: name, Fresh: true}
	base := StateRef{Num: NoState}
	var there, sent state.Set // what the bookmark has, and what the other side has as far as it is known here
	for i, ref := range p.refs {
		is := ref.Kind == sync.Bookmark && ref.Name == name
		if ref.Kind == sync.Tag && ref.Name == name {
			return &Error{Text: fmt.Sprintf("%s is a tag at %s, and tags stay where they are", safepath.Quote(name), safepath.Quote(p.res.Remote)), Next: "Name a bookmark: oxy push --change CHANGE REMOTE BOOKMARK"}
		}
		if !is && i >= lookedAt {
			continue
		}
		s, ok, err := r.stateBy(v, ref.State)
		if err != nil {
			return err
		}
		if !ok && is {
			return &Error{Text: fmt.Sprintf("%s of %s has changes that are not here, so what it would be with one more cannot be told", safepath.Quote(name), safepath.Quote(p.res.Remote)),
				Next: "Get them first: oxy fetch. It moves nothing of yours. Then push again."}
		}
		if !ok {
			continue
		}
		set, err := r.setOf(s.Num)
		if err != nil {
			return err
		}
		if sent = sent.Union(set); is {
			out.Fresh, base, there = false, s, set
		}
	}
	added := r.newReach().closure([]uint32{n}, there.Has)
	slices.Sort(added) // what a change builds on has a lower number
	u.Old, u.Base = base.ID, base.ID
	if len(added) == 0 {
		out.Same, out.State = true, base
		p.res.Refs = append(p.res.Refs, out)
		return nil
	}
	sum, err := state.ParseSetHash(base.ID)
	if err != nil {
		return err
	}
	for _, n := range added {
		sum.Add(r.store.ChangeID(n))
		if !sent.Has(n) {
			p.nums = append(p.nums, n)
		}
	}
	u.State, u.Added = sum.Bytes(), r.idsInOrder(added)
	out.State = StateRef{Num: NoState, ID: u.State, Len: base.Len + uint64(len(added))}
	p.of = append(p.of, len(p.res.Refs))
	p.res.Refs = append(p.res.Refs, out)
	p.updates = append(p.updates, u)
	return nil
}

// lookedAt is of how many names of the other side it is looked at what they have.
const lookedAt = 64

// settleChange notes where the remote's bookmark is now.
func (p *pushing) settleChange() error {
	out := &p.res.Refs[0]
	if out.Refused != "" || out.Same {
		return nil
	}
	_, err := transact(p.r, func(t *tx) (_ struct{}, err error) {
		if out.State, err = t.takeState(p.updates[0], nil, nil); err != nil {
			return struct{}{}, err
		}
		t.track(p.l.name, out.Name, out.State)
		if err := t.passedOver(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.commit("push")
	})
	return err
}
