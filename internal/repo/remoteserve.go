package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	gosync "sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// ServeOptions say how a repository is served.
type ServeOptions struct {
	Options
	ReadOnly bool
	Gather   bool      // what is pushed goes into a file before it is looked at: of peers that may be slow
	Hooks    bool      // run the programs that the repository's own server.toml names; without, a push where there are any is refused
	Messages io.Writer // what goes wrong after a push was taken; nil: nowhere
}

// Server answers what other repositories ask of one. It may be asked from many goroutines.
type Server struct {
	dir  string
	opt  ServeOptions
	push gosync.Mutex // pushes wait here for each other, longer than for the writers' lock

	mu  gosync.Mutex
	set servedSet // the last that was told apart: each step of that asks for it
}

type servedSet struct {
	state [32]byte
	ids   *sync.IDSet
}

// NewServer serves the repository whose working copy dir is.
func NewServer(dir string, opt ServeOptions) (*Server, error) {
	opt.Options = opt.withDefaults()
	opt.Progress = noProgress{}
	s := &Server{dir: dir, opt: opt}
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	return s, r.Close()
}

// open gives the repository at dir itself: none above it, for whoever serves a directory means that one.
func (s *Server) open() (*Repo, error) {
	root, err := filepath.Abs(s.dir)
	if err != nil {
		return nil, err
	}
	var st vfs.Stat
	if err := s.opt.FS.Lstat(filepath.Join(root, DirName), &st); err != nil || st.Kind != vfs.KindDir {
		return nil, &Error{Text: "no repository at " + safepath.Quote(s.dir), Next: "Check the path.", Err: cause(err, fs.ErrNotExist)}
	}
	return openAt(root, s.opt.Options)
}

func cause(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

// Handle answers one request.
func (s *Server) Handle(ctx context.Context, in *sync.Reader, out *sync.Writer) error {
	q, err := in.Request()
	if err != nil {
		return err
	}
	r, err := s.open()
	if err != nil {
		return refusal(err)
	}
	defer r.Close()
	switch q.Verb {
	case sync.List:
		err = s.list(r, out)
	case sync.Fetch:
		err = s.fetch(ctx, r, q, out)
	case sync.Ranges:
		err = s.ranges(r, q, out)
	case sync.Take:
		err = s.take(ctx, r, q, out)
	case sync.Single:
		err = s.single(ctx, r, q, out)
	case sync.Push:
		err = s.pushed(ctx, r, in, out)
	default:
		err = &sync.RefusedError{Text: fmt.Sprintf("there is no request %d", q.Verb)}
	}
	return refusal(err)
}

// refusal makes what is meant for a person fit to travel. What an error of the system says stays here: it names paths.
func refusal(err error) error {
	var said *Error
	if errors.As(err, &said) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, store.ErrDamaged) {
		return &sync.RefusedError{Text: said.Text}
	}
	return err
}

// refs lists the bookmarks, the one that people are on first, and the tags.
func (r *Repo) refs(v *store.View) ([]sync.Ref, error) {
	var out []sync.Ref
	add := func(kind sync.RefKind, name string, n uint32) error {
		s, err := r.stateRef(n)
		out = append(out, sync.Ref{Kind: kind, Name: name, State: s.ID, Len: s.Len})
		return err
	}
	first := v.Current
	if _, ok := v.Bookmarks[first]; !ok {
		first = FirstBookmark
	}
	names := slices.Sorted(maps.Keys(v.Bookmarks))
	if i := slices.Index(names, first); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, first)
	}
	for _, name := range names {
		if err := add(sync.Bookmark, name, v.Bookmarks[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Tags)) {
		if err := add(sync.Tag, name, v.Tags[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Server) list(r *Repo, out *sync.Writer) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	refs, err := r.refs(v)
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	for _, ref := range refs {
		if err := out.Ref(ref); err != nil {
			return err
		}
	}
	return nil
}

// wanted finds what a name stands for now.
func (r *Repo) wanted(v *store.View, ref sync.Ref) (StateRef, error) {
	names := v.Bookmarks
	if ref.Kind == sync.Tag {
		names = v.Tags
	}
	n, ok := names[ref.Name]
	if !ok {
		return StateRef{}, &Error{Text: fmt.Sprintf("there is no %s %s", ref.Kind, safepath.Quote(ref.Name))}
	}
	return r.stateRef(n)
}

// smallLog is up to how many changes a log is sent whole, also where the other side may have most of it.
const smallLog = 256

func (s *Server) fetch(ctx context.Context, r *Repo, q *sync.Request, out *sync.Writer) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	haves := map[[32]byte]bool{}
	for _, h := range q.Haves {
		haves[h] = true
	}
	if err := out.Reply(); err != nil {
		return err
	}
	w := r.newSending(ctx, out, q.DryRun)
	var before []StateRef
	for _, ref := range q.Wants {
		state, err := r.wanted(v, ref)
		if err != nil {
			return err
		}
		by, ok, err := r.tellBy(state, haves, before)
		if err != nil {
			return err
		}
		if !ok && len(haves) > 0 && state.Len > smallLog {
			ref.State, ref.Len = state.ID, state.Len
			if err := out.Unknown(ref); err != nil {
				return err
			}
			continue
		}
		if !ok {
			if by, err = r.fromNothing(state); err != nil {
				return err
			}
		}
		if err := w.changes(by.added); err != nil {
			return err
		}
		if err := out.Update(r.updateOf(ref.Kind, ref.Name, state, by)); err != nil {
			return err
		}
		if len(before) == 0 {
			before = append(before, state) // others are told by it: the receiver then has it as soon as it took one step
		}
	}
	return nil
}

// fromNothing tells all of a state.
func (r *Repo) fromNothing(s StateRef) (told, error) {
	var nums []uint32
	for at := s.Num; at != NoState; {
		st, parent, err := r.step(at)
		if err != nil {
			return told{}, err
		}
		for _, n := range slices.Backward(st.Changes) {
			nums = append(nums, n)
		}
		at = parent
	}
	slices.Reverse(nums)
	return told{base: StateRef{Num: NoState}, added: nums}, nil
}

// one gives the state that a request about one name is about. It may have moved on since: it is looked for in the log.
func (r *Repo) one(q *sync.Request) (StateRef, error) {
	if len(q.Wants) != 1 {
		return StateRef{}, &Error{Text: "the request names nothing, or too much"}
	}
	v, err := r.view()
	if err != nil {
		return StateRef{}, err
	}
	s, err := r.wanted(v, q.Wants[0])
	if err != nil {
		return s, err
	}
	for at := s.Num; at != NoState; {
		st, parent, err := r.step(at)
		if err != nil {
			return s, err
		}
		if st.ID == q.Wants[0].State {
			return StateRef{Num: at, ID: st.ID, Len: st.Pos}, nil
		}
		at = parent
	}
	return s, &Error{Text: fmt.Sprintf("%s was moved meanwhile: try again", safepath.Quote(q.Wants[0].Name))}
}

func (s *Server) ranges(r *Repo, q *sync.Request, out *sync.Writer) error {
	state, err := r.one(q)
	if err != nil {
		return err
	}
	s.mu.Lock()
	set := s.set
	s.mu.Unlock()
	if set.ids == nil || set.state != state.ID {
		set.state = state.ID
		if set.ids, err = r.idSet(state.Num); err != nil {
			return err
		}
		s.mu.Lock()
		s.set = set
		s.mu.Unlock()
	}
	ranges, err := set.ids.Answer(q.Ranges)
	if err != nil {
		return &Error{Text: err.Error(), Err: err}
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Ranges(ranges)
}

func (s *Server) take(ctx context.Context, r *Repo, q *sync.Request, out *sync.Writer) error {
	state, err := r.one(q)
	if err != nil {
		return err
	}
	lacks := make(map[change.ID]bool, len(q.IDs))
	for i, id := range q.IDs {
		lacks[id] = q.Lacks[i]
	}
	var added, along []uint32
	for at := state.Num; at != NoState && len(added) < len(lacks); {
		st, parent, err := r.step(at)
		if err != nil {
			return err
		}
		for _, n := range slices.Backward(st.Changes) {
			if lacking, ok := lacks[r.store.ChangeID(n)]; ok {
				added = append(added, n)
				if lacking {
					along = append(along, n)
				}
			}
		}
		at = parent
	}
	if len(added) < len(lacks) {
		return &Error{Text: "a change that was asked for is not there"}
	}
	slices.Reverse(added)
	slices.Reverse(along)
	if err := out.Reply(); err != nil {
		return err
	}
	if err := r.newSending(ctx, out, q.DryRun).changes(along); err != nil {
		return err
	}
	ref := q.Wants[0]
	return out.Update(r.updateOf(ref.Kind, ref.Name, state, told{base: StateRef{Num: NoState}, added: added}))
}

// single sends one change with what it builds on, but for what states have that the other side has too. Only what a name
// here reaches can be had.
func (s *Server) single(ctx context.Context, r *Repo, q *sync.Request, out *sync.Writer) error {
	if len(q.Prefix) < minPrefix {
		return &Error{Text: "too few digits of an id"}
	}
	v, err := r.view()
	if err != nil {
		return err
	}
	visible, _, err := r.reachable(v, v)
	if err != nil {
		return err
	}
	nums := slices.DeleteFunc(r.store.FindPrefix(q.Prefix, 16), func(n uint32) bool { return !visible.Has(n) })
	if len(nums) != 1 {
		text := "no change " + safepath.Quote(q.Prefix)
		if len(nums) > 1 {
			text = safepath.Quote(q.Prefix) + " is the beginning of several ids"
		}
		return &Error{Text: text}
	}
	haves := map[[32]byte]bool{}
	for _, h := range q.Haves {
		haves[h] = true
	}
	var common state.Set
	for _, n := range namedStates(v) { // to look through all states would be work for nothing
		if st, err := r.stateRef(n); err == nil && haves[st.ID] {
			set, err := r.setOf(n)
			if err != nil {
				return err
			}
			common = common.Union(set)
		}
	}
	closure := r.newReach().closure(nums, common.Has)
	if err := out.Reply(); err != nil {
		return err
	}
	return r.newSending(ctx, out, q.DryRun).changes(closure)
}

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
	if s.opt.Gather {
		return r.gathered(in, func(in *sync.Reader) error { return s.takePush(ctx, r, in, out) })
	}
	return s.takePush(ctx, r, in, out)
}

func (s *Server) takePush(ctx context.Context, r *Repo, in *sync.Reader, out *sync.Writer) error {
	s.push.Lock()
	defer s.push.Unlock()
	got, err := r.receive(ctx, in)
	if err != nil {
		return err
	}
	answers, err := transact(r, func(t *tx) ([]sync.Answer, error) {
		var all []sync.Answer
		done := false
		for _, u := range got.updates {
			a, err := t.pushOne(ctx, u)
			if err != nil {
				return nil, err
			}
			done = done || a.Done
			all = append(all, a)
		}
		if !done {
			return all, nil
		}
		return all, t.commit("receive push")
	})
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
	return nil
}

// pushOne moves one name, if that loses nothing.
func (t *tx) pushOne(ctx context.Context, u *sync.Update) (sync.Answer, error) {
	r := t.r
	if c := sync.CallerOf(ctx); c.Move != nil && !c.Move(u.Name) {
		return sync.Answer{Text: fmt.Sprintf("%s may not move %s here: push to a bookmark of your own, or ask who runs the server", safepath.Quote(c.Name), safepath.Quote(u.Name))}, nil
	}
	names, others := t.view.Bookmarks, t.view.Tags
	if u.Kind == sync.Tag {
		names, others = others, names
	}
	if _, ok := others[u.Name]; ok || u.Kind == sync.Tag && u.Name == t.view.Current {
		return sync.Answer{Text: fmt.Sprintf("there is something else called %s", safepath.Quote(u.Name))}, nil
	}
	at, there := names[u.Name]
	now, err := r.stateRef(at)
	if !there {
		now, err = StateRef{Num: NoState}, nil
	}
	switch {
	case err != nil:
		return sync.Answer{}, err
	case now.ID == u.State && there:
		return sync.Answer{Done: true}, nil
	case u.State == [32]byte{}:
		return sync.Answer{Text: "a name without a change"}, nil
	case u.Kind == sync.Tag && there && !u.Force:
		return sync.Answer{Text: fmt.Sprintf("the tag %s is there already, at another state", safepath.Quote(u.Name))}, nil
	}
	if lost, err := t.loses(now, u); err != nil {
		return sync.Answer{}, err
	} else if lost && (!u.Force || now.ID != u.Old) {
		return sync.Answer{Pull: true, Text: fmt.Sprintf("%s has changes that you have not", safepath.Quote(u.Name))}, nil
	}
	next, err := t.takeState(u, nil, nil)
	if err != nil {
		return sync.Answer{}, err
	}
	names[u.Name] = next.Num
	if u.Kind == sync.Bookmark && u.Name == t.view.Current && baseOf(t.view) != next.Num {
		// The working files here stay as they are, and so does the state that they stand on.
		t.view.Current = ""
	}
	return sync.Answer{Done: true}, nil
}

// loses tells whether a name's state has changes that the pushed one has not.
func (t *tx) loses(now StateRef, u *sync.Update) (bool, error) {
	r := t.r
	if now.Num == NoState {
		return false, nil
	}
	base, ok, err := r.stateBy(t.view, u.Base)
	if err != nil {
		return false, err
	}
	if !ok {
		return false, &Error{Text: "the push is told by a state that is not here"}
	}
	removed, err := t.numbers(u.Removed)
	if err != nil {
		return false, malformedUpdate(u, err)
	}
	added, err := t.numbers(u.Added)
	if err != nil {
		return false, malformedUpdate(u, err)
	}
	beyond, _, err := r.difference(now.Num, base.Num)
	if err != nil {
		return false, err
	}
	if len(removed) == 0 && len(beyond) == 0 {
		return false, nil
	}
	nowSet, err := r.setOf(now.Num)
	if err != nil {
		return false, err
	}
	adds := setOfAll(added)
	for _, n := range append(beyond, removed...) {
		if nowSet.Has(n) && !adds.Has(n) {
			return true, nil
		}
	}
	return false, nil
}
