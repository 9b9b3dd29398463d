package repo

import (
	"context"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// RewriteOptions say how changes are made anew.
type RewriteOptions struct {
	Message string // of the new change
	// Edit, when Message is empty, is asked for one; initial is what the old changes say.
	Edit   func(initial string) (string, error)
	DryRun bool // say what would be made anew, and change nothing
}

// message gives what the new change says.
func (o *RewriteOptions) message(initial string) (string, error) {
	if o.Message != "" || o.Edit == nil {
		return o.Message, nil
	}
	return o.Edit(initial)
}

// Reword gives a change another message: another change stands in its stead, and in that of each that depends on it.
func (r *Repo) Reword(ctx context.Context, rev string, opt RewriteOptions) (*RewriteResult, error) {
	n, err := r.ResolveChange(rev)
	if err != nil {
		return nil, err
	}
	info, err := r.Info(n)
	if err != nil {
		return nil, err
	}
	message, err := opt.message(info.Message)
	if err != nil {
		return nil, err
	}
	if message == info.Message {
		return nil, &Error{Text: "nothing to reword: it says that already", No: true}
	}
	return transact(r, func(t *tx) (*RewriteResult, error) {
		return t.rewrite(ctx, []uint32{n}, "reword", opt.DryRun, func(w *rewriting) ([]uint32, error) {
			meta := &change.Change{Author: info.Author, Time: info.Time, Message: message, Extra: replacing(info.Extra, info.ID)}
			made, err := w.put([]uint32{n}, meta, nil)
			if err == nil {
				w.stands(made, n)
			}
			return []uint32{made}, err
		})
	})
}

// Squash makes one change of several.
func (r *Repo) Squash(ctx context.Context, revs []string, opt RewriteOptions) (*RewriteResult, error) {
	of, err := r.changesOf(revs)
	if err != nil {
		return nil, err
	}
	if len(of) < 2 {
		return nil, &Error{Text: "name the changes that shall become one: two or more"}
	}
	first, err := r.Info(of[0])
	if err != nil {
		return nil, err
	}
	initial := ""
	var ids []change.ID
	for _, n := range of {
		info, err := r.Info(n)
		if err != nil {
			return nil, err
		}
		if initial != "" {
			initial += "\n"
		}
		initial += info.Message
		ids = append(ids, info.ID)
	}
	message, err := opt.message(initial)
	if err != nil {
		return nil, err
	}
	if message == "" {
		message = initial
	}
	return transact(r, func(t *tx) (*RewriteResult, error) {
		return t.rewrite(ctx, of, "squash", opt.DryRun, func(w *rewriting) ([]uint32, error) {
			if err := w.checkTogether(of); err != nil {
				return nil, err
			}
			if err := w.checkCounts(of); err != nil {
				return nil, err
			}
			meta := &change.Change{Author: first.Author, Time: first.Time, Message: message, Extra: replacing(first.Extra, ids...)}
			made, err := w.put(of, meta, nil)
			if err == nil {
				w.stands(made, of...)
			}
			return []uint32{made}, err
		})
	})
}

// checkTogether refuses to make one change of some where another lies between: it depends on one of them, and one of them on it.
func (w *rewriting) checkTogether(of []uint32) error {
	h := w.t.r.newReach()
	for _, n := range w.gone {
		if slices.Contains(of, n) {
			continue
		}
		if slices.ContainsFunc(of, func(c uint32) bool { return h.Reaches(n, c) }) && slices.ContainsFunc(of, func(c uint32) bool { return h.Reaches(c, n) }) {
			return &Error{Text: fmt.Sprintf("%s lies between: it depends on one of them, and another depends on it", w.t.r.ShortID(n)), Next: "Name it too.", No: true}
		}
	}
	return nil
}

// checkCounts refuses to add to changes that are undone: what is added would be undone with them.
func (w *rewriting) checkCounts(of []uint32) error {
	for _, n := range of {
		by, undone, err := w.t.r.undoneBy(w.from, n)
		if err != nil {
			return err
		}
		if undone {
			id := w.t.r.ShortID(n)
			return &Error{Text: fmt.Sprintf("%s is undone, by %s: what it takes in would be undone too", id, w.t.r.ShortID(by)), Next: "Bring it back first: oxy rollback " + w.t.r.ShortID(by), No: true}
		}
	}
	return nil
}

// rewrite puts changes anew, then those that depend on them, and moves there.
func (t *tx) rewrite(ctx context.Context, of []uint32, kind string, dry bool, put func(w *rewriting) ([]uint32, error)) (*RewriteResult, error) {
	from, err := t.r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	w, err := t.newRewriting(ctx, from, of)
	if err != nil {
		return nil, err
	}
	asked, err := put(w)
	if err != nil {
		return nil, err
	}
	if err := w.dependents(of); err != nil {
		return nil, err
	}
	next, err := w.finish()
	if err != nil {
		return nil, err
	}
	if err := w.checkSame(from, next); err != nil {
		return nil, err
	}
	res := w.result(asked)
	if dry {
		return res, t.preview(ctx, &res.MoveResult, next)
	}
	return res, t.moveTo(ctx, &res.MoveResult, next, kind)
}
