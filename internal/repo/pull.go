package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// SyncOptions say how to speak with another repository.
type SyncOptions struct {
	Remote   string    // its name here, or an address; "": origin
	Dir      string    // from where an address that is a relative path is seen
	Bookmark string    // the one to pull or push; "": the current one
	Change   string    // only this change, with what it builds on
	All      bool      // of a push: all bookmarks and tags
	Tags     bool      // of a push: all tags
	Force    bool      // of a push: lose what the other side has beyond
	DryRun   bool      // say what would move, and move nothing
	Messages io.Writer // where ssh may speak
	Depth    uint64    // of a clone: leave out contents that no state shows from so many changes before the end of a bookmark on; 0: none
	Path     []string  // of a clone: leave out contents elsewhere than in these directories, and have only their working files
	Sparse   []string  // of a clone: have the working files of these directories only; none: of all

	pin *Pin // of a clone: where it shall stand
}

// Seen is a bookmark or tag of a remote that was seen at another state than before.
type Seen struct {
	Kind     string // bookmark or tag
	Name     string
	Old, New StateRef
	Fresh    bool // it was never seen
}

// Passing is a change that would move.
type Passing struct {
	ID      string
	Bytes   int64
	Subject string
}

// FetchResult says what came from a remote.
type FetchResult struct {
	Remote string // its name here, or its address
	Refs   []Seen
	Came   int       // changes
	Bytes  int64     // that came, or of a dry run that would, before compression
	Would  []Passing // of a dry run: the changes that would come
	Way    string    // of a clone that took the other's log as a whole: linked, reflinked or copied
	Kept   []string  // tags that stand for something else here, and stay

	Signatures int // that came of what was here already
}

// PullResult says what a pull did.
type PullResult struct {
	FetchResult
	Bookmark string
	Made     bool        // the bookmark is new here
	Move     *MoveResult // of the current bookmark, nil where nothing came into it
	State    StateRef    // where the bookmark is now
}

// Fetch takes what a remote's bookmarks and tags have, and moves nothing of one's own. names are bookmarks; none: all, and the
// tags.
func (r *Repo) Fetch(ctx context.Context, opt SyncOptions, names ...string) (*FetchResult, error) {
	l, err := r.dial(ctx, opt.Remote, opt.Dir, opt.Messages)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	res, _, err := r.fetch(ctx, l, opt.DryRun, names)
	return res, err
}

// fetch asks for names, all if none, and gives the remote's list too.
func (r *Repo) fetch(ctx context.Context, l *link, dry bool, names []string) (*FetchResult, []sync.Ref, error) {
	refs, err := l.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	wants, err := choose(refs, names)
	if err != nil {
		return nil, nil, err
	}
	f := &fetching{ctx: ctx, r: r, l: l, dry: dry, res: &FetchResult{Remote: l.name}}
	if l.name == "" {
		f.res.Remote = l.shown
	}
	err = f.run(wants)
	if err == nil {
		err = f.takeSigned()
	}
	if err != nil {
		return nil, nil, f.cutError(linkError(l.shown, err))
	}
	if !dry {
		r.finish(unfinishedFetch)
	}
	return f.res, refs, nil
}

// cutError says of a transfer that was cut that it can go on.
func (f *fetching) cutError(err error) error {
	if f.kept == 0 || !wasCut(err) {
		return err
	}
	return &Error{Text: cutText(err), Next: fmt.Sprintf("%d changes came before, and need not come again: run the same command once more.", f.kept), Err: err}
}

// choose takes the names that are asked for out of a remote's list.
func choose(refs []sync.Ref, names []string) ([]sync.Ref, error) {
	if len(names) == 0 {
		return refs, nil
	}
	var out []sync.Ref
	for _, name := range names {
		found := false
		for _, ref := range refs {
			if ref.Name == name {
				out, found = append(out, ref), true
			}
		}
		if !found {
			return nil, &Error{Text: "there is no bookmark or tag " + safepath.Quote(name) + " there", Next: "See what there is with: oxy fetch, then oxy bookmark"}
		}
	}
	return out, nil
}

// fetching is one fetch under way.
type fetching struct {
	ctx  context.Context
	r    *Repo
	l    *link
	dry  bool
	res  *FetchResult
	kept int // changes that came of what was cut then
}

// as is the name under which a remote's bookmarks are tracked. Those of an address without a name are not.
func (f *fetching) as() string { return f.l.name }

func (f *fetching) run(wants []sync.Ref) error {
	r := f.r
	q := &sync.Request{Verb: sync.Fetch, DryRun: f.dry}
	var here []*sync.Update // what is here already, and only has to be seen
	for _, ref := range wants {
		if _, ok, err := r.named1(f.as(), ref); err != nil {
			return err
		} else if ok {
			here = append(here, &sync.Update{Kind: ref.Kind, Name: ref.Name, State: ref.State})
			continue
		}
		q.Wants = append(q.Wants, ref)
	}
	var err error
	if q.Wants, err = f.resume(q.Wants); err != nil {
		return err
	}
	v, err := r.view()
	if err != nil {
		return err
	}
	got := &received{}
	if len(q.Wants) > 0 {
		if q.Haves, err = r.haves(v, f.as(), q.Wants); err != nil {
			return err
		}
		if got, err = f.ask(q); err != nil {
			return err
		}
	}
	f.count(got)
	if err := f.settle(append(here, got.updates...), nil); err != nil {
		return err
	}
	for _, ref := range got.unknown {
		if err := f.negotiate(ref); err != nil {
			return err
		}
	}
	f.order(wants)
	return nil
}

// order has what was seen in the order in which it was asked for.
func (f *fetching) order(wants []sync.Ref) {
	at := make(map[[2]string]int, len(wants))
	for i, ref := range wants {
		at[[2]string{ref.Kind.String(), ref.Name}] = i
	}
	slices.SortStableFunc(f.res.Refs, func(a, b Seen) int { return at[[2]string{a.Kind, a.Name}] - at[[2]string{b.Kind, b.Name}] })
}

// resume asks for the first of some names change by change where much of it may have come already, before a cut. It gives the
// others.
func (f *fetching) resume(wants []sync.Ref) ([]sync.Ref, error) {
	i := slices.IndexFunc(wants, func(ref sync.Ref) bool { return ref.Len > smallLog })
	if f.dry || i < 0 || !f.r.isUnfinished(unfinishedFetch) {
		return wants, nil
	}
	if err := f.negotiate(wants[i]); err != nil {
		return nil, err
	}
	return slices.Delete(wants, i, i+1), nil
}

func (f *fetching) count(got *received) {
	f.res.Came += got.came
	if !f.dry {
		f.res.Bytes += got.bytes
	}
	for _, p := range got.previews {
		if _, ok := f.r.store.FindChange(p.ID); ok {
			continue
		}
		f.res.Bytes += p.Bytes
		f.res.Would = append(f.res.Would, Passing{p.ID.String(), p.Bytes, p.Subject})
	}
	f.res.Came = max(f.res.Came, len(f.res.Would))
}

// ask sends a request that a pack answers, and takes what comes.
func (f *fetching) ask(q *sync.Request) (got *received, err error) {
	wanted, err := f.r.portionOf(f.l.name)
	if err != nil {
		return nil, err
	}
	q.Only, q.Depth = wanted.dirs, wanted.depth
	err = f.l.Do(f.ctx, func(w *sync.Writer) error { return w.Request(q) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		f.r.opt.Progress.Begin("Receiving", 0, true)
		defer f.r.opt.Progress.End()
		in.Progress = f.r.opt.Progress.Add
		got = &received{most: max(len(q.Wants), 1), dry: q.DryRun, partial: !wanted.whole(), before: func() error { return f.r.beginUnfinished(unfinishedFetch, "") }}
		err := f.r.receiveAlong(f.ctx, in, got)
		if err != nil {
			f.kept += got.came
		}
		return err
	})
	return got, err
}

// named1 finds the state of a remote's name if something here is known to be it, without a search.
func (r *Repo) named1(remote string, ref sync.Ref) (StateRef, bool, error) {
	v, err := r.view()
	if err != nil {
		return StateRef{}, false, err
	}
	names := v.Bookmarks
	if ref.Kind == sync.Tag {
		names = v.Tags
	}
	at, ok := names[ref.Name]
	near := []uint32{at}
	if !ok {
		near = nil
	}
	if at, ok := tracked(v, remote+"/"+ref.Name); ok && ref.Kind == sync.Bookmark {
		near = append(near, at)
	}
	for _, n := range near {
		if s, err := r.stateRef(n); err != nil || s.ID == ref.State {
			return s, err == nil, err
		}
	}
	return StateRef{}, false, nil
}

// takenFrom says by which state of this side an update is told, where the update itself does not.
type takenFrom struct {
	base    StateRef
	removed []changeID
}

// settle makes the states that updates tell of, and notes where the remote's names are.
func (f *fetching) settle(updates []*sync.Update, from *takenFrom) error {
	if f.dry {
		return nil
	}
	wanted, err := f.r.portionOf(f.l.name)
	if err != nil {
		return err
	}
	if wanted.depth == 0 { // else most first texts are old, and few of them are needed
		// All at once what making the trees would find to be missing one by one.
		lack, err := f.r.lacks(f.r.births(updates))
		if err == nil && len(lack) > 0 {
			err = f.r.bringContents(f.ctx, lack, nil)
		}
		if err != nil {
			return err
		}
	}
	for len(updates) > 0 {
		// One that is told by another of them has to wait until that one stands.
		var later []*sync.Update
		_, err := transact(f.r, func(t *tx) (struct{}, error) {
			changed := false
			p := &proving{t: t, deep: wanted.depth > 0}
			for _, u := range updates {
				if err := f.ctx.Err(); err != nil {
					return struct{}{}, err
				}
				if from == nil {
					if _, ok, err := t.stateBy(u.Base); err != nil {
						return struct{}{}, err
					} else if !ok {
						later = append(later, u)
						continue
					}
				}
				did, err := f.settleOne(p, u, from)
				if err != nil {
					return struct{}{}, err
				}
				changed = changed || did
			}
			if err := p.finish(f.ctx); err != nil {
				return struct{}{}, err
			}
			if !changed {
				return struct{}{}, nil
			}
			if err := t.passedOver(); err != nil {
				return struct{}{}, err
			}
			return struct{}{}, t.commit("fetch")
		})
		if err != nil {
			return err
		}
		if len(later) == len(updates) {
			return malformedUpdate(later[0], errors.New("it is told by a state that is not here"))
		}
		updates = later
	}
	return nil
}

func (f *fetching) settleOne(p *proving, u *sync.Update, from *takenFrom) (changed bool, err error) {
	t := p.t
	if u.State == ([32]byte{}) {
		return false, malformedUpdate(u, errors.New("it stands for nothing"))
	}
	var base *StateRef
	var removed []changeID
	if from != nil {
		base, removed = &from.base, from.removed
	}
	next, err := p.take(u, base, removed)
	if err != nil {
		return false, err
	}
	m := Seen{Kind: u.Kind.String(), Name: u.Name, Old: StateRef{Num: NoState}, New: next}
	names, n, ok := t.view.Tags, uint32(0), false
	if u.Kind == sync.Tag {
		if n, ok = names[u.Name]; ok {
			if n != next.Num {
				f.res.Kept = append(f.res.Kept, u.Name)
			}
			return false, nil
		}
		if _, taken := t.view.Bookmarks[u.Name]; taken || u.Name == t.view.Current {
			f.res.Kept = append(f.res.Kept, u.Name)
			return false, nil
		}
		names[u.Name] = next.Num
	} else if f.as() != "" {
		if n, ok = tracked(t.view, f.as()+"/"+u.Name); ok {
			if m.Old, err = f.r.stateRef(n); err != nil {
				return false, err
			}
		}
		if ok && n == next.Num {
			return false, nil
		}
		t.track(f.as(), u.Name, next)
	} else {
		t.track(passing, u.Name, next) // for what comes next in this command
	}
	m.Fresh = !ok
	f.res.Refs = append(f.res.Refs, m)
	return true, nil
}

// passing is the remote under which the bookmarks of an address without a name, or of a bundle, are kept for a while. No remote
// can have that name.
const passing = "."

// negotiate finds what this side lacks of a name's state, where it is not told by a state that both have.
func (f *fetching) negotiate(ref sync.Ref) error {
	r := f.r
	base, err := r.likeliest(f.as(), ref.Name)
	if err != nil {
		return err
	}
	ours, theirs, err := f.l.apart(f.ctx, r, base, ref)
	if errors.Is(err, sync.ErrTooDifferent) {
		base = StateRef{Num: NoState} // then it is all of them
		ours, theirs, err = f.l.apart(f.ctx, r, base, ref)
	}
	if err != nil {
		return err
	}
	q := &sync.Request{Verb: sync.Take, Wants: []sync.Ref{ref}, IDs: theirs, DryRun: f.dry}
	for _, id := range theirs {
		_, here := r.store.FindChange(id)
		q.Lacks = append(q.Lacks, !here)
	}
	got, err := f.ask(q)
	if err != nil {
		return err
	}
	f.count(got)
	for _, u := range got.updates {
		if u.Kind != ref.Kind || u.Name != ref.Name || u.State != ref.State {
			return fmt.Errorf("%w: an answer to no question", sync.ErrMalformed)
		}
	}
	return f.settle(got.updates, &takenFrom{base, ours})
}

// apart tells a state of this side and one of the other apart.
func (l *link) apart(ctx context.Context, r *Repo, base StateRef, ref sync.Ref) (ours, theirs []changeID, err error) {
	set, err := r.idSet(base.Num)
	if err != nil {
		return nil, nil, err
	}
	return set.Apart(func(say []sync.Range) (answers []sync.Range, err error) {
		q := &sync.Request{Verb: sync.Ranges, Wants: []sync.Ref{ref}, Ranges: say}
		err = l.Do(ctx, func(w *sync.Writer) error { return w.Request(q) }, func(in *sync.Reader) error {
			if err := in.Reply(); err != nil {
				return err
			}
			answers, err = in.RangesReply()
			return err
		})
		return answers, err
	})
}

// likeliest is the state here that probably has the most in common with a remote's bookmark.
func (r *Repo) likeliest(remote, name string) (StateRef, error) {
	v, err := r.view()
	if err != nil {
		return StateRef{}, err
	}
	if n, ok := tracked(v, remote+"/"+name); ok {
		return r.stateRef(n)
	}
	if n, ok := v.Bookmarks[name]; ok {
		return r.stateRef(n)
	}
	best := StateRef{Num: NoState}
	for _, n := range namedStates(v) {
		s, err := r.stateRef(n)
		if err != nil {
			return best, err
		}
		if s.Len > best.Len {
			best = s
		}
	}
	return best, nil
}
