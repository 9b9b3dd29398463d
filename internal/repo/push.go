package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// Pushed is what became of one name that was pushed.
type Pushed struct {
	Kind    string
	Name    string
	State   StateRef
	Fresh   bool // it was not there
	Same    bool // it was there already
	Lost    int  // changes that the other side's bookmark no longer has
	Refused string
	Pull    bool // refused because the other side has what is not here
}

// PushResult says what a push did.
type PushResult struct {
	Remote string
	Refs   []Pushed
	Sent   int       // changes
	Bytes  int64     // of all that was sent, before compression
	Would  []Passing // of a dry run

	Signatures int // that went of what was there already
}

// Push gives a bookmark to a remote: changes that it lacks, and the bookmark moves there, unless that would lose any.
func (r *Repo) Push(ctx context.Context, opt SyncOptions) (*PushResult, error) {
	l, err := r.dial(ctx, opt.Remote, opt.Dir, opt.Messages)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	refs, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	p := &pushing{ctx: ctx, r: r, l: l, opt: opt, refs: refs, res: &PushResult{Remote: l.shown}}
	if l.name != "" {
		p.res.Remote = l.name
	}
	plan := p.plan
	if opt.Change != "" {
		plan = p.planChange
	}
	if err := plan(); err != nil {
		return nil, linkError(l.shown, err)
	}
	if opt.DryRun && len(p.updates) > 0 {
		return p.res, p.preview()
	}
	if err := p.giveSigned(false); err != nil {
		return nil, linkError(l.shown, err)
	}
	if len(p.updates) == 0 {
		return p.res, p.settle()
	}
	if err := p.resumably(p.send); err != nil {
		return nil, linkError(l.shown, err)
	}
	if err := p.giveSigned(true); err != nil {
		return nil, linkError(l.shown, err)
	}
	return p.res, p.settle()
}

// worthResuming is from how many changes on a push that was cut is not begun from the beginning.
const worthResuming = 256

// resumably runs a push. Of one that was cut or refused before, what is there does not go again.
func (p *pushing) resumably(send func() error) error {
	if len(p.nums) < worthResuming {
		return send()
	}
	if p.r.unfinishedText(unfinishedPush) == p.l.shown {
		if err := p.skipHeld(); err != nil {
			return err
		}
	} else if err := p.r.beginUnfinished(unfinishedPush, p.l.shown); err != nil {
		return err
	}
	err := send()
	if err == nil && !slices.ContainsFunc(p.of, func(i int) bool { return p.res.Refs[i].Refused != "" }) {
		p.r.finish(unfinishedPush)
	}
	return err
}

// skipHeld asks which changes are there.
func (p *pushing) skipHeld() error {
	ids := p.r.idsInOrder(p.nums)
	var marks []bool
	err := p.l.Do(p.ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.Held, IDs: ids}) }, func(in *sync.Reader) (err error) {
		if err = in.Reply(); err == nil {
			marks, err = in.Marks(len(ids))
		}
		return err
	})
	if err != nil {
		return err
	}
	var left []uint32
	for i, n := range p.nums {
		if !marks[i] {
			left = append(left, n)
		}
	}
	p.nums = left
	return nil
}

// pushing is one push under way.
type pushing struct {
	ctx     context.Context
	r       *Repo
	l       *link
	opt     SyncOptions
	refs    []sync.Ref
	res     *PushResult
	updates []*sync.Update
	of      []int // of each update, its place in res.Refs
	nums    []uint32
}

// plan finds what to push, and how to tell of it.
func (p *pushing) plan() error {
	v, err := p.r.view()
	if err != nil {
		return err
	}
	add := func(kind sync.RefKind, name string, n uint32) error {
		s, err := p.r.stateRef(n)
		if err != nil {
			return err
		}
		return p.planOne(kind, name, s)
	}
	if p.opt.All || p.opt.Tags {
		if p.opt.All {
			for _, name := range slices.Sorted(maps.Keys(v.Bookmarks)) {
				if err := add(sync.Bookmark, name, v.Bookmarks[name]); err != nil {
					return err
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v.Tags)) {
			if err := add(sync.Tag, name, v.Tags[name]); err != nil {
				return err
			}
		}
		return nil
	}
	name := p.opt.Bookmark
	if name == "" {
		if name = v.Current; name == "" {
			return &Error{Text: "no bookmark is current: which one is meant?", Next: "Name it: oxy push REMOTE BOOKMARK"}
		}
	}
	if n, ok := v.Tags[name]; ok {
		return add(sync.Tag, name, n)
	}
	n, ok := v.Bookmarks[name]
	if !ok {
		if name == v.Current {
			return &Error{Text: "there is nothing to push yet: no change was recorded", Next: "Record one with: oxy commit -m MESSAGE"}
		}
		return noSuch("bookmark or tag", name)
	}
	return add(sync.Bookmark, name, n)
}

func (p *pushing) planOne(kind sync.RefKind, name string, s StateRef) error {
	u := &sync.Update{Kind: kind, Name: name, State: s.ID, Force: p.opt.Force}
	out := Pushed{Kind: kind.String(), Name: name, State: s, Fresh: true}
	var by told
	at := slices.IndexFunc(p.refs, func(ref sync.Ref) bool { return ref.Kind == kind && ref.Name == name })
	var ours, theirs []changeID
	if at >= 0 {
		ref := p.refs[at]
		out.Fresh, u.Old, u.Base = false, ref.State, ref.State
		if ref.State == s.ID {
			out.Same = true
			p.res.Refs = append(p.res.Refs, out)
			return nil
		}
		var err error
		if by, ours, theirs, err = p.tell(ref, s); err != nil {
			return err
		}
		out.Lost = len(theirs)
	} else {
		ref, ok, err := p.nearest(s)
		if err != nil {
			return err
		}
		if ok {
			u.Base = ref.State
			if by, ours, theirs, err = p.tell(ref, s); err != nil {
				return err
			}
		} else if by, err = p.r.fromNothing(s); err != nil {
			return err
		}
	}
	if out.Lost > 0 && !p.opt.Force {
		out.Pull, out.Refused = true, fmt.Sprintf("%s has %d changes that are not here", safepath.Quote(p.res.Remote), out.Lost)
		if out.Lost == 1 {
			out.Refused = fmt.Sprintf("%s has a change that is not here", safepath.Quote(p.res.Remote))
		}
		p.res.Refs = append(p.res.Refs, out)
		return nil
	}
	u.Removed, u.Added = theirs, ours
	if u.Added == nil {
		u.Added = p.r.idsInOrder(by.added)
	}
	p.of = append(p.of, len(p.res.Refs))
	p.res.Refs = append(p.res.Refs, out)
	p.updates = append(p.updates, u)
	p.nums = append(p.nums, by.added...)
	return nil
}

// tell finds what a state has that one of the other side has not, in the order of the log, and what it lacks.
func (p *pushing) tell(ref sync.Ref, s StateRef) (by told, ours, theirs []changeID, err error) {
	r := p.r
	v, err := r.view()
	if err != nil {
		return by, nil, nil, err
	}
	known, ok, err := r.stateBy(v, ref.State)
	if err != nil {
		return by, nil, nil, err
	}
	if ok {
		if by.removed, by.added, err = r.difference(known.Num, s.Num); err != nil {
			return by, nil, nil, err
		}
		return by, r.idsInOrder(by.added), r.idsInOrder(by.removed), nil
	}
	if ours, theirs, err = p.l.apart(p.ctx, r, s, ref); err != nil {
		return by, nil, nil, err
	}
	wanted := map[changeID]bool{}
	for _, id := range ours {
		wanted[id] = true
	}
	all, err := r.fromNothing(s)
	if err != nil {
		return by, nil, nil, err
	}
	for _, n := range all.added {
		if wanted[r.store.ChangeID(n)] {
			by.added = append(by.added, n)
		}
	}
	return by, r.idsInOrder(by.added), theirs, nil
}

// nearest finds a name of the other side whose state is here, and by which a new one is told in few words.
func (p *pushing) nearest(s StateRef) (best sync.Ref, found bool, err error) {
	v, err := p.r.view()
	if err != nil {
		return best, false, err
	}
	here := map[[32]byte]uint32{}
	for _, n := range namedStates(v) {
		st, err := p.r.stateRef(n)
		if err != nil {
			return best, false, err
		}
		here[st.ID] = n
	}
	least := -1
	for i, ref := range p.refs {
		n, ok := here[ref.State]
		if !ok || i > 64 && found {
			continue
		}
		a, b, err := p.r.difference(n, s.Num)
		if err != nil {
			return best, false, err
		}
		if !found || len(a)+len(b) < least {
			best, found, least = ref, true, len(a)+len(b)
		}
	}
	return best, found, nil
}

func (p *pushing) preview() error {
	seen := map[uint32]bool{}
	for _, n := range p.nums {
		if seen[n] {
			continue
		}
		seen[n] = true
		pr, err := p.r.previewOf(n)
		if err != nil {
			return err
		}
		p.res.Would = append(p.res.Would, Passing{pr.ID.String(), pr.Bytes, pr.Subject})
		p.res.Bytes += pr.Bytes
	}
	p.res.Sent = len(p.res.Would)
	return nil
}

func (p *pushing) send() error {
	var answers []sync.Answer
	err := p.l.Do(p.ctx, func(w *sync.Writer) error {
		if err := w.Request(&sync.Request{Verb: sync.Push}); err != nil {
			return err
		}
		p.r.opt.Progress.Begin("Sending", 0, true)
		defer p.r.opt.Progress.End()
		w.Progress = p.r.opt.Progress.Add
		s := p.r.newSending(p.ctx, w, false)
		s.share, _ = p.r.opt.Progress.(progress)
		s.total = len(p.nums)
		if err := s.changes(p.nums); err != nil {
			return err
		}
		for _, u := range p.updates {
			if err := w.Update(u); err != nil {
				return err
			}
		}
		p.res.Sent, p.res.Bytes = len(s.sent), w.Sent()
		return nil
	}, func(in *sync.Reader) (err error) {
		if err = in.Reply(); err == nil {
			answers, err = in.Answers()
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(answers) != len(p.updates) {
		return fmt.Errorf("%w: %d answers to %d names", sync.ErrMalformed, len(answers), len(p.updates))
	}
	if !slices.ContainsFunc(answers, func(a sync.Answer) bool { return a.Done }) {
		p.res.Sent, p.res.Bytes = 0, 0 // nobody there sees any of it
	}
	for i, a := range answers {
		out := &p.res.Refs[p.of[i]]
		if !a.Done {
			out.Refused, out.Pull = a.Text, a.Pull
			if out.Refused == "" {
				out.Refused = "the other side did not take it"
			}
		}
	}
	return nil
}

// settle notes where the remote's bookmarks are now.
func (p *pushing) settle() error {
	if p.l.name == "" || p.opt.DryRun {
		return nil
	}
	if p.opt.Change != "" {
		return p.settleChange()
	}
	v, err := p.r.view()
	if err != nil {
		return err
	}
	moved := slices.ContainsFunc(p.res.Refs, func(out Pushed) bool { return p.tracks(&out, v.Kept[trackKey(p.l.name, out.Name)]) })
	if !moved {
		return nil
	}
	_, err = transact(p.r, func(t *tx) (struct{}, error) {
		for i := range p.res.Refs {
			if out := &p.res.Refs[i]; p.tracks(out, nil) {
				t.track(p.l.name, out.Name, out.State)
			}
		}
		if err := t.passedOver(); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.commit("push")
	})
	return err
}

// tracks tells whether a name's place at the remote is another now than the one kept.
func (p *pushing) tracks(out *Pushed, kept []byte) bool {
	if out.Refused != "" || out.Kind != sync.Bookmark.String() {
		return false
	}
	var n uint32
	for _, b := range kept {
		n = n<<8 | uint32(b)
	}
	return len(kept) != 4 || n != out.State.Num
}
