package repo

import (
	"context"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// AmendOptions say which edits an earlier change takes in.
type AmendOptions struct {
	RewriteOptions
	Paths []string
	Hunks []string
}

// Amend takes what differs in the working copy into an earlier change: another one stands in its stead, and in that of each
// that depends on it.
func (r *Repo) Amend(ctx context.Context, rev string, opt AmendOptions) (*RewriteResult, error) {
	n, err := r.ResolveChange(rev)
	if err != nil {
		return nil, err
	}
	info, err := r.Info(n)
	if err != nil {
		return nil, err
	}
	message := info.Message
	if opt.Message != "" || opt.Edit != nil {
		if message, err = opt.message(info.Message); err != nil {
			return nil, err
		}
	}
	return transact(r, func(t *tx) (*RewriteResult, error) { return t.amend(ctx, n, info, message, &opt) })
}

func (t *tx) amend(ctx context.Context, n uint32, info *ChangeInfo, message string, opt *AmendOptions) (*RewriteResult, error) {
	r := t.r
	from, err := r.stateRef(baseOf(t.view))
	if err != nil {
		return nil, err
	}
	pend, err := r.loadPending()
	if err != nil {
		return nil, err
	}
	// The edits are recorded as they are, upon all: what they depend on says whether they can belong to an earlier change.
	edits := &work{ctx: ctx, t: t, base: from, on: from, pending: pend, sink: newSink(t),
		opt: &CommitOptions{Message: "amends " + info.ID.String(), Paths: opt.Paths, Hunks: opt.Hunks, Time: &info.Time}, keep: true}
	if err := edits.find(); err != nil {
		return nil, err
	}
	if len(edits.recs) == 0 {
		return nil, nothingToRecord(opt.Paths)
	}
	m, err := edits.make(info.Author)
	if err != nil {
		return nil, err
	}
	recorded, err := t.appendStep(from, m)
	if err != nil {
		return nil, err
	}
	if err := edits.grow(m, recorded); err != nil {
		return nil, err
	}
	w, err := t.newRewriting(ctx, from, []uint32{n})
	if err != nil {
		return nil, err
	}
	if err := w.checkCounts([]uint32{n}); err != nil {
		return nil, err
	}
	h := t.r.newReach()
	for _, d := range w.gone {
		if d != n && h.Reaches(m, d) {
			return nil, &Error{Text: fmt.Sprintf("the edits build on %s, which came after %s", r.ShortID(d), r.ShortID(n)), No: true,
				Next: fmt.Sprintf("Amend that one: oxy amend %s. Or name the files or hunks that do not.", r.ShortID(d))}
		}
	}
	meta := &change.Change{Author: info.Author, Time: info.Time, Message: message, Extra: replacing(info.Extra, info.ID)}
	made, err := w.put([]uint32{n, m}, meta, nil)
	if err != nil {
		return nil, err
	}
	w.stands(made, n, m)
	if err := w.dependents([]uint32{n}); err != nil {
		return nil, err
	}
	next, err := w.finish()
	if err != nil {
		return nil, err
	}
	if err := w.checkSame(recorded, next); err != nil {
		return nil, err
	}
	res := w.result([]uint32{made})
	res.State, res.Bookmark = next, t.view.Current
	if opt.DryRun {
		return res, nil
	}
	// The working files are those of the state with the edits. What is shown of files that meet at one name may be others now.
	if err := edits.updateManifest(recorded); err != nil {
		return nil, err
	}
	if _, err := t.switchFrom(ctx, recorded, next); err != nil {
		return nil, err
	}
	t.pointAt(next)
	if err := t.commit("amend"); err != nil {
		return nil, err
	}
	r.saveManifest()
	return res, edits.forgetPending()
}
