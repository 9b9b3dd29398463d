package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// BundleResult says what a bundle holds.
type BundleResult struct {
	Refs    []BundleRef
	Changes int
	Bytes   int64 // of the file, when it was written; of the stream in it, when it was read
	Signed  int   // signatures beside the changes
}

// BundleRef is a name in a bundle.
type BundleRef struct {
	Kind  string
	Name  string
	State [32]byte
	Base  [32]byte // the state that who applies it must have; zero for none
	Here  bool     // that state is here
	Added int      // changes that the name has beyond it
}

// CreateBundle writes bookmarks and tags, all of them if none is named, to a file that another repository can apply. Of what
// the state since has, if it is not "", nothing goes along: whoever applies the bundle must have it.
func (r *Repo) CreateBundle(ctx context.Context, name string, revs []string, since string) (*BundleResult, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	refs, err := r.refs(v)
	if err != nil {
		return nil, err
	}
	if refs, err = choose(refs, revs); err != nil {
		return nil, &Error{Text: "a bundle holds bookmarks and tags: " + err.Error(), Next: "See which there are with: oxy bookmark, oxy tag"}
	}
	if len(refs) == 0 {
		return nil, &Error{Text: "there is nothing to put into a bundle", Next: "Record something with: oxy commit -m MESSAGE"}
	}
	haves := map[[32]byte]bool{}
	var before []StateRef
	if since != "" {
		s, err := r.ResolveState(since)
		if err != nil {
			return nil, err
		}
		haves[s.ID] = true
		before = append(before, s)
	}
	res := &BundleResult{}
	err = vfs.WriteFileAtomicFrom(r.fs, name, func(f vfs.File) error {
		b := bufio.NewWriterSize(f, 1<<20)
		w, err := sync.NewWriter(b, sync.Zstd)
		if err != nil {
			return err
		}
		if err := r.bundle(ctx, w, refs, haves, before, res); err != nil {
			return err
		}
		if err := errors.Join(w.Close(), b.Flush()); err != nil {
			return err
		}
		var st vfs.Stat
		err = f.Stat(&st)
		res.Bytes = st.Size
		return err
	})
	if err != nil {
		return nil, fileError("write the bundle", err)
	}
	return res, nil
}

func (r *Repo) bundle(ctx context.Context, w *sync.Writer, refs []sync.Ref, haves map[[32]byte]bool, before []StateRef, res *BundleResult) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	signed, err := r.signedOf(v, refs)
	if err != nil {
		return err
	}
	if err := w.Bundle(len(signed) > 0); err != nil {
		return err
	}
	r.opt.Progress.Begin("Writing", 0, true)
	defer r.opt.Progress.End()
	w.Progress = r.opt.Progress.Add
	s := r.newSending(ctx, w, false)
	tell := r.newTelling(haves, len(refs))
	tell.before = before
	wants, err := tell.inOrder(refs, func(ref sync.Ref) (StateRef, error) { return r.wanted(v, ref) })
	if err != nil {
		return err
	}
	for _, want := range wants {
		ref, state := want.Ref, want.state
		by, ok, err := tell.tell(state)
		if err == nil && !ok {
			by, err = r.fromNothing(state)
		}
		if err != nil {
			return err
		}
		if err := s.changes(by.added); err != nil {
			return err
		}
		if err := w.Update(r.updateOf(ref.Kind, ref.Name, state, by)); err != nil {
			return err
		}
		tell.did(state)
		res.Refs = append(res.Refs, BundleRef{Kind: ref.Kind.String(), Name: ref.Name, State: state.ID, Base: by.base.ID, Here: true, Added: len(by.added)})
	}
	for i := range signed {
		if err := w.Signed(&signed[i]); err != nil {
			return err
		}
	}
	res.Changes, res.Signed = len(s.sent), len(signed)
	return nil
}

// signedOf gives the signatures that came after the changes that some names have.
func (r *Repo) signedOf(v *store.View, refs []sync.Ref) ([]sync.Signed, error) {
	if signedMark(v) == (sync.Mark{}) {
		return nil, nil
	}
	only := &store.View{Base: -1, Bookmarks: map[string]uint32{}, Tags: map[string]uint32{}}
	for _, ref := range refs {
		s, err := r.wanted(v, ref)
		if err != nil {
			return nil, err
		}
		only.Bookmarks[ref.Kind.String()+" "+ref.Name] = s.Num
	}
	has, _, err := r.reachable(only, only)
	if err != nil {
		return nil, err
	}
	set, err := r.signedIn(v, has.Has)
	if err != nil {
		return nil, err
	}
	return set.some(set.ids().All()), nil
}

// openBundle reads a bundle.
func (r *Repo) openBundle(name string, use func(in *sync.Reader) error) error {
	f, err := r.fs.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return readError("the bundle "+safepath.Quote(name), err)
	}
	defer f.Close()
	in, err := sync.NewReader(bufio.NewReaderSize(f, 1<<20), sync.MaxMessage)
	if err == nil {
		defer in.Close()
		if err = in.Bundle(); err == nil {
			err = use(in)
		}
	}
	switch {
	case errors.Is(err, errNotBefore):
		return &Error{Text: safepath.Quote(name) + " builds on changes that are not here", Next: "Apply the bundle before it first, or ask for one without --since.", Err: err}
	case errors.Is(err, sync.ErrMalformed):
		return &Error{Text: fmt.Sprintf("%s: %v", safepath.Quote(name), err), Next: "Nothing of it was taken. Get the bundle again.", Err: err}
	}
	return err
}

// ListBundle tells what a bundle holds. All of it is read, so that a cut or an altered byte shows; nothing is taken.
func (r *Repo) ListBundle(name string) (*BundleResult, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	res := &BundleResult{}
	err = r.openBundle(name, func(in *sync.Reader) error {
		made := map[[32]byte]bool{}
		err := in.Pack(sync.Receiver{
			Known: func(changeID) bool { res.Changes++; return true },
			Update: func(u *sync.Update) error {
				_, here, err := r.stateBy(v, u.Base)
				res.Refs = append(res.Refs, BundleRef{u.Kind.String(), u.Name, u.State, u.Base, here || made[u.Base], len(u.Added)})
				made[u.State] = true
				return err
			},
			Signed: func(*sync.Signed) error { res.Signed++; return nil },
		})
		res.Bytes = in.Got()
		return err
	})
	if err != nil {
		return nil, err
	}
	return res, nil
}

// ApplyBundle takes what a bundle holds: bookmarks are united with those of the same names here, as by a pull, tags are made
// where there is none.
func (r *Repo) ApplyBundle(ctx context.Context, name string) (*FetchResult, []*PullResult, error) {
	f := &fetching{ctx: ctx, r: r, l: &link{shown: name}, res: &FetchResult{Remote: name}}
	var got *received
	err := r.openBundle(name, func(in *sync.Reader) (err error) {
		r.opt.Progress.Begin("Reading", 0, true)
		defer r.opt.Progress.End()
		in.Progress = r.opt.Progress.Add
		got = &received{signed: &sync.Gathered{}}
		if _, err = r.receiveSome(ctx, in, got, 0); err != nil {
			return err
		}
		f.count(got)
		if err := f.settle(got.updates, nil); err != nil || len(got.signed.List) == 0 {
			return err
		}
		took, err := r.keepSigned(got.signed.List, "fetch")
		if err == nil {
			f.res.Signatures = took.added
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	v, err := r.view()
	if err != nil {
		return nil, nil, err
	}
	var names []string
	for _, u := range got.updates {
		if u.Kind == sync.Bookmark && !slices.Contains(names, u.Name) {
			names = append(names, u.Name)
		}
	}
	// The current one last: its report, with conflicts, is what a person shall see at the end.
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case a == v.Current:
			return 1
		case b == v.Current:
			return -1
		}
		return 0
	})
	var pulled []*PullResult
	for _, name := range names {
		res := &PullResult{Bookmark: name}
		if err := r.pullInto(ctx, res, passing); err != nil {
			return f.res, pulled, err
		}
		pulled = append(pulled, res)
	}
	return f.res, pulled, nil
}
