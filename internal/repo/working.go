package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// openRoot opens the working copy's root.
func (r *Repo) openRoot() (vfs.Dir, error) {
	d, err := r.fs.OpenDir(r.root)
	if err != nil {
		return nil, fileError("open the working copy", err)
	}
	return d, nil
}

// maxExclude bounds an exclude file: beyond it, it is no list of rules.
const maxExclude = 16 << 20

// excludes reads the exclude files that hold for the whole working copy: the person's own, then the repository's.
func (r *Repo) excludes() [][]byte {
	var out [][]byte
	if dir := r.userConfigDir(); dir != "" {
		if b, err := r.fs.ReadFile(filepath.Join(dir, "ignore"), maxExclude); err == nil {
			out = append(out, b)
		}
	}
	if b, err := r.fs.ReadFile(filepath.Join(r.dir, "ignore"), maxExclude); err == nil {
		out = append(out, b)
	}
	return out
}

// scan looks at the working copy.
func (r *Repo) scan(ctx context.Context, base StateRef, opt worktree.Options) (*worktree.Result, error) {
	m, err := r.loadManifest(base)
	if err != nil {
		return nil, err
	}
	root, err := r.openRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if opt.Cone, err = r.workingCone(); err != nil {
		return nil, err
	}
	opt.Excludes = r.excludes()
	done := r.opt.Timings.Phase("scan")
	res, err := worktree.Scan(ctx, root, m, opt)
	if errors.Is(err, worktree.ErrDamaged) {
		if m, err = r.rebuildManifest(base); err == nil {
			res, err = worktree.Scan(ctx, root, m, opt)
		}
	}
	done(0)
	return res, err
}

// Status compares the working copy with its base.
func (r *Repo) Status(ctx context.Context, opt StatusOptions) (*Status, error) {
	return mended(r, func() (*Status, error) { return r.status(ctx, opt) })
}

func (r *Repo) status(ctx context.Context, opt StatusOptions) (*Status, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	base, err := r.stateRef(baseOf(v))
	if err != nil {
		return nil, err
	}
	res, err := r.scan(ctx, base, worktree.Options{Collapse: !opt.All, Ignored: opt.Ignored, Paths: nonRoot(opt.Paths)})
	if err != nil {
		return nil, err
	}
	defer r.saveManifest()
	s := &Status{Bookmark: v.Current, Base: base, Empty: r.store.NumChanges() == 0, Untracked: res.Untracked, Ignored: res.Ignored, Nested: res.Nested, Special: res.Special, Outside: res.Outside, Problems: res.Errors}
	if s.Sparse, err = r.Sparse(); err != nil {
		return nil, err
	}
	p, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	d, err := r.differences(base, res, p)
	if err != nil {
		return nil, err
	}
	for i := range d {
		s.Files = append(s.Files, d[i].FileChange)
	}
	if s.Untracked, err = r.besideMoved(ctx, base, s.Untracked, d); err != nil {
		return nil, err
	}
	if len(res.Subrepos) > 0 {
		subs, err := r.subreposOn(base, res.Subrepos)
		if err != nil {
			return nil, err
		}
		s.Subrepos = r.subrepoStatus(ctx, subs)
	}
	s.Conflicts, err = r.conflictsAt(base, v)
	return s, err
}

// nonRoot drops paths when one of them is the root: it takes in all.
func nonRoot(paths []string) []string {
	for _, p := range paths {
		if p == "" {
			return nil
		}
	}
	return paths
}

// besideMoved leaves out what a noted move has made a tracked file's new place. A directory that is new as a whole, and that
// something was moved into, is listed by its files: it may have no others.
func (r *Repo) besideMoved(ctx context.Context, base StateRef, untracked []string, d []difference) ([]string, error) {
	var out []string
	for _, u := range untracked {
		moved := func(f difference) bool { return f.What == Moved && strings.HasPrefix(f.New.Path, u) }
		if !strings.HasSuffix(u, "/") || !slices.ContainsFunc(d, moved) {
			out = append(out, u)
			continue
		}
		res, err := r.scan(ctx, base, worktree.Options{Paths: []string{strings.TrimSuffix(u, "/")}})
		if err != nil {
			return nil, err
		}
		out = append(out, res.Untracked...)
	}
	return r.withoutMoved(out, d), nil
}

// withoutMoved leaves out what a noted move has made a tracked file's new place.
func (r *Repo) withoutMoved(untracked []string, d []difference) []string {
	moved := map[string]bool{}
	for i := range d {
		if d[i].What == Moved {
			moved[d[i].New.Path] = true
		}
	}
	if len(moved) == 0 {
		return untracked
	}
	var out []string
	for _, u := range untracked {
		if !moved[u] {
			out = append(out, u)
		}
	}
	return out
}

// difference is one file of the working copy that differs from its base.
type difference struct {
	FileChange
	stat vfs.Stat // on disk
}

// differences turns a scan into files that differ. Untracked files are not among them, save those that a noted move names.
func (r *Repo) differences(base StateRef, res *worktree.Result, p *pending) ([]difference, error) {
	var out []difference
	missing := map[string]int{}
	for i := range res.Changed {
		it := &res.Changed[i]
		d := difference{stat: it.Stat, FileChange: FileChange{Old: sideOf(it.Path, &it.Base)}}
		switch it.Status {
		case worktree.Modified:
			d.What = Modified
		case worktree.ModeChanged:
			d.What = ModeChanged
		case worktree.TypeChanged:
			d.What = TypeChanged
		case worktree.Missing:
			d.What = Removed
			missing[it.Path] = len(out)
		}
		if d.What != Removed {
			d.New = diskSide(it.Path, &it.Stat)
			if it.Hashed {
				d.New.Hash = it.Hash
			}
		}
		out = append(out, d)
	}
	for _, path := range p.Untracked {
		if _, gone := missing[path]; gone {
			continue
		}
		e, ok, err := r.manifest.Lookup(path)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, difference{FileChange: FileChange{What: Removed, Old: sideOf(path, &e)}})
		}
	}
	return r.noteMoves(out, missing, p.Moves)
}

// noteMoves makes moves of what a person noted as such, as far as the disk bears it out: something is at the new place,
// and nothing at the old one but what another noted move brought there, as in a swap.
func (r *Repo) noteMoves(out []difference, missing map[string]int, moves []move) ([]difference, error) {
	from, to := map[string]bool{}, map[string]bool{}
	disk := map[string]*vfs.Stat{}
	var valid []move
	for _, m := range slices.Backward(moves) {
		if from[m.From] || to[m.To] {
			continue // a later note says otherwise
		}
		st := &vfs.Stat{}
		err := r.fs.Lstat(r.disk(m.To), st)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !isNotDir(err) {
			return nil, fileError("look at "+safepath.Quote(m.To), err)
		}
		if err == nil && (st.Kind == vfs.KindFile || st.Kind == vfs.KindLink) {
			disk[m.To] = st
			valid = append(valid, m)
			from[m.From], to[m.To] = true, true
		}
	}
	for again := true; again; {
		again = false
		var rest []move
		for _, m := range valid {
			_, gone := missing[m.From]
			_, was, err := r.manifest.Lookup(m.From)
			if err != nil {
				return nil, err
			}
			_, tracked, err := r.manifest.Lookup(m.To)
			if err != nil {
				return nil, err
			}
			if was && (gone || to[m.From]) && (!tracked || from[m.To]) {
				rest = append(rest, m)
				continue
			}
			// The person went on by hand: what is there now is found as ever.
			delete(from, m.From)
			delete(to, m.To)
			again = true
		}
		valid = rest
	}
	if len(valid) == 0 {
		return out, nil
	}
	kept := out[:0]
	for _, d := range out {
		if !from[d.Old.Path] && !to[d.Old.Path] {
			kept = append(kept, d)
		}
	}
	for _, m := range valid {
		e, _, err := r.manifest.Lookup(m.From)
		if err != nil {
			return nil, err
		}
		st := disk[m.To]
		kept = append(kept, difference{FileChange: FileChange{What: Moved, Old: sideOf(m.From, &e), New: diskSide(m.To, st)}, stat: *st})
	}
	slices.SortFunc(kept, func(a, b difference) int { return strings.Compare(a.Path(), b.Path()) })
	return kept, nil
}

func sideOf(path string, e *worktree.Entry) *Side {
	s := &Side{Path: path, Exec: e.Exec, Size: e.Size, Hash: e.Hash}
	switch e.Kind {
	case worktree.Link:
		s.Kind = change.Link
	case worktree.Subrepo:
		s.Kind = change.Subrepo
	}
	return s
}

func diskSide(path string, st *vfs.Stat) *Side {
	s := &Side{Path: path, Exec: st.Exec && st.Kind == vfs.KindFile, Size: st.Size}
	switch {
	case st.Kind == vfs.KindLink:
		s.Kind = change.Link
	case st.Size > change.MaxText:
		s.Kind = change.Binary
	}
	return s
}

// readDisk appends a working file's content. A link's is its target.
func (r *Repo) readDisk(root vfs.Dir, dst []byte, path string) ([]byte, vfs.Stat, error) {
	b, st, err := worktree.ReadPath(root, r.manifest, path, dst, maxInMemory)
	if err != nil {
		return dst, st, readError(safepath.Quote(path), err)
	}
	return b, st, nil
}

// maxInMemory is how large a file may be to be read whole: anything that can be text, with room to spare.
const maxInMemory = 1 << 30

// exists tells whether anything is at a path of the working copy.
func (r *Repo) exists(path string) (bool, error) {
	var st vfs.Stat
	err := r.fs.Lstat(filepath.Join(r.root, filepath.FromSlash(path)), &st)
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return false, nil
	}
	return err == nil, err
}

// checkNamed refuses paths that a person named and that are neither here nor recorded: a slip of the pen.
func (r *Repo) checkNamed(base StateRef, paths []string) error {
	for _, p := range paths {
		if err := r.notInside(base, p); err != nil {
			return err
		}
		if err := r.refuseOutside(base, p); err != nil {
			return err
		}
		if there, err := r.exists(p); err != nil {
			return readError(safepath.Quote(p), err)
		} else if there {
			continue
		}
		tracked, err := r.trackedUnder(base, p)
		if err != nil {
			return err
		}
		if len(tracked) == 0 {
			return &Error{Text: "there is no file " + safepath.Quote(p), Next: "See what changed with: oxy status"}
		}
	}
	return nil
}

func isNotDir(err error) bool {
	var pe *os.PathError
	return errors.As(err, &pe) && notDirectory(pe.Err)
}
