package repo

import (
	"context"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// signedServed gives the signatures of what the names here have: no more of changes can be had.
func (r *Repo) signedServed(v *store.View) (*signedSet, error) {
	if signedMark(v) == (sync.Mark{}) {
		return &signedSet{at: map[change.ID]int{}}, nil
	}
	visible, _, err := r.reachable(v, v)
	if err != nil {
		return nil, err
	}
	return r.signedIn(v, visible.Has)
}

func (s *Server) signedSets(r *Repo, q *sync.Request, out *sync.Writer) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	set, err := r.signedServed(v)
	if err != nil {
		return err
	}
	answers, err := set.ids().Answer(q.Ranges)
	if err != nil {
		return &Error{Text: err.Error(), Err: err}
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Ranges(answers)
}

func (s *Server) giveAsked(r *Repo, q *sync.Request, out *sync.Writer) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	set, err := r.signedServed(v)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	some := set.some(q.IDs)
	for i := range some {
		if err := out.Signed(&some[i]); err != nil {
			return err
		}
	}
	return nil
}

// signedGiven takes signatures of who may push. They move no name; whether they count is for the rules to say, and for each who looks.
func (s *Server) signedGiven(ctx context.Context, r *Repo, q *sync.Request, out *sync.Writer) error {
	if s.opt.ReadOnly || !sync.CallerOf(ctx).Push {
		return &Error{Text: "you may not push here"}
	}
	s.push.Lock()
	defer s.push.Unlock()
	given := &sync.Given{}
	v, err := r.view()
	if err != nil {
		return err
	}
	given.Before = signedMark(v)
	took, err := r.keepSigned(q.Signed, "receive")
	if err != nil {
		return err
	}
	given.Has = took.has
	if v, err = r.view(); err != nil {
		return err
	}
	given.After = signedMark(v)
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Given(given)
}
