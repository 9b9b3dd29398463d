package repo

import (
	"errors"
	"fmt"
	"io"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// Contents below inlineBelow bytes travel inside the change's own frame, unless together they pass inlineTotal: then,
// as in a first commit, they are packed with their neighbours, so that one read serves many.
const (
	inlineBelow = 4 << 10
	inlineTotal = 64 << 10
)

// content appends a file's content.
func (r *Repo) content(dst []byte, e *state.Entry) ([]byte, error) {
	if e.Size == 0 {
		return dst, nil
	}
	if e.Kind != change.Text {
		return r.text(dst, e.Body.Change, e.Body.Ord, e.Hash)
	}
	if e.Weave == 0 {
		return r.text(dst, e.File.Change, e.File.Ord, e.Hash)
	}
	l, err := r.loadWeave(e)
	if err != nil {
		return dst, fmt.Errorf("read %q: %w", e.Path, err)
	}
	return r.show(dst, e.File, l, r.newReach())
}

// writeContent writes a file's content; a large one passes through piece by piece.
func (r *Repo) writeContent(w io.Writer, e *state.Entry) error {
	if e.Kind != change.Text && e.Size > inlineBelow {
		return r.lacking(e.Hash, r.store.WriteBlob(w, e.Hash))
	}
	b, err := r.content(nil, e)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// text appends the content that change n brought for its file ord. hash may be zero when it is not known.
func (r *Repo) text(dst []byte, n, ord uint32, hash change.Hash) ([]byte, error) {
	if hash != (change.Hash{}) && n < r.store.NumChanges() {
		out, err := r.store.Blob(dst, hash)
		if !errors.Is(err, store.ErrNotFound) {
			return out, err
		}
	}
	c, err := r.bodyOf(n)
	if err != nil {
		return dst, err
	}
	if int(ord) >= len(c.files) {
		return dst, fmt.Errorf("change %s has no file %d", r.store.ChangeID(n).Short(), ord)
	}
	f := &c.files[ord]
	if f.Size == 0 {
		return dst, nil
	}
	if c.contents != nil && c.contents[ord] != nil {
		return append(dst, c.contents[ord]...), nil
	}
	if c.offsets != nil && f.Size < inlineBelow {
		return append(dst, c.texts[c.offsets[ord]:c.offsets[ord]+int(f.Size)]...), nil
	}
	out, err := r.store.Blob(dst, f.Content)
	return out, r.lacking(f.Content, err)
}

// body is what a change did, with the texts that came in its frame.
type body struct {
	files   []change.File
	undoes  uint32 // the change that it takes back, or NoState
	moves   []change.DirMove
	texts   []byte
	offsets []int // of each file's content in texts; nil when no content lies there
	// Of a change that this transaction made: the store does not show them yet.
	contents [][]byte
	message  string
	id       change.ID
	deps     []uint32
}

// bodyOf reads a change's files, bound to local numbers. The last few stay in memory: neighbouring lines of a file come
// from the same changes again and again.
func (r *Repo) bodyOf(n uint32) (*body, error) {
	r.mu.Lock()
	b, ok := r.bodies[n]
	if !ok {
		b, ok = r.fresh[n]
	}
	if !ok {
		if b, ok = r.older[n]; ok {
			r.bodies[n] = b
		}
	}
	r.mu.Unlock()
	if ok {
		return b, nil
	}
	_, b, size, err := r.readBody(n)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	most := maxBodies
	if r.kept != nil {
		most = maxImportBodies
	}
	if r.bodies == nil || len(r.bodies) >= most || r.kept != nil && r.bodyBytes > maxBodyBytes {
		if r.kept != nil {
			r.older = r.bodies
		}
		r.bodies, r.bodyBytes = map[uint32]*body{}, 0 // simple, and each is read again at most once per turn
	}
	r.bodies[n] = b
	r.bodyBytes += decodedShare*size + len(b.texts)
	return b, nil
}

// readBody reads a change and what it did, bound to local numbers. size is that of its body as it is stored.
func (r *Repo) readBody(n uint32) (_ *change.Change, _ *body, size int, err error) {
	rec, err := r.store.Change(n)
	if err != nil {
		return nil, nil, 0, err
	}
	if len(rec.Meta)+len(rec.Body) == 0 {
		return nil, nil, 0, fmt.Errorf("read change %s: %w: %w", rec.ID.Short(), store.ErrDamaged, errHollow)
	}
	c, err := change.DecodeTrusted(rec.Meta, rec.Body)
	if err != nil {
		return nil, nil, 0, fmt.Errorf("read change %s: %w", rec.ID.Short(), err)
	}
	if err := c.Bind(n, r.store.FindChange); err != nil {
		return nil, nil, 0, fmt.Errorf("read change %s: %w", rec.ID.Short(), err)
	}
	b := &body{files: c.Files, moves: c.DirMoves, undoes: NoState}
	if !c.Undoes.IsZero() {
		var ok bool
		if b.undoes, ok = r.store.FindChange(c.Undoes); !ok || b.undoes >= n {
			return nil, nil, 0, fmt.Errorf("read change %s: it undoes what does not come before it", rec.ID.Short())
		}
	}
	if len(rec.Texts) > 0 {
		b.texts = append([]byte(nil), rec.Texts...)
		b.offsets = make([]int, len(c.Files))
		at := 0
		for i := range c.Files {
			b.offsets[i] = at
			if s := c.Files[i].Size; s < inlineBelow {
				at += int(s)
			}
		}
		if at != len(b.texts) {
			return nil, nil, 0, fmt.Errorf("read change %s: its texts are %d bytes, not %d", rec.ID.Short(), len(b.texts), at)
		}
	}
	return c, b, len(rec.Body), nil
}

// maxBodies is how many decoded changes stay in memory: at most a few hundred KiB, save for a first commit's.
const maxBodies = 512

// maxBodyBytes is about what those of an import may take, twice. decodedShare is how much larger one is in memory.
const (
	maxBodyBytes = 48 << 20
	decodedShare = 6
)

// maxImportBodies is that of an import, which keeps twice as many.
const maxImportBodies = 8192

// freshOf gives a change of the transaction under way.
func (r *Repo) freshOf(n uint32) *body {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fresh[n]
}

// setFresh has a change of the transaction under way read from memory.
func (r *Repo) setFresh(n uint32, b *body) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fresh == nil {
		r.fresh = map[uint32]*body{}
	}
	r.fresh[n] = b
}

func (r *Repo) forgetFresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh = nil
}
