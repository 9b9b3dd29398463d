package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// What a push to the current bookmark of a repository does, by the setting receive.current.
const (
	settingReceive = "receive.current"
	receiveRefuse  = "refuse" // nothing, and says so
	receiveUpdate  = "update" // the working files follow, as with a pull
	receiveDetach  = "detach" // they stay, and no bookmark is current there any more
)

// pushed takes changes and moves names.
func (s *Server) pushed(ctx context.Context, r *Repo, in *sync.Reader, out *sync.Writer) error {
	if s.opt.ReadOnly {
		return &Error{Text: "nothing can be pushed here: it is served for reading only"}
	}
	// Before what is pushed is read: it may be much.
	if c := sync.CallerOf(ctx); !c.Push {
		if c.Name == "" {
			return &Error{Text: "to push here one must say who one is: give a token, as in OXY_TOKEN"}
		}
		return &Error{Text: safepath.Quote(c.Name) + " may read here, but not push: ask who runs the server"}
	}
	rules, err := s.rules(r)
	if err != nil {
		return err
	}
	if s.opt.Gather {
		return r.gathered(in, func(in *sync.Reader) error { return s.takePush(ctx, r, rules, in, out) })
	}
	return s.takePush(ctx, r, rules, in, out)
}

func (s *Server) takePush(ctx context.Context, r *Repo, rules *rules, in *sync.Reader, out *sync.Writer) error {
	answers, moved, err := s.moveNames(ctx, r, rules, in)
	if err != nil {
		return err
	}
	// It is done, whatever this says of it; and pushes of others need not wait for it.
	if err := rules.after(ctx, r, moved); err != nil {
		s.tell(err)
	}
	if err := out.Reply(); err != nil {
		return err
	}
	for _, a := range answers {
		if err := out.Answer(a); err != nil {
			return err
		}
	}
	return nil
}

// tell says to whoever runs the server what its peer need not know.
func (s *Server) tell(err error) {
	if s.opt.Messages != nil {
		fmt.Fprintln(s.opt.Messages, "oxy:", err)
	}
}

// moveNames takes the changes, then asks the rules and the program that looks at pushes, then moves what may be moved.
func (s *Server) moveNames(ctx context.Context, r *Repo, rules *rules, in *sync.Reader) ([]sync.Answer, []*pushedName, error) {
	s.push.Lock()
	defer s.push.Unlock()
	got, err := r.receive(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	no := make([]string, len(got.updates)) // what the program said against each
	if len(rules.Hooks.Before) > 0 {
		if no, err = s.askBefore(ctx, r, rules, got.updates); err != nil {
			return nil, nil, err
		}
	}
	var moved []*pushedName
	answers, err := transact(r, func(t *tx) (all []sync.Answer, err error) {
		p := &takingPush{t: t, ctx: ctx, rules: rules}
		for i, u := range got.updates {
			a := sync.Answer{Text: no[i]}
			if no[i] == "" {
				if a, err = p.one(u, i); err != nil {
					return nil, err
				}
			}
			all = append(all, a)
		}
		if err := p.follow(all); err != nil {
			return nil, err
		}
		done := t.forgetWaiting()
		// The next push asks what the name has. Where nobody works the set would be walked from the first change each time.
		if i := slices.IndexFunc(p.moved, func(m *pushedName) bool { return m.u.Kind == sync.Bookmark && m.now.Num != NoState }); i >= 0 {
			t.before = p.moved[i].now.Num
		}
		if moved = p.moved; len(moved) > 0 {
			err = t.commit("receive push")
		} else if done {
			if err = t.passedOver(); err == nil {
				err = t.commit("receive")
			}
		}
		if err != nil {
			return nil, err
		}
		if p.following != nil {
			r.saveManifest()
		}
		return all, nil
	})
	return answers, moved, err
}

// waiting is the remote under which names are kept while a program looks at them, so that it can name what would be: the log of
// .push/main, or what differs between main and that. No remote can have that name, and no peer asks for it.
const waiting = ".push"

// forgetWaiting forgets them, those of a push that was cut off too.
func (t *tx) forgetWaiting() (did bool) {
	maps.DeleteFunc(t.view.Kept, func(k string, _ []byte) bool {
		is := strings.HasPrefix(k, trackKey(waiting, ""))
		did = did || is
		return is
	})
	return did
}

// askBefore has the program look at what would be moved. It runs without the writers' lock: it may look at the repository, and
// take its time.
func (s *Server) askBefore(ctx context.Context, r *Repo, rules *rules, updates []*sync.Update) ([]string, error) {
	no := make([]string, len(updates))
	var would []*pushedName
	_, err := transact(r, func(t *tx) (struct{}, error) {
		p := &takingPush{t: t, ctx: ctx, rules: rules}
		for _, u := range updates {
			m, _, err := p.judge(u)
			if err != nil || m == nil {
				if err != nil {
					return struct{}{}, err
				}
				continue // it is judged again, and then answered
			}
			next, err := t.takeState(u, nil, nil)
			if err != nil {
				return struct{}{}, err
			}
			t.track(waiting, u.Name, next)
			would = append(would, m)
		}
		if len(would) == 0 {
			return struct{}{}, nil
		}
		if err := t.passedOver(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.commit("receive")
	})
	if err != nil || len(would) == 0 {
		return no, err
	}
	said, ok, err := rules.before(ctx, r, would)
	if err != nil {
		s.tell(err)
		return nil, &Error{Text: "the program that looks at pushes there did not end well: who runs the server has to look at it", Err: err}
	}
	if !ok {
		for i := range no {
			no[i] = said
		}
	}
	return no, nil
}

// takingPush moves the names of a push, in one transaction.
type takingPush struct {
	t     *tx
	ctx   context.Context
	rules *rules
	moved []*pushedName

	following *StateRef // where the working files have to go
	at        int       // by which update
}

// pushedName is a name that a push moves.
type pushedName struct {
	u           *sync.Update
	now         StateRef // where it is
	plus, minus []uint32 // changes that it comes to have, and that it loses
}

// one moves one name, if it may be moved.
func (p *takingPush) one(u *sync.Update, i int) (sync.Answer, error) {
	m, a, err := p.judge(u)
	if m == nil || err != nil {
		return a, err
	}
	next, err := p.t.takeState(u, nil, nil)
	if err != nil {
		return a, err
	}
	p.moved = append(p.moved, m)
	if u.Kind == sync.Tag {
		p.t.view.Tags[u.Name] = next.Num
		return sync.Answer{Done: true}, nil
	}
	p.t.view.Bookmarks[u.Name] = next.Num
	if u.Name != p.t.view.Current || baseOf(p.t.view) == next.Num {
		return sync.Answer{Done: true}, nil
	}
	if how, err := p.t.r.receiveCurrent(); err != nil {
		return a, err
	} else if how == receiveUpdate && baseOf(p.t.view) != NoState {
		p.following, p.at = &next, i
	} else {
		p.t.view.Current = ""
	}
	return sync.Answer{Done: true}, nil
}

// judge tells whether a name may be moved: nil and an answer if there is nothing to move, or it may not.
func (p *takingPush) judge(u *sync.Update) (*pushedName, sync.Answer, error) {
	t, r := p.t, p.t.r
	no := func(format string, args ...any) (*pushedName, sync.Answer, error) {
		return nil, sync.Answer{Text: fmt.Sprintf(format, args...)}, nil
	}
	caller := sync.CallerOf(p.ctx)
	if caller.Move != nil && !caller.Move(u.Name) {
		return no("%s may not move %s here: push to a bookmark of your own, or ask who runs the server", safepath.Quote(caller.Name), safepath.Quote(u.Name))
	}
	names, others := t.view.Bookmarks, t.view.Tags
	if u.Kind == sync.Tag {
		names, others = others, names
	}
	if _, ok := others[u.Name]; ok || u.Kind == sync.Tag && u.Name == t.view.Current {
		return no("there is something else called %s", safepath.Quote(u.Name))
	}
	m := &pushedName{u: u, now: StateRef{Num: NoState}}
	at, there := names[u.Name]
	if there {
		var err error
		if m.now, err = r.stateRef(at); err != nil {
			return nil, sync.Answer{}, err
		}
	}
	switch {
	case m.now.ID == u.State && there:
		return nil, sync.Answer{Done: true}, nil
	case u.State == [32]byte{}:
		return no("a name without a change")
	case u.Kind == sync.Tag && there && !u.Force:
		return no("the tag %s is there already, at another state", safepath.Quote(u.Name))
	}
	var err error
	if m.plus, m.minus, err = t.wouldChange(m.now, u); err != nil {
		return nil, sync.Answer{}, err
	}
	if len(m.minus) > 0 && (!u.Force || m.now.ID != u.Old) {
		return nil, sync.Answer{Pull: true, Text: fmt.Sprintf("%s has changes that you have not", safepath.Quote(u.Name))}, nil
	}
	if why, err := p.rules.against(r, m, caller); err != nil || why != "" {
		return nil, sync.Answer{Text: why}, err
	}
	if u.Kind == sync.Bookmark && u.Name == t.view.Current && baseOf(t.view) != NoState {
		how, err := r.receiveCurrent()
		if err != nil {
			return nil, sync.Answer{}, err
		}
		if how == receiveRefuse {
			return no("people work on %s in that repository, and their files would not follow: pull from there, or push another bookmark; or let the files follow, by `oxy config %s %s` there",
				safepath.Quote(u.Name), settingReceive, receiveUpdate)
		}
	}
	return m, sync.Answer{}, nil
}

// wouldChange tells which changes a name would come to have, and which it would lose.
func (t *tx) wouldChange(now StateRef, u *sync.Update) (plus, minus []uint32, err error) {
	r := t.r
	base, ok, err := r.stateBy(t.view, u.Base)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, &Error{Text: "the push is told by a state that is not here"}
	}
	removed, err := t.numbers(u.Removed)
	if err != nil {
		return nil, nil, malformedUpdate(u, err)
	}
	added, err := t.numbers(u.Added)
	if err != nil {
		return nil, nil, malformedUpdate(u, err)
	}
	onlyNow, onlyBase, err := r.difference(now.Num, base.Num)
	if err != nil {
		return nil, nil, err
	}
	if len(removed) == 0 && len(onlyNow) == 0 {
		return append(onlyBase, added...), nil, nil
	}
	set, err := r.setOf(now.Num)
	if err != nil {
		return nil, nil, err
	}
	adds, gone := setOfAll(added), setOfAll(removed)
	for _, n := range append(onlyNow, removed...) {
		if set.Has(n) && !adds.Has(n) {
			minus = append(minus, n)
		}
	}
	for _, n := range onlyBase {
		if !gone.Has(n) {
			plus = append(plus, n)
		}
	}
	for _, n := range added {
		if !set.Has(n) {
			plus = append(plus, n)
		}
	}
	return plus, minus, nil
}

// follow brings the working files to where the current bookmark was pushed. Edits that would be lost keep it from being moved.
func (p *takingPush) follow(answers []sync.Answer) error {
	if p.following == nil {
		return nil
	}
	_, err := p.t.switchTo(p.ctx, *p.following)
	if lose := (*worktree.LoseError)(nil); !errors.As(err, &lose) {
		return err
	}
	m := p.moved[slices.IndexFunc(p.moved, func(m *pushedName) bool { return m.u.Name == p.t.view.Current })]
	p.moved = slices.DeleteFunc(p.moved, func(o *pushedName) bool { return o == m })
	p.t.view.Bookmarks[m.u.Name] = m.now.Num
	if m.now.Num == NoState {
		delete(p.t.view.Bookmarks, m.u.Name)
	}
	answers[p.at] = sync.Answer{Text: fmt.Sprintf("the working files of that repository have edits that %s would write over: they have to be recorded there first", safepath.Quote(m.u.Name))}
	p.following = nil
	return nil
}

// receiveCurrent is what the repository says of pushes to its current bookmark.
func (r *Repo) receiveCurrent() (string, error) {
	how, _, err := r.ConfigGet(settingReceive)
	switch {
	case err != nil:
		return "", err
	case how == "":
		return receiveRefuse, nil
	case how == receiveRefuse, how == receiveUpdate, how == receiveDetach:
		return how, nil
	}
	return "", &Error{Text: fmt.Sprintf("%s is %q there, and can be %s, %s or %s", settingReceive, how, receiveRefuse, receiveUpdate, receiveDetach)}
}
