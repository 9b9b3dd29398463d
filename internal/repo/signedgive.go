package repo

import (
	"context"
	"slices"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// giveSigned gives the other side the signatures that it lacks of what its names have, or shall have after this push. Before the push, since a
// bookmark may be one that takes signed changes only; and after it once more what it had no change for.
func (p *pushing) giveSigned(after bool) error {
	r, l := p.r, p.l
	if p.opt.DryRun || l.mark == nil {
		return nil
	}
	v, err := r.view()
	if err != nil {
		return err
	}
	ours := signedMark(v)
	if ours == (sync.Mark{}) {
		return nil
	}
	names := p.names(after)
	if r.agreed(l.agreement(wayGive, *l.mark, ours, nil), l.agreement(wayGive, *l.mark, ours, names)) {
		return nil
	}
	among, err := p.common()
	if err != nil {
		return err
	}
	set, err := r.signedIn(v, among)
	if err != nil {
		return err
	}
	whole := true
	if len(set.list) > 0 {
		lacking, _, err := l.signedApart(p.ctx, set)
		if err != nil {
			return err
		}
		some := set.some(lacking)
		if len(some) > 0 {
			given, err := l.giveSome(p.ctx, some)
			if err != nil {
				return err
			}
			for _, is := range given.Has {
				if is {
					p.res.Signatures++
				}
			}
			whole = !slices.Contains(given.Has, false)
			more := []byte(nil) // what a take that was whole may have noted either way
			if given.Before == *l.mark && r.agreed(l.agreement(wayTake, *l.mark, ours, more)) {
				r.agree(l.agreement(wayTake, given.After, ours, more))
			}
			l.mark = &given.After
		}
		if len(some) < len(lacking) {
			return nil // the next one gives the rest
		}
	}
	if whole {
		names = nil
	}
	r.agree(l.agreement(wayGive, *l.mark, ours, names))
	return nil
}

// names stands for what the names of the other side are, before or after this push: what it leaves now it may take once they are others.
func (p *pushing) names(after bool) []byte {
	refs := slices.Clone(p.refs)
	for i := range p.res.Refs {
		out := &p.res.Refs[i]
		if out.Refused != "" || !after {
			continue
		}
		at := slices.IndexFunc(refs, func(ref sync.Ref) bool { return ref.Kind.String() == out.Kind && ref.Name == out.Name })
		if at < 0 {
			refs, at = append(refs, sync.Ref{Name: out.Name}), len(refs)
		}
		refs[at].State = out.State.ID
	}
	slices.SortFunc(refs, func(a, b sync.Ref) int { return slices.Compare(a.State[:], b.State[:]) })
	h := blake3.New()
	for i := range refs {
		_, _ = h.Write(refs[i].State[:]) // a hash takes whatever is written
	}
	return h.Sum(nil)
}

// common tells of changes whether the other side's names have them, as far as that is known here, or shall have them.
func (p *pushing) common() (func(n uint32) bool, error) {
	r := p.r
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	var all state.Set
	seen := map[uint32]bool{}
	add := func(n uint32) error {
		if seen[n] || n == NoState {
			return nil
		}
		seen[n] = true
		set, err := mended(r, func() (state.Set, error) { return r.setOf(n) })
		all = all.Union(set)
		return err
	}
	for i := range p.refs {
		s, ok, err := r.stateBy(v, p.refs[i].State)
		if err == nil && ok {
			err = add(s.Num)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range p.res.Refs {
		if err := add(p.res.Refs[i].State.Num); err != nil {
			return nil, err
		}
	}
	return all.Has, nil
}

func (l *link) giveSome(ctx context.Context, some []sync.Signed) (given *sync.Given, err error) {
	err = l.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.GiveSigned, Signed: some}) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		given, err = in.Given(len(some))
		return err
	})
	return given, err
}
