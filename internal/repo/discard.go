package repo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
	"github.com/zeebo/blake3"
)

// aside is a working file that an operation took away, kept so that undo brings it back. The list of an operation is a
// content of the store, in JSON, and the view names it.
type aside struct {
	Path []byte      `json:"path"`
	Kind change.Kind `json:"kind"`
	Exec bool        `json:"exec,omitempty"`
	Size uint64      `json:"size"`
	Hash change.Hash `json:"hash"`
}

// Discard takes back unrecorded changes: all, of some paths, or some hunks. What it takes is kept in the store, and Undo
// brings it back. It gives how the files differed.
func (r *Repo) Discard(ctx context.Context, paths, hunks []string) ([]FileChange, error) {
	return transact(r, func(t *tx) ([]FileChange, error) { return t.discard(ctx, paths, hunks) })
}

func (t *tx) discard(ctx context.Context, paths, hunks []string) ([]FileChange, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	pend, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, err
	}
	if len(res.Errors) > 0 {
		return nil, fileError("discard", res.Errors[0])
	}
	diffs, err := r.differences(base, res, pend)
	if err != nil {
		return nil, err
	}
	tree, err := r.tree(base.Num)
	if err != nil {
		return nil, err
	}
	p := &plan{r: r, state: base.Num, entries: map[string]state.Entry{}}
	var take []string // working files whose contents go
	var files []FileChange
	edited := map[string][]byte{}
	if len(hunks) > 0 {
		if edited, err = r.withoutHunks(diffs, hunks); err != nil {
			return nil, err
		}
	}
	p.texts = edited
	for i := range diffs {
		d := &diffs[i]
		text, part := edited[d.Path()]
		if len(hunks) > 0 && !part {
			continue
		}
		files = append(files, d.FileChange)
		if d.New != nil {
			take = append(take, d.New.Path)
		}
		if text != nil {
			p.plan = append(p.plan, worktree.Action{Path: d.Path(), Op: worktree.Write, Exec: d.New.Exec, Size: int64(len(text)), Hash: diskHash(hashOf(text))})
			continue
		}
		e, ok, err := tree.Get(d.Old.Path)
		if err != nil {
			return nil, err
		} else if !ok {
			return nil, fmt.Errorf("the manifest has %s and the tree has not", safepath.Quote(d.Old.Path))
		}
		if d.What == Moved {
			p.plan = append(p.plan, worktree.Action{Path: d.New.Path, Op: worktree.Remove})
		}
		if d.What != Removed || !slices.Contains(pend.Untracked, d.Old.Path) {
			if err := p.write(&e); err != nil {
				return nil, err
			}
		}
	}
	if len(files) == 0 {
		return nil, &Error{Text: "nothing to discard: nothing differs there", No: true}
	}
	if err := t.keepAside(take); err != nil {
		return nil, err
	}
	if err := t.commit("discard"); err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for i := range files {
		gone[files[i].Old.Path] = true
	}
	pend.Moves = slices.DeleteFunc(pend.Moves, func(m move) bool { return gone[m.From] })
	pend.Untracked = slices.DeleteFunc(pend.Untracked, func(u string) bool { return gone[u] })
	m := r.manifest
	if err := r.applyPlan(ctx, m, p, true); err != nil {
		return nil, err
	}
	if err := t.restoreManifest(m, p.plan); err != nil {
		return nil, err
	}
	return files, r.savePending(pend)
}

// keepAside puts working files into the store, and their list.
func (t *tx) keepAside(paths []string) error {
	r := t.r
	root, err := r.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	pk := t.Packer()
	rd := &reader{root: root, pack: pk}
	defer rd.close()
	var list []aside
	slices.Sort(paths)
	for _, path := range paths {
		now, _, err := rd.read(path)
		if err != nil {
			return err
		}
		if now.size > 0 && now.data != nil {
			if err := pk.Put(now.hash, now.data); err != nil {
				return err
			}
		}
		list = append(list, aside{[]byte(path), now.kind, now.exec, now.size, now.hash})
	}
	if len(list) == 0 {
		return nil
	}
	b, err := json.Marshal(list)
	if err != nil {
		return err
	}
	h := change.Hash(blake3.Sum256(b))
	if err := pk.Put(h, b); err != nil {
		return err
	}
	t.view.Kept[keptDiscarded] = h[:]
	return pk.Flush()
}

// asideOf reads what an operation took away.
func (r *Repo) asideOf(kept []byte) ([]aside, error) {
	if len(kept) != len(change.Hash{}) {
		return nil, nil
	}
	b, err := r.store.Blob(nil, change.Hash(kept))
	if err != nil {
		return nil, storeError(err)
	}
	var list []aside
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&list); err != nil {
		return nil, fmt.Errorf("read what the operation took away: %w", err)
	}
	return list, nil
}

// bringBack writes what an operation took away, where nothing unrecorded is in its place.
func (t *tx) bringBack(ctx context.Context, m *worktree.Manifest, list []aside) error {
	p := &plan{r: t.r, entries: map[string]state.Entry{}}
	for _, a := range list {
		e := state.Entry{Path: string(a.Path), Kind: a.Kind, Exec: a.Exec, Size: a.Size, Hash: a.Hash}
		if e.Kind == change.Text {
			e.Kind = change.Binary // the content is kept whole under its hash, it is no weave
		}
		if err := p.write(&e); err != nil {
			return err
		}
	}
	return t.writeAside(ctx, m, p, false)
}

// Move renames a file or directory in the working copy and notes it as a move for the next record.
func (r *Repo) Move(ctx context.Context, from, to string) error {
	_, err := transact(r, func(t *tx) (struct{}, error) { return struct{}{}, t.move(from, to) })
	return err
}

func (t *tx) move(from, to string) error {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return err
	}
	var st vfs.Stat
	if err := r.fs.Lstat(r.disk(to), &st); err == nil && st.Kind == vfs.KindDir {
		name := from[1+lastSlash(from):]
		if to == "" {
			to = name
		} else {
			to += "/" + name
		}
	}
	if err := safepath.Check(to); err != nil {
		return &Error{Text: "cannot move to " + safepath.Quote(to) + ": " + err.Error(), Err: err}
	}
	if taken, err := r.exists(to); err != nil {
		return fileError("move", err)
	} else if taken {
		return &Error{Text: "there is a file " + safepath.Quote(to) + " already", Next: "Move or remove it first."}
	}
	if there, err := r.exists(from); err != nil {
		return fileError("move", err)
	} else if !there {
		return &Error{Text: "there is no file " + safepath.Quote(from)}
	}
	if from == "" || within(to, []string{from}) {
		return &Error{Text: fmt.Sprintf("cannot move %s into itself", safepath.Quote(from))}
	}
	pend, err := r.loadPending()
	if err != nil {
		return err
	}
	tracked, err := r.trackedUnder(base, from)
	if err != nil {
		return err
	}
	before := slices.Clone(pend.Moves)
	moved := 0
	carried := map[string]bool{}
	for i := range pend.Moves { // what was moved into the directory before goes along
		if m := &pend.Moves[i]; within(m.To, []string{from}) {
			carried[m.To] = true
			m.To = to + m.To[len(from):]
			moved++
		}
	}
	for _, p := range tracked {
		there, err := r.exists(p)
		if err != nil {
			return fileError("move", err)
		}
		if there && !carried[p] {
			pend.note(p, to+p[len(from):])
			moved++
		}
	}
	if moved == 0 {
		return &Error{Text: safepath.Quote(from) + " was never recorded", Next: "Move it with mv: the next commit takes it as it is then."}
	}
	pend.Moves = slices.DeleteFunc(pend.Moves, func(m move) bool { return m.From == m.To })
	// The note comes first: without the move it says nothing, a move without a note may not be seen as one. What is
	// moved once more has two notes until that is done, of which the disk tells the right one.
	both := *pend
	if len(carried) > 0 {
		both.Moves = slices.Concat(before, pend.Moves)
	}
	if err := r.savePending(&both); err != nil {
		return err
	}
	if err := r.fs.MkdirAll(filepath.Dir(r.disk(to)), 0o777); err != nil {
		return fileError("move", err)
	}
	if err := r.fs.Rename(r.disk(from), r.disk(to)); err != nil {
		return fileError("move", err)
	}
	if len(carried) > 0 {
		_ = r.savePending(pend) // it only gets shorter
	}
	return nil
}

func lastSlash(p string) int {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			return i
		}
	}
	return -1
}

func (r *Repo) disk(path string) string { return filepath.Join(r.root, filepath.FromSlash(path)) }

// trackedUnder lists the files of a state at or beneath a path.
func (r *Repo) trackedUnder(s StateRef, path string) (out []string, err error) {
	t, err := r.tree(s.Num)
	if err != nil {
		return nil, err
	}
	err = t.Walk(path, func(e *state.Entry) error {
		out = append(out, e.Path)
		return nil
	})
	return out, err
}

// Remove deletes files from the working copy; those with unrecorded changes only by force, and then Undo brings them back.
// It gives the paths.
func (r *Repo) Remove(ctx context.Context, paths []string, force bool) ([]string, error) {
	return transact(r, func(t *tx) ([]string, error) { return t.remove(ctx, paths, force) })
}

func (t *tx) remove(ctx context.Context, paths []string, force bool) ([]string, error) {
	r := t.r
	base, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	res, err := r.scan(ctx, base, worktree.Options{Paths: nonRoot(paths)})
	if err != nil {
		return nil, err
	}
	if len(res.Errors) > 0 { // what could not be read may be an edit
		return nil, fileError("remove", res.Errors[0])
	}
	differs := map[string]bool{}
	missing := map[string]bool{}
	for i := range res.Changed {
		if it := &res.Changed[i]; it.Status == worktree.Missing {
			missing[it.Path] = true
		} else {
			differs[it.Path] = true
		}
	}
	p := &plan{r: r, entries: map[string]state.Entry{}}
	var gone, edited []string
	for _, path := range paths {
		tracked, err := r.trackedUnder(base, path)
		if err != nil {
			return nil, err
		}
		if len(tracked) == 0 {
			return nil, &Error{Text: safepath.Quote(path) + " was never recorded", Next: "Delete it with rm: oxy does not keep it."}
		}
		for _, f := range tracked {
			if missing[f] {
				continue
			}
			if differs[f] {
				edited = append(edited, f)
			}
			gone = append(gone, f)
			p.plan = append(p.plan, worktree.Action{Path: f, Op: worktree.Remove})
		}
	}
	if len(edited) > 0 && !force {
		return nil, &Error{Text: "this would delete what is not recorded: " + quoteSome(edited), Next: "Record it first, or use --force (oxy undo then brings it back)."}
	}
	if len(edited) > 0 {
		if err := t.keepAside(edited); err != nil {
			return nil, err
		}
		if err := t.commit("rm"); err != nil {
			return nil, err
		}
	}
	return gone, t.writeAside(ctx, r.manifest, p, force)
}
