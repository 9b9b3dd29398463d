package repo

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/worktree"
	"github.com/zeebo/blake3"
)

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
		out = append(out, textHunks(&d, i, f.Path(), old, now)...)
	}
	for _, u := range untracked {
		out = append(out, workingHunk{file: -1, Hunk: Hunk{Path: u, What: Untracked, Text: "new file\n"}})
	}
	nameHunks(out)
	return out, nil
}

// textHunks lists the hunks between two texts of a file.
func textHunks(d *diff.Differ, file int, path string, old, now []byte) (out []workingHunk) {
	edits := d.Lines(old, now, diff.Options{})
	for i, e := range edits {
		h := workingHunk{file: file, edit: e, text: true, Hunk: Hunk{Path: path, What: Modified, A0: e.A0, A1: e.A1, B0: e.B0, B1: e.B1}}
		h.Text = string(diff.AppendEdit(nil, old, now, edits, i, diff.Unified{Context: 3}))
		h.ID = string(old[e.AOff0:e.AOff1]) + "\x00" + string(now[e.BOff0:e.BOff1])
		out = append(out, h)
	}
	return out
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
