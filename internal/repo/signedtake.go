package repo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/sync"
)

// takeSigned takes the signatures of what is here that the other side has and this one has not. Where nothing came to them since the last
// time it asks nothing.
func (f *fetching) takeSigned() error {
	r, l := f.r, f.l
	if f.dry || l.mark == nil || *l.mark == (sync.Mark{}) {
		return nil
	}
	v, err := r.view()
	if err != nil {
		return err
	}
	ours := signedMark(v)
	more := binary.AppendUvarint(nil, uint64(r.store.NumChanges()))
	if r.agreed(l.agreement(wayTake, *l.mark, ours, nil), l.agreement(wayTake, *l.mark, ours, more)) {
		return nil
	}
	set, err := r.signedIn(v, everything)
	if err != nil {
		return err
	}
	_, theirs, err := l.signedApart(f.ctx, set)
	if err != nil {
		return err
	}
	took := &tookSigned{}
	whole := true
	if len(theirs) > 0 {
		now := theirs[:min(len(theirs), sync.MaxSigned)]
		list, err := l.askSigned(f.ctx, now)
		if err != nil {
			return err
		}
		if took, err = r.keepSigned(list, "fetch"); err != nil {
			return err
		}
		whole = len(list) == len(theirs)
	}
	if f.res.Signatures = took.added; !whole {
		return nil // the next one takes the rest
	}
	if v, err = r.view(); err != nil {
		return err
	}
	left := []byte(nil)
	if !took.whole() {
		left = more
	}
	r.agree(l.agreement(wayTake, *l.mark, signedMark(v), left))
	return nil
}

// keepSigned keeps signatures that came, in an operation at which undo does not stop.
func (r *Repo) keepSigned(list []sync.Signed, kind string) (*tookSigned, error) {
	return transact(r, func(t *tx) (*tookSigned, error) {
		took, err := t.takeSigned(list)
		if err != nil || took.added == 0 {
			return took, err
		}
		if err := t.passedOver(); err != nil {
			return nil, err
		}
		return took, t.commit(kind)
	})
}

// signedApart tells apart which signatures each side has.
func (l *link) signedApart(ctx context.Context, set *signedSet) (ours, theirs []changeID, err error) {
	ask := func(say []sync.Range) (answers []sync.Range, err error) {
		q := &sync.Request{Verb: sync.SignedSets, Ranges: say}
		err = l.Do(ctx, func(w *sync.Writer) error { return w.Request(q) }, func(in *sync.Reader) error {
			if err := in.Reply(); err != nil {
				return err
			}
			answers, err = in.RangesReply()
			return err
		})
		return answers, err
	}
	ours, theirs, err = set.ids().Apart(ask)
	if errors.Is(err, sync.ErrTooDifferent) {
		ours, theirs, err = sync.NewIDSet(nil).Apart(ask)
	}
	return ours, theirs, err
}

// askSigned takes some signatures.
func (l *link) askSigned(ctx context.Context, ids []changeID) (list []sync.Signed, err error) {
	asked := make(map[changeID]bool, len(ids))
	for _, id := range ids {
		asked[id] = true
	}
	err = l.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.TakeSigned, IDs: ids}) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		list, err = in.SignedList()
		return err
	})
	for i := range list {
		if id := list[i].ID(); !asked[id] {
			return nil, fmt.Errorf("%w: an answer to no question", sync.ErrMalformed)
		}
	}
	return list, err
}
