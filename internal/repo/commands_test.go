package repo

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// command is a command that changes something, and what is done before it.
type command struct {
	name    string
	from    func(testing.TB) *world
	prepare func(t testing.TB, w *world)
	run     func(ctx context.Context, r *Repo) error
	// late: it acknowledges what it keeps aside before it touches a file, so an error may come after that.
	late bool
}

func edited3(t testing.TB, w *world) { scribble(t, w.mem) }

var commands = []command{
	{name: "first commit", from: born, run: commitAll},
	{name: "commit", from: settled, prepare: edited3, run: commitAll},
	{name: "commit of a path", from: settled, prepare: edited3, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Commit(ctx, CommitOptions{Message: "part", Time: at(2000), Paths: []string{"a", "more"}})
		return err
	}},
	{name: "commit of a hunk", from: settled, prepare: edited3, run: func(ctx context.Context, r *Repo) error {
		ids, err := firstHunk(ctx, r)
		if err != nil {
			return err
		}
		_, err = r.Commit(ctx, CommitOptions{Message: "hunk", Time: at(2000), Hunks: ids})
		return err
	}},
	{name: "commit of large files", from: settled, run: commitAll, prepare: func(t testing.TB, w *world) {
		put(t, w.mem, "large", "\x00"+strings.Repeat("0123456789abcdef", 70_000))
		put(t, w.mem, "long", lines(0, 20_000))
	}},
	{name: "checkout of large files", from: settled, run: checkout("main"), prepare: func(t testing.TB, w *world) {
		put(t, w.mem, "large", "\x00"+strings.Repeat("0123456789abcdef", 70_000))
		put(t, w.mem, "a", lines(0, 20_000))
		w.commit(t, "large")
		w.with(t, func(r *Repo) error { return checkout("main~1")(context.Background(), r) })
	}},
	{name: "amend", from: settled, prepare: edited3, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Commit(ctx, CommitOptions{Message: "instead", Time: at(2000), Amend: true})
		return err
	}},
	{name: "checkout of an older state", from: settled, run: checkout("main~2")},
	{name: "checkout of the bookmark", from: settled, run: checkout("main"), prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return checkout("v1")(context.Background(), r) })
		put(t, w.mem, "new", "unrecorded\n")
	}},
	{name: "checkout of files", from: settled, run: func(ctx context.Context, r *Repo) error {
		s, err := r.ResolveState("v1")
		if err != nil {
			return err
		}
		_, err = r.CheckoutFiles(ctx, s, []string{"a", "ln"})
		return err
	}},
	{name: "discard", from: settled, prepare: edited3, late: true, run: discardAll},
	{name: "discard of a hunk", from: settled, prepare: edited3, late: true, run: func(ctx context.Context, r *Repo) error {
		ids, err := firstHunk(ctx, r)
		if err != nil {
			return err
		}
		_, err = r.Discard(ctx, nil, ids)
		return err
	}},
	{name: "undo of a commit", from: settled, run: undo},
	{name: "undo of a discard", from: settled, run: undo, prepare: func(t testing.TB, w *world) {
		scribble(t, w.mem)
		w.with(t, func(r *Repo) error { return discardAll(context.Background(), r) })
	}},
	{name: "undo of a discard of a hunk", from: settled, late: true, run: undoOnce, prepare: func(t testing.TB, w *world) {
		scribble(t, w.mem)
		w.with(t, func(r *Repo) error {
			ids, err := firstHunk(context.Background(), r)
			check(t, err)
			_, err = r.Discard(context.Background(), nil, ids)
			return err
		})
	}},
	{name: "undo of a checkout", from: settled, run: undo, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return checkout("side")(context.Background(), r) })
	}},
	{name: "redo of a commit", from: settled, run: redo, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return undo(context.Background(), r) })
	}},
	{name: "redo of a discard", from: settled, late: true, run: redoDiscard, prepare: func(t testing.TB, w *world) {
		scribble(t, w.mem)
		w.with(t, func(r *Repo) error { return discardAll(context.Background(), r) })
		w.with(t, func(r *Repo) error { return undo(context.Background(), r) })
	}},
	{name: "redo of a checkout", from: settled, run: redo, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return checkout("side")(context.Background(), r) })
		w.with(t, func(r *Repo) error { return undo(context.Background(), r) })
	}},
	{name: "restore", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Restore(ctx, 1)
		return err
	}},
	{name: "bookmark", from: settled, run: func(_ context.Context, r *Repo) error {
		base, err := r.Base()
		if err != nil {
			return err
		}
		return r.SetBookmark("other", base, false)
	}},
	{name: "tag", from: settled, run: func(_ context.Context, r *Repo) error {
		base, err := r.Base()
		if err != nil {
			return err
		}
		return r.SetTag("v2", base, false)
	}},
	{name: "sign", from: settled, prepare: withKey, run: signLast},
	{name: "taking of signatures of others", from: settled, run: takeOthers},
	{name: "commit with a signature", from: settled, run: commitSigned, prepare: func(t testing.TB, w *world) {
		withKey(t, w)
		edited3(t, w)
	}},
	{name: "undo of a signature", from: settled, run: undo, prepare: func(t testing.TB, w *world) {
		withKey(t, w)
		w.with(t, func(r *Repo) error { return signLast(context.Background(), r) })
	}},
	{name: "checkpoint", from: settled, run: func(_ context.Context, r *Repo) error {
		_, err := r.Checkpoint()
		return err
	}},
	{name: "checkpoint --sign", from: settled, prepare: withKey, run: func(_ context.Context, r *Repo) error {
		_, _, err := r.SignCheckpoint(testKey)
		return err
	}},
	{name: "mv", from: settled, run: func(ctx context.Context, r *Repo) error { return r.Move(ctx, "a", "deep/er/a") }},
	{name: "mv of a directory", from: settled, prepare: edited3, run: func(ctx context.Context, r *Repo) error { return r.Move(ctx, "d", "e") }},
	{name: "mv of what was moved", from: settled, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return r.Move(context.Background(), "a", "b") })
	}, run: func(ctx context.Context, r *Repo) error { return r.Move(ctx, "b", "c") }},
	{name: "commit after mv", from: settled, run: commitAll, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return r.Move(context.Background(), "d", "e") })
	}},
	{name: "rm --force", from: settled, prepare: edited3, late: true, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Remove(ctx, []string{"a", "d"}, true)
		return err
	}},
	{name: "untrack", from: settled, prepare: ignoreBin, run: untrackBin},
	{name: "commit after untrack", from: settled, run: commitAll, prepare: func(t testing.TB, w *world) {
		ignoreBin(t, w)
		w.with(t, func(r *Repo) error { return untrackBin(context.Background(), r) })
	}},
	{name: "merge", from: parted, run: mergeSide},
	{name: "merge that moves along", from: parted, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Merge(ctx, "moved", MergeOptions{Follow: true, Time: at(2000)})
		return err
	}},
	{name: "pick", from: parted, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Pick(ctx, []string{"side"}, PickOptions{})
		return err
	}},
	{name: "unrecord", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Unrecord(ctx, []string{"main~1"}, UnrecordOptions{WithDependents: true})
		return err
	}},
	{name: "unrecord of a change that others follow", from: settled, prepare: followed, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Unrecord(ctx, []string{"main~2"}, UnrecordOptions{})
		return err
	}},
	{name: "checkout of a state that is made for it", from: settled, run: checkout("main~1"), prepare: func(t testing.TB, w *world) {
		followed(t, w)
		w.with(t, func(r *Repo) error {
			_, err := r.Unrecord(context.Background(), []string{"main~2"}, UnrecordOptions{})
			return err
		})
	}},
	{name: "upgrade", from: settled, run: upgrade, prepare: func(t testing.TB, w *world) { oldFormat(t, w.mem) }},
	{name: "unrecord that leaves the files", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Unrecord(ctx, []string{"main"}, UnrecordOptions{KeepFiles: true})
		return err
	}},
	{name: "rollback", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Rollback(ctx, "main", RollbackOptions{Time: at(2000)})
		return err
	}},
	{name: "undo of a merge", from: parted, run: undo, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return mergeSide(context.Background(), r) })
	}},
	{name: "resolve", from: parted, late: true, run: takeFirst, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return mergeSide(context.Background(), r) })
	}},
	{name: "commit of a resolution", from: parted, run: commitAll, prepare: func(t testing.TB, w *world) {
		w.with(t, func(r *Repo) error { return mergeSide(context.Background(), r) })
		w.with(t, func(r *Repo) error { return takeFirst(context.Background(), r) })
	}},
	{name: "amend of an earlier change", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Amend(ctx, "main~2", AmendOptions{})
		return err
	}, prepare: func(t testing.TB, w *world) {
		put(t, w.mem, "new", "unrecorded\n")
		put(t, w.mem, "d/bin", binary5000+"more")
	}},
	{name: "subrepo add", from: settled, prepare: libBeside, run: addSub},
	{name: "subrepo remove", from: settled, prepare: withSub, run: func(ctx context.Context, r *Repo) error {
		_, err := r.RemoveSubrepos(ctx, SubrepoOptions{Paths: []string{"sub"}})
		return err
	}},
	{name: "subrepo update", from: settled, prepare: withSub, run: func(ctx context.Context, r *Repo) error {
		done, err := r.UpdateSubrepos(ctx, SubrepoOptions{})
		for i := range done {
			err = errors.Join(err, done[i].Err)
		}
		return err
	}},
	{name: "subrepo update --newest", from: settled, prepare: withSub, late: true, run: func(ctx context.Context, r *Repo) error {
		_, err := r.PinNewest(ctx, SubrepoOptions{})
		return err
	}},
	{name: "undo of a subrepo's adding", from: settled, prepare: withSub, run: undo},
	{name: "reword", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Reword(ctx, "main~1", RewriteOptions{Message: "said better"})
		return err
	}},
	{name: "squash", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Squash(ctx, []string{"main", "main~1"}, RewriteOptions{})
		return err
	}},
	{name: "split", from: settled, run: func(ctx context.Context, r *Repo) error {
		_, err := r.Split(ctx, "main", SplitOptions{Paths: []string{"d"}, Messages: [2]string{"d", "the rest"}})
		return err
	}},
	{name: "sparse set", from: settled, prepare: withNew, run: sparse((*Repo).SetSparse, "d/sub")},
	{name: "sparse add", from: settled, prepare: withSparse, run: func(ctx context.Context, r *Repo) error {
		return sparse((*Repo).AddSparse, "e")(ctx, r)
	}},
	{name: "sparse remove", from: settled, prepare: withSparse, run: func(ctx context.Context, r *Repo) error {
		if s, err := r.Sparse(); err != nil || s == nil || len(s.Dirs) == 0 { // done by one that a fault cut off
			return errors.Join(err, sparse((*Repo).SetSparse)(ctx, r))
		}
		return sparse((*Repo).RemoveSparse, "d/sub")(ctx, r)
	}},
	{name: "sparse off", from: settled, prepare: withSparse, run: func(ctx context.Context, r *Repo) error {
		_, err := r.EndSparse(ctx)
		return err
	}},
	{name: "commit in a sparse working copy", from: settled, prepare: func(t testing.TB, w *world) {
		withSparse(t, w)
		put(t, w.mem, "a", "mine\n")
		put(t, w.mem, "d/sub/c", "mine too\n")
	}, run: commitAll},
	{name: "checkout in a sparse working copy", from: settled, prepare: withSparse, run: checkout("v1")},
	{name: "merge in a sparse working copy", from: parted, run: mergeSide, prepare: withSparse},
	{name: "bringing what was left out", from: partly, late: true, run: func(ctx context.Context, r *Repo) error {
		all, err := r.allLacking()
		if err != nil {
			return err
		}
		return r.bringContents(ctx, all, nil)
	}},
	{name: "sparse add of what was left out", from: partly, late: true, run: sparse((*Repo).AddSparse, "d")},
	{name: "config", from: settled, run: func(_ context.Context, r *Repo) error { return r.ConfigSet("user.name", "Grace", false) }},
}

// partly is a partial clone of settled, with all but one directory. A picture and its earlier forms are left out.
func partly(t testing.TB) *world {
	w := settled(t)
	put(t, w.mem, "d/bin", binary5000+"altered")
	put(t, w.mem, "e/x", "x\n")
	w.commit(t, "fourth")
	check(t, w.mem.Rename(memRoot, "/origin"))
	r, res, err := Clone(context.Background(), "/origin", memRoot, memOptions(w.mem), SyncOptions{Dir: "/", Path: []string{"e"}})
	check(t, err)
	if res.Promised != 2 {
		t.Fatalf("%d are left out", res.Promised)
	}
	check(t, r.Close())
	out := &world{mem: w.mem}
	syncFiles(t, w.mem)
	return out
}

// withSparse has one directory in another, the files above it, and not the directory beside.
func withSparse(t testing.TB, w *world) {
	put(t, w.mem, "e/new", lines(0, 9))
	put(t, w.mem, "e/f/x", "x\n")
	put(t, w.mem, "d/sub/c", lines(2, 9))
	w.commit(t, "beside")
	w.with(t, func(r *Repo) error { return sparse((*Repo).SetSparse, "d/sub")(context.Background(), r) })
}

func withNew(t testing.TB, w *world) {
	put(t, w.mem, "new", "unrecorded\n")
	put(t, w.mem, "e/new", "unrecorded\n")
	put(t, w.mem, "e/f/x", "x\n")
	w.commit(t, "beside")
	put(t, w.mem, "e/mine", "unrecorded\n")
}

func sparse(set func(*Repo, context.Context, []string) (*SparseResult, error), dirs ...string) func(context.Context, *Repo) error {
	return func(ctx context.Context, r *Repo) error {
		_, err := set(r, ctx, dirs)
		return err
	}
}

// parted is settled with bookmarks of others: one edits what the current one edits, one moves a directory.
func parted(t testing.TB) *world {
	w := settled(t)
	to := func(bookmark string) {
		w.with(t, func(r *Repo) error { return checkout(bookmark)(context.Background(), r) })
	}
	to("side")
	put(t, w.mem, "a", lines(0, 12)+"theirs\n"+lines(14, 33))
	put(t, w.mem, "d/b", lines(0, 5)+"more\n")
	w.commit(t, "fourth")
	w.with(t, func(r *Repo) error { return r.SetBookmark("moved", w.moments[1].state, false) })
	to("moved")
	w.with(t, func(r *Repo) error { return r.Move(context.Background(), "d", "e") })
	w.commit(t, "fifth")
	to("main")
	put(t, w.mem, "d/fresh", "beneath\n")
	w.commit(t, "sixth")
	return w
}

func mergeSide(ctx context.Context, r *Repo) error {
	_, err := r.Merge(ctx, "side", MergeOptions{})
	return err
}

func takeFirst(ctx context.Context, r *Repo) error {
	_, err := r.Resolve(ctx, ResolveOptions{Paths: []string{"a"}, Take: []string{"1"}})
	return err
}

// followed has three changes more that know nothing of each other.
func followed(t testing.TB, w *world) {
	for _, p := range []string{"one", "two", "three"} {
		put(t, w.mem, p, p+"\n")
		w.commit(t, p)
	}
}

func upgrade(_ context.Context, r *Repo) error {
	_, _, err := r.Upgrade()
	return err
}

func commitAll(ctx context.Context, r *Repo) error {
	_, err := r.Commit(ctx, CommitOptions{Message: "all", Time: at(2000)})
	return err
}

// firstHunk is the one at the top of a.
func firstHunk(ctx context.Context, r *Repo) ([]string, error) {
	hs, err := r.Hunks(ctx, []string{"a"})
	if err != nil {
		return nil, err
	}
	for _, h := range hs {
		if h.A0 == 0 {
			return []string{h.ID}, nil
		}
	}
	return nil, &Error{Text: "no such hunk", No: true}
}

func discardAll(ctx context.Context, r *Repo) error {
	_, err := r.Discard(ctx, nil, nil)
	return err
}

func undo(ctx context.Context, r *Repo) error {
	_, err := r.Undo(ctx)
	return err
}

func redo(ctx context.Context, r *Repo) error {
	_, err := r.Redo(ctx)
	return err
}

// undoOnce is an undo, and where a fault left one that stands and is not whole, that one again.
func undoOnce(ctx context.Context, r *Repo) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	if string(v.Kept[keptKind]) == "undo" {
		if err := redo(ctx, r); err != nil {
			return err
		}
	}
	return undo(ctx, r)
}

// redoDiscard redoes a discard. Once that stands, what a fault left of it is discarded.
func redoDiscard(ctx context.Context, r *Repo) error {
	err := redo(ctx, r)
	if e := (*Error)(nil); errors.As(err, &e) && e.No {
		return discardAll(ctx, r)
	}
	return err
}

func checkout(rev string) func(context.Context, *Repo) error {
	return func(ctx context.Context, r *Repo) error {
		_, err := r.Checkout(ctx, rev)
		return err
	}
}

func ignoreBin(t testing.TB, w *world) { put(t, w.mem, ".oxyignore", "bin\n") }

func untrackBin(ctx context.Context, r *Repo) error {
	_, err := r.Untrack(ctx, []string{"d/bin"})
	return err
}

// attempt runs a command as a process does.
func (c *command) attempt(fsys vfs.FS) error {
	r, err := Open(memRoot, memOptions(fsys))
	if err != nil {
		return err
	}
	err = c.run(context.Background(), r)
	_ = r.Close()
	return err
}
