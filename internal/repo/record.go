package repo

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// fileNow is what a path shall hold once it is recorded.
type fileNow struct {
	path string
	kind change.Kind
	exec bool
	size uint64
	hash change.Hash // zero for an empty content
	data []byte      // nil when the content is in the store already
}

// recorded is one file of the change in the making.
type recorded struct {
	file    change.File
	content []byte   // what comes with the change; nil when it is in the store already
	deps    []uint32 // local numbers, not reduced
	now     fileNow
	gone    bool
	// Of an edited text: its weave before and the text after it.
	old            *state.Entry
	weave          *loaded
	added, deleted int // lines
	// onDisk: the content is what the working file held when it had this stat.
	onDisk bool
	stat   vfs.Stat
}

// recordAdded records a new file. Its identity is set when its ordinal is known.
func recordAdded(now fileNow) recorded {
	return recorded{
		file:    change.File{Writes: change.WritesPlace | change.WritesMode | change.WritesBody, Path: now.path, Exec: now.exec, Kind: now.kind, Size: now.size, Content: now.hash},
		content: now.data, now: now, added: bytes.Count(now.data, []byte{'\n'}),
	}
}

// recordRemoved records that a file goes. It depends on all that was ever done to the file.
func (r *Repo) recordRemoved(old *state.Entry) (recorded, error) {
	rec := recorded{gone: true, old: old, file: change.File{ID: old.File, Writes: change.Gone, Over: over(old, change.WritesPlace|change.WritesMode|change.WritesBody)}}
	rec.deps = []uint32{old.File.Change, old.Place.Change, old.Mode.Change, old.Body.Change}
	if old.Weave != 0 {
		l, err := r.loadWeave(old)
		if err != nil {
			return rec, fmt.Errorf("read %s: %w", safepath.Quote(old.Path), err)
		}
		rec.deps = append(rec.deps, l.w.Latest()...)
	}
	rec.deps = withoutOwner(rec.deps, old.File.Change)
	if old.Kind == change.Text {
		text, err := r.content(nil, old)
		if err != nil {
			return rec, err
		}
		rec.deleted = bytes.Count(text, []byte{'\n'})
	}
	return rec, nil
}

// recordEdited records what makes old into now: a move, a mode, another kind or value, or hunks. It gives false when
// nothing differs.
func (r *Repo) recordEdited(d *diff.Differ, old *state.Entry, now fileNow) (recorded, bool, error) {
	rec := recorded{old: old, now: now, file: change.File{ID: old.File}}
	f := &rec.file
	rec.deps = []uint32{old.File.Change}
	if now.path != old.Path {
		f.Writes |= change.WritesPlace
		f.Path = now.path
		rec.deps = append(rec.deps, old.Place.Change)
	}
	if now.kind == change.Link { // a link has no mode of its own: it keeps the file's for when it is one again
		rec.now.exec = old.Exec
	} else if now.exec != old.Exec {
		f.Writes |= change.WritesMode
		f.Exec = now.exec
		rec.deps = append(rec.deps, old.Mode.Change)
	}
	if now.kind != old.Kind || now.kind != change.Text && now.hash != old.Hash {
		f.Writes |= change.WritesBody
		f.Kind = now.kind
		rec.deps = append(rec.deps, old.Body.Change)
		if old.Kind == change.Text && old.Weave != 0 {
			l, err := r.loadWeave(old)
			if err != nil {
				return rec, false, fmt.Errorf("read %s: %w", safepath.Quote(old.Path), err)
			}
			rec.deps = append(rec.deps, l.w.Latest()...)
		}
	}
	f.Over = over(old, f.Writes)
	if now.kind == change.Text && (old.Kind != change.Text || now.hash != old.Hash) {
		if err := r.recordText(d, &rec); err != nil {
			return rec, false, fmt.Errorf("record %s: %w", safepath.Quote(now.path), err)
		}
		rec.deps = append(rec.deps, old.Body.Change)
	} else if f.Writes&change.WritesBody != 0 {
		f.Size, f.Content = now.size, now.hash
		rec.content = now.data
	}
	rec.deps = withoutOwner(rec.deps, old.File.Change)
	return rec, f.Writes != 0 || len(f.Hunks) > 0, nil
}

// recordText finds the hunks between what the file's weave shows and the new text.
func (r *Repo) recordText(d *diff.Differ, rec *recorded) error {
	l, err := r.loadWeave(rec.old)
	if err != nil {
		return err
	}
	before, err := r.render(nil, l)
	if err != nil {
		return err
	}
	rec.weave = l
	if len(rec.now.data) == 0 && rec.now.size > 0 {
		return fmt.Errorf("the new text is not at hand")
	}
	lines := d.Lines(before, rec.now.data, diff.Options{})
	if len(lines) == 0 {
		return nil
	}
	edits := make([]weave.Edit, len(lines))
	size := 0
	for i, e := range lines {
		edits[i] = weave.Edit{A0: e.AOff0, A1: e.AOff1, B0: e.BOff0, B1: e.BOff1}
		size += e.BOff1 - e.BOff0
		rec.added += e.B1 - e.B0
		rec.deleted += e.A1 - e.A0
	}
	hunks, deps, err := l.w.Record(edits)
	if err != nil {
		return err
	}
	rec.deps = append(rec.deps, deps...)
	if size > 0 {
		rec.content = make([]byte, 0, size)
		for _, e := range edits {
			rec.content = append(rec.content, rec.now.data[e.B0:e.B1]...)
		}
	}
	rec.file.Hunks, rec.file.Size, rec.file.Content = hunks, uint64(size), hashOf(rec.content)
	return nil
}

// over names the values that ops on some registers replace.
func over(e *state.Entry, w change.Writes) (out []change.Over) {
	for _, v := range []struct {
		reg change.Writes
		at  change.FileID
	}{{change.WritesPlace, e.Place}, {change.WritesMode, e.Mode}, {change.WritesBody, e.Body}} {
		if w&v.reg != 0 {
			out = append(out, change.Over{Reg: v.reg, Change: v.at.Change, Ord: v.at.Ord})
		}
	}
	return out
}

// withoutOwner drops the change that added the file when there is another: whoever does anything to a file depends on it.
func withoutOwner(deps []uint32, owner uint32) []uint32 {
	rest := slices.DeleteFunc(slices.Clone(deps), func(d uint32) bool { return d == owner })
	if len(rest) == 0 {
		return []uint32{owner}
	}
	return rest
}

// pathDeps adds, for a file that comes to a path, whoever took another file away from there, from above or from beneath.
func pathDeps(deps []uint32, t state.Tree, path string) ([]uint32, error) {
	by, err := t.Vacated(path)
	return append(deps, by...), err
}

// draft puts the files together: the ordinals, in the order of the paths, and the directories that moved whole.
func draft(self uint32, recs []recorded) {
	slices.SortStableFunc(recs, func(a, b recorded) int { return state.ComparePaths(a.sortPath(), b.sortPath()) })
	for i := range recs {
		if recs[i].old == nil {
			recs[i].file.ID = change.FileID{Change: self, Ord: uint32(i)}
		}
	}
}

func (rec *recorded) sortPath() string {
	if rec.gone {
		return rec.old.Path
	}
	return rec.now.path
}
