package repo

import (
	"bytes"
	"errors"
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
	text    []uint32 // of these, what the hunks depend on
	now     fileNow
	gone    bool
	// Of an edited text: its weave before and the text after it.
	old            *state.Entry
	weave          *loaded
	added, deleted int // lines
	// Of a text with open conflicts: its hunks settle them all, of which so many were shown as blocks.
	whole  bool
	blocks int
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
			var said *Error
			if errors.As(err, &said) {
				return rec, false, err
			}
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
	if len(rec.now.data) == 0 && rec.now.size > 0 {
		return fmt.Errorf("the new text is not at hand")
	}
	return r.recordOn(d, rec, l)
}

// recordOn finds the hunks between what a weave shows and the new text.
func (r *Repo) recordOn(d *diff.Differ, rec *recorded, l *loaded) error {
	rec.weave = l
	if len(l.w.Open()) > 0 && r.frontier != nil {
		return r.recordWhole(d, rec)
	}
	if len(l.w.Open()) > 0 {
		return r.recordPage(d, rec)
	}
	before := l.shown
	if before == nil {
		var err error
		if before, err = r.render(nil, l); err != nil {
			return err
		}
	}
	lines := d.Lines(before, rec.now.data, diff.Options{})
	if len(lines) == 0 {
		return nil
	}
	edits := make([]weave.Edit, len(lines))
	for i, e := range lines {
		edits[i] = weave.Edit{A0: e.AOff0, A1: e.AOff1, B0: e.BOff0, B1: e.BOff1}
		rec.added += e.B1 - e.B0
		rec.deleted += e.A1 - e.A0
	}
	return rec.record(l, edits)
}

// record takes in edits of what a weave shows, to the new text.
func (rec *recorded) record(l *loaded, edits []weave.Edit) error {
	hunks, deps, err := l.w.Record(edits)
	if err != nil {
		return err
	}
	size := 0
	for _, e := range edits {
		size += e.B1 - e.B0
	}
	if size > 0 {
		rec.content = make([]byte, 0, size)
		for _, e := range edits {
			rec.content = append(rec.content, rec.now.data[e.B0:e.B1]...)
		}
	}
	rec.wrote(hunks, deps)
	return nil
}

// wrote takes in what an edited text's hunks are. What they insert is the record's content.
func (rec *recorded) wrote(hunks []change.Hunk, deps []uint32) {
	rec.text = deps
	rec.deps = append(rec.deps, deps...)
	rec.file.Hunks, rec.file.Size, rec.file.Content = hunks, uint64(len(rec.content)), hashOf(rec.content)
}

// recordPage finds the hunks of a text with open conflicts: a block that stands unchanged stays open, one that is edited away
// is solved by what stands there now.
func (r *Repo) recordPage(d *diff.Differ, rec *recorded) error {
	l := rec.weave
	view, page, err := r.page(rec.old.File, l, r.newReach())
	if err != nil {
		return err
	}
	segments, parts, err := page.Cut(rec.now.data)
	if err != nil {
		return halfBlock(rec.now.path, err)
	}
	t := &texts{r: r, l: l}
	edits := make([][]weave.Edit, len(segments))
	for i := range segments {
		var before []byte
		for _, s := range segments[i].Text {
			b, err := t.run(&weave.Run{Change: s.Change, Off: s.Off, Len: s.Len})
			if err != nil {
				return err
			}
			before = append(before, b...)
		}
		for _, e := range d.Lines(before, parts[i], diff.Options{}) {
			edits[i] = append(edits[i], weave.Edit{A0: e.AOff0, A1: e.AOff1, B0: e.BOff0, B1: e.BOff1})
			rec.content = append(rec.content, parts[i][e.BOff0:e.BOff1]...)
			rec.added += e.B1 - e.B0
			rec.deleted += e.A1 - e.A0
		}
	}
	hunks, deps, err := view.Record(segments, edits)
	if err != nil {
		return err
	}
	rec.wrote(hunks, deps)
	return nil
}

// halfBlock says what to do about a block of which a part was edited away.
func halfBlock(path string, err error) error {
	var half *weave.HalfBlockError
	if !errors.As(err, &half) {
		return err
	}
	return &Error{Text: fmt.Sprintf("%s still holds a part of conflict %s: %q", safepath.Quote(path), half.Block, half.Mark),
		Next: "Edit the marks of that conflict away to settle it. To leave it open, put its block back as it was: oxy discard " + safepath.Quote(path), Err: err}
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
