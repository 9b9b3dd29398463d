package repo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// A clone of a path takes the other's log as a whole: linked, reflinked or copied, which costs a tenth of sending each change and
// packing it again. What it holds is proved like what a peer sends. The other's operations and states stand in that log as well;
// nobody here vouches for them, so they count for nothing: the view keeps how many of them there are, no command shows or
// finds one, and the states of the clone's own names are made anew from the changes. gc drops them.

// keptForeign is the key under which a clone's view keeps how many operations and states, from 0, are another's.
const keptForeign = "foreign"

// foreign reads that.
func foreign(v *store.View) (ops, states uint32) {
	b := v.Kept[keptForeign]
	if len(b) != 8 {
		return 0, 0
	}
	return binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
}

// errOtherwise says that a log cannot be taken as a whole, and why. Asked as a peer the other may still have all that is needed.
var errOtherwise = errors.New("the log cannot be taken as it is")

// cloneLog makes a repository in dir with the log of the one at from, proved, and the view of a new one. refs are the names that
// it told of as a peer: it still has them.
func cloneLog(ctx context.Context, from, dir string, opt Options, refs []sync.Ref) (*Repo, []*sync.Update, store.Adopted, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, store.Adopted{}, err
	}
	at := filepath.Join(root, DirName)
	if err := errors.Join(makeDirs(opt.FS, root), opt.FS.MkdirAll(filepath.Join(at, "wc"), 0o777)); err != nil {
		return nil, nil, store.Adopted{}, fileError("make the repository", err)
	}
	s, got, err := store.Adopt(opt.FS, filepath.Join(from, DirName), at, func(n int64) error {
		opt.Progress.Add(n)
		return context.Cause(ctx)
	})
	if errors.Is(err, store.ErrNotPlain) {
		return nil, nil, got, &Error{Text: fmt.Sprintf("%s: %v", safepath.Quote(from), err), Next: "A link may lead to anybody's files, so nothing was taken. Clone it through ssh, or copy it first.", Err: err}
	}
	if ctx.Err() != nil {
		return nil, nil, got, errors.Join(err, context.Cause(ctx))
	}
	if err != nil {
		return nil, nil, got, errors.Join(errOtherwise, err)
	}
	r := &Repo{root: root, dir: at, fs: opt.FS, opt: opt, store: s}
	updates, err := r.acceptLog(ctx, refs)
	if err != nil {
		return nil, nil, got, errors.Join(err, r.Close())
	}
	return r, updates, got, nil
}

// acceptLog proves all that the log holds and begins a view of its own behind it.
func (r *Repo) acceptLog(ctx context.Context, refs []sync.Ref) ([]*sync.Update, error) {
	if err := r.proveLog(ctx); err != nil {
		return nil, err
	}
	v, err := r.store.View()
	if err != nil {
		return nil, errors.Join(errOtherwise, err)
	}
	updates, err := r.updatesOf(ctx, v, refs)
	if err != nil {
		return nil, errors.Join(errOtherwise, err)
	}
	signed := v.Kept[keptSigned]
	floor := binary.BigEndian.AppendUint32(nil, r.store.NumOps())
	floor = binary.BigEndian.AppendUint32(floor, r.store.NumStates())
	_, err = transact(r, func(t *tx) (struct{}, error) {
		t.view = store.NewView()
		t.view.Current = FirstBookmark
		t.view.Kept[keptForeign] = floor
		if len(signed) > 0 {
			t.view.Kept[keptSigned] = signed
		}
		return struct{}{}, t.commit("init")
	})
	if err == nil {
		err = r.store.Accept()
	}
	if err != nil {
		return nil, fileError("make the repository", err)
	}
	return updates, nil
}

// proveLog holds everything in the log to what it must be.
func (r *Repo) proveLog(ctx context.Context) error {
	done := r.opt.Timings.Phase("prove the log")
	defer done(0)
	c := &checker{r: r, ctx: ctx, bad: map[change.Hash]bool{}}
	err := c.log(FsckOptions{})
	for _, step := range []func() error{c.changes, c.covered, c.states, c.ops, c.signatures} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return err
	}
	r.store.Release()
	if len(c.found) > 0 {
		return fmt.Errorf("%w: %s", errOtherwise, c.found[0].Text)
	}
	return nil
}

// updatesOf tells of the other's names as it would have as a peer.
func (r *Repo) updatesOf(ctx context.Context, v *store.View, refs []sync.Ref) ([]*sync.Update, error) {
	now, err := r.refs(v)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(now, refs) { // those were checked
		return nil, errors.New("its bookmarks moved meanwhile")
	}
	var out []*sync.Update
	tell := r.newTelling(nil, len(refs))
	wants, err := tell.inOrder(refs, func(ref sync.Ref) (StateRef, error) { return r.wanted(v, ref) })
	if err != nil {
		return nil, err
	}
	for _, want := range wants {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		ref, s := want.Ref, want.state
		by, ok, err := tell.tell(s)
		if err == nil && !ok {
			by, err = r.fromNothing(s)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r.updateOf(ref.Kind, ref.Name, s, by))
		tell.did(s)
	}
	return out, nil
}
