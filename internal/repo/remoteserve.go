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

// CheckRules reads what pushes must keep to: what is wrong with it is for who starts the server to see, not for who pushes first.
func (s *Server) CheckRules() error {
	r, err := s.open()
	if err != nil {
		return err
	}
	_, err = r.readRules()
	return errors.Join(err, r.Close())
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
	return openAt(root, s.opt.Options, openWhole)
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
		err = s.list(r, q, out)
	case sync.Fetch:
		err = s.fetch(ctx, r, q, out)
	case sync.Ranges:
		err = s.ranges(r, q, out)
	case sync.Take:
		err = s.take(ctx, r, q, out)
	case sync.Single:
		err = s.single(ctx, r, q, out)
	case sync.Held:
		err = s.held(ctx, r, q, out)
	case sync.Bring:
		err = s.bringAsked(ctx, r, q, out)
	case sync.Push:
		err = s.pushed(ctx, r, in, out)
	case sync.SignedSets:
		err = s.signedSets(r, q, out)
	case sync.TakeSigned:
		err = s.giveAsked(r, q, out)
	case sync.GiveSigned:
		err = s.signedGiven(ctx, r, q, out)
	default:
		err = &sync.RefusedError{Text: fmt.Sprintf("there is no request %d", q.Verb)}
	}
	if lack := (*lackingError)(nil); errors.As(err, &lack) {
		return &sync.RefusedError{Text: r.partialRefusal()}
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

// usualBookmarks are what a clone begins with where nobody is on a bookmark that is there: a repository that is only served, whose
// history was pushed or imported.
var usualBookmarks = []string{FirstBookmark, "master", "trunk", "default", "develop"}

// usualBookmark is the bookmark that people are on, or would be; "" where there is none that stands out.
func usualBookmark(v *store.View) string {
	for _, name := range append([]string{v.Current}, usualBookmarks...) {
		if _, ok := v.Bookmarks[name]; ok {
			return name
		}
	}
	return ""
}

// ToCheckout is for someone who stands on no state: the bookmark to begin with, "" where none stands out. stands tells of the others.
func (r *Repo) ToCheckout() (bookmark string, stands bool, err error) {
	v, err := r.view()
	if err != nil || v.Base >= 0 {
		return "", true, err
	}
	return usualBookmark(v), false, nil
}

// refs lists the bookmarks, the one that people are on first, and the tags.
func (r *Repo) refs(v *store.View) ([]sync.Ref, error) {
	var out []sync.Ref
	add := func(kind sync.RefKind, name string, n uint32) error {
		s, err := r.stateRef(n)
		out = append(out, sync.Ref{Kind: kind, Name: name, State: s.ID, Len: s.Len})
		return err
	}
	names := slices.Sorted(maps.Keys(v.Bookmarks))
	if i := slices.Index(names, usualBookmark(v)); i > 0 {
		first := names[i]
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

func (s *Server) list(r *Repo, q *sync.Request, out *sync.Writer) error {
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
	if !q.Marked {
		return nil
	}
	return out.Marked(signedMark(v))
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
	haves := sync.StateSet(q.Haves)
	if err := out.Reply(); err != nil {
		return err
	}
	w, err := r.newAnswer(ctx, out, q)
	if err != nil {
		return err
	}
	tell := r.newTelling(haves, len(q.Wants))
	refs, err := tell.inOrder(q.Wants, func(ref sync.Ref) (StateRef, error) { return r.wanted(v, ref) })
	if err != nil {
		return err
	}
	if err := w.noDeeper(q.Depth, refs); err != nil {
		return err
	}
	for _, want := range refs {
		ref, state := want.Ref, want.state
		if err := ctx.Err(); err != nil {
			return err
		}
		by, ok, err := tell.tell(state)
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
		if len(by.added) > smallLog {
			if err := out.Total(len(by.added)); err != nil {
				return err
			}
		}
		if err := w.changes(by.added); err != nil {
			return err
		}
		if err := out.Update(r.updateOf(ref.Kind, ref.Name, state, by)); err != nil {
			return err
		}
		tell.did(state)
	}
	return nil
}

// fromNothing tells all of a state.
func (r *Repo) fromNothing(s StateRef) (told, error) {
	var nums []uint32
	err := r.eachStep(s.Num, func(step *logStep) (bool, error) {
		for _, n := range slices.Backward(step.changes) {
			nums = append(nums, n)
		}
		return true, nil
	})
	if err != nil {
		return told{}, err
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
	var found StateRef
	ok := false
	err = r.eachStep(s.Num, func(step *logStep) (bool, error) {
		if !step.whole { // it has what was taken away since
			return true, nil
		}
		at, err := r.stateRef(step.at)
		if ok = at.ID == q.Wants[0].State; ok {
			found = at
		}
		return !ok, err
	})
	if err != nil || ok {
		return found, err
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
	err = r.eachStep(state.Num, func(step *logStep) (bool, error) {
		for _, n := range slices.Backward(step.changes) {
			if lacking, ok := lacks[r.store.ChangeID(n)]; ok {
				added = append(added, n)
				if lacking {
					along = append(along, n)
				}
			}
		}
		return len(added) < len(lacks), nil
	})
	if err != nil {
		return err
	}
	if len(added) < len(lacks) {
		return &Error{Text: "a change that was asked for is not there"}
	}
	slices.Reverse(added)
	slices.Reverse(along)
	if err := out.Reply(); err != nil {
		return err
	}
	if err := out.Total(len(along)); err != nil {
		return err
	}
	w, err := r.newAnswer(ctx, out, q)
	if err != nil {
		return err
	}
	ref := q.Wants[0]
	if err := w.noDeeper(q.Depth, []toldRef{{ref, state}}); err != nil {
		return err
	}
	if err := w.changes(along); err != nil {
		return err
	}
	return out.Update(r.updateOf(ref.Kind, ref.Name, state, told{base: StateRef{Num: NoState}, added: added}))
}

// held tells who is about to push which changes need not go: they went before, in a push that was cut or refused.
func (s *Server) held(ctx context.Context, r *Repo, q *sync.Request, out *sync.Writer) error {
	if s.opt.ReadOnly || !sync.CallerOf(ctx).Push {
		return &Error{Text: "you may not push here"}
	}
	marks := make([]bool, len(q.IDs))
	for i, id := range q.IDs {
		_, marks[i] = r.store.FindChange(id)
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Marks(marks)
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
	haves := sync.StateSet(q.Haves)
	var common state.Set
	for _, n := range namedStates(v) { // to look through all states would be work for nothing
		if st, err := r.stateRef(n); err == nil && haves[st.ID] {
			set, err := mended(r, func() (state.Set, error) { return r.setOf(n) })
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
	w, err := r.newAnswer(ctx, out, q)
	if err != nil {
		return err
	}
	return w.changes(closure)
}
