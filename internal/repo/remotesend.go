package repo

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// sending writes changes to a stream, each once.
type sending struct {
	ctx  context.Context
	r    *Repo
	out  *sync.Writer
	dry  bool // previews only
	sent map[uint32]struct{}

	leaving *leaving // which contents are left out; nil: none

	share progress // told how far it is; nil: nobody
	total int      // changes in all, for that
}

func (r *Repo) newSending(ctx context.Context, out *sync.Writer, dry bool) *sending {
	return &sending{ctx: ctx, r: r, out: out, dry: dry, sent: map[uint32]struct{}{}}
}

// newAnswer sends to who asked.
func (r *Repo) newAnswer(ctx context.Context, out *sync.Writer, q *sync.Request) (*sending, error) {
	s := r.newSending(ctx, out, q.DryRun)
	var err error
	s.leaving, err = r.newLeaving(q.Only)
	return s, err
}

// changes sends changes, in an order in which what each depends on went before it or is at the other side.
func (s *sending) changes(nums []uint32) error {
	if s.leaving != nil && !s.dry {
		if err := s.leaving.note(nums); err != nil {
			return err
		}
	}
	for _, n := range nums {
		if _, ok := s.sent[n]; ok {
			continue
		}
		s.sent[n] = struct{}{}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if err := s.change(n); err != nil {
			return fmt.Errorf("send change %s: %w", s.r.store.ChangeID(n).Short(), err)
		}
		if s.share != nil {
			s.share.Share(uint64(len(s.sent)), uint64(s.total))
		}
	}
	return nil
}

func (s *sending) change(n uint32) error {
	rec, err := s.r.store.Change(n)
	if err != nil {
		return storeError(err)
	}
	if rec.Unhashed, err = s.r.partOf(rec.ID, rec.Unhashed); err != nil {
		return err
	}
	c, err := change.DecodeTrusted(rec.Meta, rec.Body)
	if err != nil {
		return err
	}
	if s.dry {
		return s.out.Preview(previewOf(&rec, c))
	}
	offsets := inlineOffsets(&rec, c.Files)
	out := &sync.Change{ID: rec.ID, Meta: rec.Meta, Body: rec.Body, Unhashed: rec.Unhashed, Change: c}
	if s.leaving != nil {
		if out.Without, err = s.leaving.out(n); err != nil {
			return err
		}
	}
	return s.out.Change(out, func(w io.Writer, ord int) error {
		f := &c.Files[ord]
		if offsets == nil || f.Size >= inlineBelow {
			return s.r.lacking(f.Content, s.r.store.WriteBlob(w, f.Content))
		}
		at := offsets[ord]
		if at+int(f.Size) > len(rec.Texts) {
			return storeError(fmt.Errorf("change %s: its texts are cut short: %w", rec.ID.Short(), store.ErrDamaged))
		}
		_, err := w.Write(rec.Texts[at : at+int(f.Size)])
		return err
	})
}

// previewOf says what a change is and weighs.
func previewOf(rec *store.Record, c *change.Change) sync.Preview {
	subject, _, _ := strings.Cut(c.Message, "\n")
	return sync.Preview{ID: rec.ID, Subject: subject, Bytes: sync.ChangeSize(len(rec.Meta), len(rec.Body), len(rec.Unhashed), c.Files)}
}

func (r *Repo) previewOf(n uint32) (sync.Preview, error) {
	rec, err := r.store.Change(n)
	if err != nil {
		return sync.Preview{}, storeError(err)
	}
	if rec.Unhashed, err = r.partOf(rec.ID, rec.Unhashed); err != nil {
		return sync.Preview{}, err
	}
	c, err := change.DecodeTrusted(rec.Meta, rec.Body)
	if err != nil {
		return sync.Preview{}, err
	}
	return previewOf(&rec, c), nil
}

// inlineOffsets says where the small contents lie in a change's own frame, nil if all are blobs.
func inlineOffsets(rec *store.Record, files []change.File) []int {
	if len(rec.Texts) == 0 {
		return nil
	}
	out, at := make([]int, len(files)), 0
	for i := range files {
		out[i] = at
		if files[i].Size < inlineBelow {
			at += int(files[i].Size)
		}
	}
	return out
}

// told is how an update tells of a state: by one that the other side has.
type told struct {
	base           StateRef
	removed, added []uint32 // in the order of the log
}

// tellBy finds how to tell of a state: by the latest state of its log that the other side has, or by one that was told before,
// whichever is nearer. ok is false if neither is there.
func (r *Repo) tellBy(s StateRef, haves map[[32]byte]bool, before []StateRef) (told, bool, error) {
	var best told
	found := false
	var above beyond
	for at := s.Num; at != NoState; {
		st, parent, err := r.step(at)
		if err != nil {
			return best, false, err
		}
		if haves[st.ID] {
			above.settle()
			best, found = told{base: StateRef{Num: at, ID: st.ID, Len: st.Pos}, removed: above.out.sorted(), added: reversed(above.has)}, true
			break
		}
		above.step(&st)
		at = parent
	}
	for _, b := range before {
		if found && len(best.added)+len(best.removed) == 0 {
			break
		}
		onlyB, onlyS, err := r.difference(b.Num, s.Num)
		if err != nil {
			return best, false, err
		}
		if !found || len(onlyB)+len(onlyS) < len(best.removed)+len(best.added) {
			best, found = told{base: b, removed: onlyB, added: onlyS}, true
		}
	}
	return best, found, nil
}

func reversed(nums []uint32) []uint32 {
	out := make([]uint32, len(nums))
	for i, n := range nums {
		out[len(nums)-1-i] = n
	}
	return out
}

// updateOf is what an update says of a state.
func (r *Repo) updateOf(kind sync.RefKind, name string, s StateRef, by told) *sync.Update {
	return &sync.Update{Kind: kind, Name: name, Base: by.base.ID, State: s.ID, Removed: r.idsInOrder(by.removed), Added: r.idsInOrder(by.added)}
}

func (r *Repo) idsInOrder(nums []uint32) []change.ID {
	out := make([]change.ID, len(nums))
	for i, n := range nums {
		out[i] = r.store.ChangeID(n)
	}
	return out
}

// idSet is the set of a state's changes by their ids.
func (r *Repo) idSet(s uint32) (*sync.IDSet, error) {
	set, err := mended(r, func() (state.Set, error) { return r.setOf(s) })
	if err != nil {
		return nil, err
	}
	ids := make([]change.ID, 0, set.Len())
	for n := range set.All() {
		ids = append(ids, r.store.ChangeID(n))
	}
	return sync.NewIDSet(ids), nil
}
