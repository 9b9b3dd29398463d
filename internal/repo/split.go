package repo

import (
	"context"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
)

// SplitOptions say what the first of two changes takes; the second takes the rest.
type SplitOptions struct {
	Paths    []string // files, and all in directories
	Hunks    []string // ids, as ChangeHunks gives them
	Messages [2]string
	DryRun   bool
}

// ChangeHunks lists what a change did, in pieces that a split can take.
func (r *Repo) ChangeHunks(ctx context.Context, rev string) ([]Hunk, error) {
	n, err := r.ResolveChange(rev)
	if err != nil {
		return nil, err
	}
	return transact(r, func(t *tx) ([]Hunk, error) {
		from, err := r.stateRef(baseOf(t.view))
		if err != nil {
			return nil, err
		}
		w, err := t.newRewriting(ctx, from, []uint32{n})
		if err != nil {
			return nil, err
		}
		hs, err := w.hunksOf(n)
		out := make([]Hunk, len(hs))
		for i := range hs {
			out[i] = hs[i].Hunk
		}
		return out, err
	})
}

// hunksOf lists what a change did to what it knew.
func (w *rewriting) hunksOf(n uint32) ([]workingHunk, error) {
	if w.t.r.undoing(n) {
		return nil, &Error{Text: w.t.r.ShortID(n) + " undoes another change: it does that whole or not at all", No: true}
	}
	old, _ := w.known([]uint32{n})
	a, err := w.with(w.tree, old)
	if err != nil {
		return nil, err
	}
	b, err := w.with(a, []uint32{n})
	if err != nil {
		return nil, err
	}
	o, err := w.t.r.bodyOf(n)
	if err != nil {
		return nil, storeError(err)
	}
	disputes, err := b.Disputes()
	if err != nil {
		return nil, err
	}
	disputesA, err := a.Disputes()
	if err != nil {
		return nil, err
	}
	var out []workingHunk
	var d diff.Differ
	for i := range o.files {
		f := &o.files[i]
		now, err := wasIn(b, disputes, f.ID)
		if err != nil {
			return nil, err
		}
		if f.Writes != 0 {
			h := workingHunk{file: i, Hunk: Hunk{Path: now.place, What: whatWrites(f, n), Text: whatWrites(f, n).String() + "\n"}}
			out = append(out, h)
			continue
		}
		before, err := wasIn(a, disputesA, f.ID)
		if err != nil {
			return nil, err
		}
		from, err := w.t.r.content(nil, &before.entry)
		if err != nil {
			return nil, err
		}
		to, err := w.t.r.content(nil, &now.entry)
		if err != nil {
			return nil, err
		}
		out = append(out, textHunks(&d, i, now.place, from, to)...)
	}
	nameHunks(out)
	return out, nil
}

// whatWrites names what a change's ops do to a file.
func whatWrites(f *change.File, n uint32) What {
	switch {
	case f.ID.Change == n:
		return Added
	case f.Writes&change.Gone != 0:
		return Removed
	case f.Writes&change.WritesPlace != 0:
		return Moved
	case f.Writes&change.WritesBody != 0:
		return TypeChanged
	case f.Writes&change.WritesMode != 0 && len(f.Hunks) == 0:
		return ModeChanged
	}
	return Modified
}

// Split makes two changes of one.
func (r *Repo) Split(ctx context.Context, rev string, opt SplitOptions) (*RewriteResult, error) {
	n, err := r.ResolveChange(rev)
	if err != nil {
		return nil, err
	}
	info, err := r.Info(n)
	if err != nil {
		return nil, err
	}
	for i := range opt.Messages {
		if opt.Messages[i] == "" {
			opt.Messages[i] = info.Message
		}
	}
	return transact(r, func(t *tx) (*RewriteResult, error) {
		return t.rewrite(ctx, []uint32{n}, "split", opt.DryRun, func(w *rewriting) ([]uint32, error) {
			return w.split(n, info, &opt)
		})
	})
}

func (w *rewriting) split(n uint32, info *ChangeInfo, opt *SplitOptions) ([]uint32, error) {
	hs, err := w.hunksOf(n)
	if err != nil {
		return nil, err
	}
	chosen, err := pick(hs, opt.Hunks)
	if err != nil {
		return nil, err
	}
	p := &part{took: map[change.FileID]taken{}}
	p.choose = func(file int, path string, old, now []byte) (taken, []byte, error) {
		if len(opt.Paths) > 0 && within(path, opt.Paths) {
			return takenAll, nil, nil
		}
		text, at, n, all := []byte{}, 0, 0, 0
		for i := range hs {
			if hs[i].file != file {
				continue
			}
			if all++; !chosen[i] {
				continue
			}
			if n++; hs[i].text && old != nil {
				e := &hs[i].edit
				text = append(append(text, old[at:e.AOff0]...), now[e.BOff0:e.BOff1]...)
				at = e.AOff1
			}
		}
		switch n {
		case 0:
			return takenNothing, nil, nil
		case all:
			return takenAll, nil, nil
		}
		return takenSome, append(text, old[at:]...), nil
	}
	first, err := w.half(n, info, opt.Messages[0], p)
	if err != nil {
		return nil, err
	}
	p.rest = true
	second, err := w.half(n, info, opt.Messages[1], p)
	if err != nil {
		return nil, err
	}
	return []uint32{first, second}, nil
}

// half records one of the two changes of a split.
func (w *rewriting) half(n uint32, info *ChangeInfo, message string, p *part) (uint32, error) {
	meta := &change.Change{Author: info.Author, Time: info.Time, Message: message, Extra: replacing(info.Extra, info.ID)}
	made, err := w.put([]uint32{n}, meta, p)
	if err != nil {
		return 0, err
	}
	w.stands(made, n)
	return made, nil
}
