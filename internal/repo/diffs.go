package repo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
	"github.com/zeebo/blake3"
)

// DiffWorking lists how the working copy differs from its base: what a commit would record, new files among it.
func (r *Repo) DiffWorking(ctx context.Context, paths []string) (*DiffSet, error) {
	return mended(r, func() (*DiffSet, error) { return r.diffWorking(ctx, paths) })
}

func (r *Repo) diffWorking(ctx context.Context, paths []string) (*DiffSet, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	diffs, untracked, err := r.workingDiffs(ctx, base, paths)
	if err != nil {
		return nil, err
	}
	d := &DiffSet{}
	for i := range diffs {
		d.Files = append(d.Files, diffs[i].FileChange)
	}
	d.load = func(dst []byte, s *Side, old bool) ([]byte, error) {
		if old {
			return r.sideContent(dst, base.Num, s)
		}
		return r.diskContent(dst, s)
	}
	if len(untracked) > 0 {
		d.Files = append(d.Files, untracked...)
		sortFiles(d.Files)
		r.pairMoves(d)
	}
	return d, nil
}

// workingDiffs scans the working copy. It gives the tracked files that differ, and the untracked ones as added.
func (r *Repo) workingDiffs(ctx context.Context, base StateRef, paths []string) ([]difference, []FileChange, error) {
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, nil, err
	}
	if len(res.Errors) > 0 {
		return nil, nil, fileError("look at the working copy", errors.Join(res.Errors...))
	}
	r.saveManifest()
	p, err := r.loadPending()
	if err != nil {
		return nil, nil, err
	}
	diffs, err := r.differences(base, res, p)
	if err != nil {
		return nil, nil, err
	}
	var fresh []FileChange
	for _, u := range r.withoutMoved(res.Untracked, diffs) {
		var st vfs.Stat
		err := r.fs.Lstat(r.disk(u), &st)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			continue // gone since
		} else if err != nil {
			return nil, nil, fileError("look at "+safepath.Quote(u), err)
		}
		fresh = append(fresh, FileChange{What: Added, New: diskSide(u, &st)})
	}
	return diffs, fresh, nil
}

// sideContent appends the content of a side that a state has.
func (r *Repo) sideContent(dst []byte, state uint32, s *Side) ([]byte, error) {
	return mended(r, func() ([]byte, error) {
		t, err := r.tree(state)
		if err != nil {
			return dst, err
		}
		e, ok, err := t.Get(s.Path)
		if err != nil {
			return dst, err
		}
		if !ok {
			return dst, fmt.Errorf("%q is not in the tree", s.Path)
		}
		return r.content(dst, &e)
	})
}

func (r *Repo) diskContent(dst []byte, s *Side) ([]byte, error) {
	root, err := r.openRoot()
	if err != nil {
		return dst, err
	}
	defer root.Close()
	b, _, err := r.readDisk(root, dst, s.Path)
	return b, err
}

// DiffFrom lists how the working copy differs from any state.
func (r *Repo) DiffFrom(ctx context.Context, a StateRef, paths []string) (*DiffSet, error) {
	return mended(r, func() (*DiffSet, error) { return r.diffFrom(ctx, a, paths) })
}

func (r *Repo) diffFrom(ctx context.Context, a StateRef, paths []string) (*DiffSet, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	if a.Num == base.Num {
		return r.diffWorking(ctx, paths)
	}
	diffs, untracked, err := r.workingDiffs(ctx, base, paths)
	if err != nil {
		return nil, err
	}
	from, err := r.tree(a.Num)
	if err != nil {
		return nil, err
	}
	tip, err := r.tree(base.Num)
	if err != nil {
		return nil, err
	}
	// What the disk has at each path that may differ: nothing, or a side.
	disk := map[string]*Side{}
	err = state.Diff(from, tip, func(old, new *state.Entry) error {
		p := pathOf(old, new)
		if !within(p, paths) && len(paths) > 0 {
			return nil
		}
		disk[p] = nil
		if new != nil {
			disk[p] = entrySide(new)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range diffs {
		f := &diffs[i]
		disk[f.Old.Path] = nil
		if f.New != nil {
			disk[f.New.Path] = f.New
		}
	}
	for i := range untracked {
		disk[untracked[i].New.Path] = untracked[i].New
	}
	d := &DiffSet{}
	for p, now := range disk {
		e, ok, err := from.Get(p)
		if err != nil {
			return nil, err
		}
		f := FileChange{New: now}
		if ok {
			f.Old = entrySide(&e)
			if now != nil && now.Hash == (change.Hash{}) && now.Size == f.Old.Size && now.Size > 0 {
				// The scan compared it with the base only.
				b, err := r.diskContent(nil, now)
				if err != nil {
					return nil, err
				}
				now.Hash = hashOf(b)
			}
		}
		if f.Old == nil && f.New == nil {
			continue
		}
		if f.What = whatOf(f.Old, f.New); f.What != Same {
			d.Files = append(d.Files, f)
		}
	}
	sortFiles(d.Files)
	d.load = func(dst []byte, s *Side, old bool) ([]byte, error) {
		if old {
			return r.sideContent(dst, a.Num, s)
		}
		return r.diskContent(dst, s)
	}
	r.pairMoves(d)
	return d, nil
}

func sortFiles(files []FileChange) {
	slices.SortFunc(files, func(a, b FileChange) int { return strings.Compare(a.Path(), b.Path()) })
}

// DiffStates lists how state b differs from state a.
func (r *Repo) DiffStates(a, b StateRef, paths []string) (*DiffSet, error) {
	return mended(r, func() (*DiffSet, error) { return r.diffStates(a, b, paths) })
}

func (r *Repo) diffStates(a, b StateRef, paths []string) (*DiffSet, error) {
	from, err := r.tree(a.Num)
	if err != nil {
		return nil, err
	}
	to, err := r.tree(b.Num)
	if err != nil {
		return nil, err
	}
	d := &DiffSet{}
	gone := map[change.FileID]*state.Entry{}
	come := map[change.FileID]*state.Entry{}
	err = state.Diff(from, to, func(old, new *state.Entry) error {
		if len(paths) > 0 && !within(pathOf(old, new), paths) {
			return nil
		}
		var f FileChange
		if old != nil {
			f.Old = entrySide(old)
		}
		if new != nil {
			f.New = entrySide(new)
		}
		if old != nil && new != nil && old.File == new.File {
			if f.What = whatOf(f.Old, f.New); f.What != Same {
				d.Files = append(d.Files, f)
			}
			return nil
		}
		if old != nil {
			e := *old
			gone[e.File] = &e
		}
		if new != nil {
			e := *new
			come[e.File] = &e
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// A file that left one path and came to another moved: identities tell, nothing is guessed. Two different files at
	// one path are that path's change to a person, unless one of them moved.
	var olds, news = map[string]*Side{}, map[string]*Side{}
	for id, old := range gone {
		if new, ok := come[id]; ok {
			d.Files = append(d.Files, FileChange{What: Moved, Old: entrySide(old), New: entrySide(new), Similar: similarity(old, new)})
			delete(come, id)
			continue
		}
		olds[old.Path] = entrySide(old)
	}
	for _, new := range come {
		news[new.Path] = entrySide(new)
	}
	for p, old := range olds {
		f := FileChange{Old: old, New: news[p]}
		delete(news, p)
		if f.What = whatOf(f.Old, f.New); f.What != Same {
			d.Files = append(d.Files, f)
		}
	}
	for _, new := range news {
		d.Files = append(d.Files, FileChange{What: Added, New: new})
	}
	sortFiles(d.Files)
	d.load = func(dst []byte, s *Side, old bool) ([]byte, error) {
		if old {
			return r.sideContent(dst, a.Num, s)
		}
		return r.sideContent(dst, b.Num, s)
	}
	for i := range d.Files {
		if f := &d.Files[i]; f.What == Moved && f.Similar == 0 {
			f.Similar = r.measureSimilar(d, i)
		}
	}
	return d, nil
}

func similarity(a, b *state.Entry) int {
	if a.Hash == b.Hash {
		return 100
	}
	return 0
}

func (r *Repo) measureSimilar(d *DiffSet, i int) int {
	a, errA := d.Old(nil, i)
	b, errB := d.New(nil, i)
	if errA != nil || errB != nil {
		return 0
	}
	return diff.Similarity(a, b)
}

// DiffChange lists what a change did: the state with it against the one before, in the log where it stands.
func (r *Repo) DiffChange(n uint32, paths []string) (*DiffSet, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	s, err := r.stateOf(v, n)
	if err != nil {
		return nil, err
	}
	st, err := r.store.State(s)
	if err != nil {
		return nil, storeError(err)
	}
	before := StateRef{Num: NoState}
	if st.Parent >= 0 {
		before.Num = uint32(st.Parent)
	}
	// The later of the two is likelier to be stored, and making it stores the earlier on the way.
	return r.DiffStates(before, StateRef{Num: s}, paths)
}

// pairMoves joins removed and added files that are alike, where identities do not tell.
func (r *Repo) pairMoves(d *DiffSet) {
	var from, to []diff.Candidate
	var fromAt, toAt []int
	sizes := map[int64]bool{}
	for i := range d.Files {
		if f := &d.Files[i]; f.What == Removed && f.Old.Size > 0 {
			from = append(from, diff.Candidate{Name: f.Old.Path, Hash: f.Old.Hash, Size: f.Old.Size, Load: fingerprinter(d.Old, i, f.Old)})
			fromAt = append(fromAt, i)
			sizes[f.Old.Size] = true
		}
	}
	if len(from) == 0 {
		return
	}
	// New contents are read when they are compared, and not kept: there may be a build's whole output of them.
	var buf []byte
	for i := range d.Files {
		f := &d.Files[i]
		if f.What != Added || f.New.Size == 0 || f.New.Size > change.MaxText {
			continue
		}
		if f.New.Hash == (change.Hash{}) && sizes[f.New.Size] {
			var err error
			if buf, err = d.New(buf[:0], i); err != nil {
				continue
			}
			f.New.Hash = hashOf(buf)
		}
		to = append(to, diff.Candidate{Name: f.New.Path, Hash: f.New.Hash, Size: f.New.Size, Load: fingerprinter(d.New, i, f.New)})
		toAt = append(toAt, i)
	}
	drop := map[int]bool{}
	moved := map[int]FileChange{}
	for _, p := range diff.Renames(from, to, similar) {
		a, b := fromAt[p.Removed], toAt[p.Added]
		old, now := d.Files[a].Old, d.Files[b].New
		if (old.Kind == change.Link) != (now.Kind == change.Link) {
			continue
		}
		moved[b] = FileChange{What: Moved, Old: old, New: now, Similar: p.Similarity}
		drop[a] = true
	}
	rest := d.Files[:0:0]
	for i := range d.Files {
		if f, ok := moved[i]; ok {
			rest = append(rest, f)
		} else if !drop[i] {
			rest = append(rest, d.Files[i])
		}
	}
	d.Files = rest
}

// fingerprinter reads one side of file i of a set when its likeness is asked for. What cannot be read is like nothing.
func fingerprinter(read func(dst []byte, i int) ([]byte, error), i int, s *Side) func() diff.Fingerprint {
	return func() diff.Fingerprint {
		if s.Kind == change.Link || s.Kind == change.Subrepo || s.Size > change.MaxText {
			return diff.Fingerprint{}
		}
		b, err := read(nil, i)
		if err != nil || worktree.IsBinary(b) {
			return diff.Fingerprint{}
		}
		return diff.NewFingerprint(b)
	}
}

// workingHunk is a hunk of the working copy and where it lies.
type workingHunk struct {
	Hunk
	file int
	edit diff.Edit
	text bool
}

// Hunks lists the working copy's hunks.
func (r *Repo) Hunks(ctx context.Context, paths []string) ([]Hunk, error) {
	return mended(r, func() ([]Hunk, error) { return r.listHunks(ctx, paths) })
}

func (r *Repo) listHunks(ctx context.Context, paths []string) ([]Hunk, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, err
	}
	p, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	diffs, err := r.differences(base, res, p)
	if err != nil {
		return nil, err
	}
	ws, err := r.hunks(base, diffs, r.withoutMoved(res.Untracked, diffs))
	if err != nil {
		return nil, err
	}
	out := make([]Hunk, len(ws))
	for i := range ws {
		out[i] = ws[i].Hunk
	}
	return out, nil
}

// hunks lists the hunks of differences, and for each untracked file one of its own.
func (r *Repo) hunks(base StateRef, diffs []difference, untracked []string) ([]workingHunk, error) {
	var out []workingHunk
	var d diff.Differ
	for i := range diffs {
		f := &diffs[i]
		whole := workingHunk{file: i, Hunk: Hunk{Path: f.Path(), What: f.What, Text: f.What.String() + "\n"}}
		if f.What != Modified || f.New.Size > change.MaxText || f.Old.Size > change.MaxText {
			out = append(out, whole)
			continue
		}
		old, err := r.sideContent(nil, base.Num, f.Old)
		if err != nil {
			return nil, err
		}
		now, err := r.diskContent(nil, f.New)
		if err != nil {
			return nil, err
		}
		if worktree.IsBinary(old) || worktree.IsBinary(now) || f.Old.Exec != f.New.Exec || len(now) > change.MaxText {
			out = append(out, whole)
			continue
		}
		for _, e := range d.Lines(old, now, diff.Options{}) {
			h := workingHunk{file: i, edit: e, text: true, Hunk: Hunk{Path: f.Path(), What: Modified, A0: e.A0, A1: e.A1, B0: e.B0, B1: e.B1}}
			h.Text = string(diff.AppendUnified(nil, old, now, []diff.Edit{e}, diff.Unified{Context: 3}))
			h.ID = string(old[e.AOff0:e.AOff1]) + "\x00" + string(now[e.BOff0:e.BOff1])
			out = append(out, h)
		}
	}
	for _, u := range untracked {
		out = append(out, workingHunk{file: -1, Hunk: Hunk{Path: u, What: Untracked, Text: "new file\n"}})
	}
	nameHunks(out)
	return out, nil
}

// nameHunks gives each hunk an id of its file and texts, so that it keeps it while others come and go; equal ones of a
// file are counted.
func nameHunks(hs []workingHunk) {
	seen := map[string]int{}
	for i := range hs {
		h := &hs[i]
		key := h.Path + "\x00" + h.What.String() + "\x00" + h.ID
		n := seen[key]
		seen[key]++
		sum := blake3.Sum256(fmt.Appendf(nil, "%s\x00%d", key, n))
		h.ID = hex.EncodeToString(sum[:4])
	}
}

// pick finds the hunks that ids name, each by its id or a start of it.
func pick(hs []workingHunk, ids []string) (map[int]bool, error) {
	chosen := map[int]bool{}
	for _, id := range ids {
		found := -1
		for i := range hs {
			if !strings.HasPrefix(hs[i].ID, strings.ToLower(id)) || id == "" {
				continue
			}
			if found >= 0 {
				return nil, &Error{Text: "more than one hunk begins with " + id, Next: "Give more digits."}
			}
			found = i
		}
		if found < 0 {
			return nil, &Error{Text: "there is no hunk " + id, Next: "See which there are with: oxy hunks"}
		}
		chosen[found] = true
	}
	return chosen, nil
}

// choose leaves of the differences those that the chosen hunks are of, and says what each file that is chosen in part
// shall hold.
func (w *work) choose(diffs []difference, untracked []string) ([]difference, []string, error) {
	r := w.t.r
	hs, err := r.hunks(w.base, diffs, r.withoutMoved(untracked, diffs))
	if err != nil {
		return nil, nil, err
	}
	chosen, err := pick(hs, w.opt.Hunks)
	if err != nil {
		return nil, nil, err
	}
	w.chosen, err = r.parts(w.base, diffs, hs, func(i int) bool { return chosen[i] })
	if err != nil {
		return nil, nil, err
	}
	var files []difference
	taken := map[int]bool{}
	var fresh []string
	for i := range hs {
		switch {
		case !chosen[i]:
		case hs[i].file < 0:
			fresh = append(fresh, hs[i].Path)
		case !taken[hs[i].file]:
			taken[hs[i].file] = true
			files = append(files, diffs[hs[i].file])
			if d := &diffs[hs[i].file]; d.What == Moved {
				fresh = append(fresh, d.New.Path)
			}
		}
	}
	return files, fresh, nil
}

// parts gives for each file of which some hunks are taken and some are not the base's text with only those taken.
func (r *Repo) parts(base StateRef, diffs []difference, hs []workingHunk, take func(i int) bool) (map[string][]byte, error) {
	out := map[string][]byte{}
	for i := 0; i < len(hs); {
		j := i
		taken := 0
		for ; j < len(hs) && hs[j].file == hs[i].file && hs[j].Path == hs[i].Path; j++ {
			if take(j) {
				taken++
			}
		}
		if hs[i].text && taken > 0 && taken < j-i {
			f := &diffs[hs[i].file]
			old, err := r.sideContent(nil, base.Num, f.Old)
			if err != nil {
				return nil, err
			}
			now, err := r.diskContent(nil, f.New)
			if err != nil {
				return nil, err
			}
			var text []byte
			at := 0
			for k := i; k < j; k++ {
				e := &hs[k].edit
				if !take(k) {
					continue
				}
				if e.AOff1 > len(old) || e.BOff1 > len(now) {
					return nil, &Error{Text: hs[k].Path + " changed while it was read", Next: "Run the command again."}
				}
				text = append(append(text, old[at:e.AOff0]...), now[e.BOff0:e.BOff1]...)
				at = e.AOff1
			}
			out[hs[i].Path] = append(text, old[at:]...)
		}
		i = j
	}
	return out, nil
}

// withoutHunks gives for each file that the hunks are of what it shall hold once they are taken back; nil for the base's
// own content.
func (r *Repo) withoutHunks(diffs []difference, ids []string) (map[string][]byte, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	hs, err := r.hunks(base, diffs, nil)
	if err != nil {
		return nil, err
	}
	chosen, err := pick(hs, ids)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for i := range hs {
		if chosen[i] {
			out[hs[i].Path] = nil
		}
	}
	parts, err := r.parts(base, diffs, hs, func(i int) bool { return !chosen[i] })
	if err != nil {
		return nil, err
	}
	for p, text := range parts {
		if _, ok := out[p]; ok {
			out[p] = text
		}
	}
	return out, nil
}
