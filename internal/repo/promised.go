package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/zeebo/blake3"
)

// A partial clone has every change and not every content: those of files elsewhere, which no tree needs, are promised by the remote that
// it comes from, and brought when somebody asks for them. Which are promised a content of the store lists, named by the view:
// docs/spec/partial.md. What is listed and here is simply here; what is neither is damage.

// keptPromised is the key under which a view keeps the hash of that list.
const keptPromised = "promised"

// maxPromised bounds the list, in bytes: 16 million contents.
const maxPromised = 512 << 20

// lackingError says that contents are promised and not here.
type lackingError struct{ hashes []change.Hash }

func (e *lackingError) Error() string {
	if len(e.hashes) == 1 {
		return "a content is not in this partial clone yet: oxy fetch --contents brings what was left out"
	}
	return fmt.Sprintf("%d contents are not in this partial clone yet: oxy fetch --contents brings what was left out", len(e.hashes))
}

// lackings gathers what is promised and not here, so that it is brought at once and not one after the other.
type lackings []change.Hash

// took takes an error that says so; it gives false for any other.
func (l *lackings) took(err error) bool {
	var lack *lackingError
	if !errors.As(err, &lack) {
		return false
	}
	l.add(lack.hashes)
	return true
}

func (l *lackings) add(hashes []change.Hash) { *l = append(*l, hashes...) }

// err says what was gathered, nil if nothing was.
func (l *lackings) err() error {
	if len(*l) == 0 {
		return nil
	}
	slices.SortFunc(*l, func(a, b change.Hash) int { return bytes.Compare(a[:], b[:]) })
	return &lackingError{slices.Compact(*l)}
}

// promises are a list of promised contents: hashes, ascending.
type promises []byte

const hashSize = len(change.Hash{})

func (p promises) len() int             { return len(p) / hashSize }
func (p promises) at(i int) change.Hash { return change.Hash(p[i*hashSize : (i+1)*hashSize]) }
func (p promises) has(h change.Hash) bool {
	lo, hi := 0, p.len()
	for lo < hi {
		switch mid := (lo + hi) / 2; bytes.Compare(p[mid*hashSize:(mid+1)*hashSize], h[:]) {
		case -1:
			lo = mid + 1
		case 1:
			hi = mid
		default:
			return true
		}
	}
	return false
}

// with is the list with more, which it sorts.
func (p promises) with(more []change.Hash) promises {
	slices.SortFunc(more, func(a, b change.Hash) int { return bytes.Compare(a[:], b[:]) })
	more = slices.Compact(more)
	out := make(promises, 0, len(p)+len(more)*hashSize)
	for i := 0; i < p.len() || len(more) > 0; {
		c := -1
		if i == p.len() {
			c = 1
		} else if len(more) > 0 {
			h := p.at(i)
			c = bytes.Compare(h[:], more[0][:])
		}
		if c <= 0 {
			h := p.at(i)
			out = append(out, h[:]...)
			i++
		}
		if c >= 0 {
			if c > 0 {
				out = append(out, more[0][:]...)
			}
			more = more[1:]
		}
	}
	return out
}

// decodePromises reads a list.
func decodePromises(b []byte) (promises, error) {
	p := promises(b)
	inOrder := len(p)%hashSize == 0
	for i := range p.len() {
		inOrder = inOrder && (i == 0 || bytes.Compare(p[(i-1)*hashSize:i*hashSize], p[i*hashSize:(i+1)*hashSize]) < 0)
	}
	if !inOrder {
		return nil, fmt.Errorf("the list of promised contents is out of order: %w", store.ErrDamaged)
	}
	return p, nil
}

// promisesOf reads what a view promises.
func (r *Repo) promisesOf(v *store.View) (promises, error) {
	name := v.Kept[keptPromised]
	if len(name) == 0 {
		return nil, nil
	}
	r.mu.Lock()
	p, known := r.promises, r.promisesAs
	r.mu.Unlock()
	if bytes.Equal(known, name) {
		return p, nil
	}
	if len(name) != hashSize {
		return nil, storeError(fmt.Errorf("the list of promised contents has no name: %w", store.ErrDamaged))
	}
	if size, ok := r.store.BlobSize(change.Hash(name)); ok && size > maxPromised {
		return nil, storeError(fmt.Errorf("the list of promised contents has %d bytes: %w", size, store.ErrDamaged))
	}
	b, err := r.store.Blob(nil, change.Hash(name))
	if err != nil {
		return nil, storeError(err)
	}
	if p, err = decodePromises(b); err != nil {
		return nil, storeError(err)
	}
	r.mu.Lock()
	r.promises, r.promisesAs = p, slices.Clone(name)
	r.mu.Unlock()
	return p, nil
}

// promise adds contents to what the view under way promises.
func (t *tx) promise(more []change.Hash) error {
	if len(more) == 0 {
		return nil
	}
	p, err := t.r.promisesOf(t.view)
	if err != nil {
		return err
	}
	next := p.with(more)
	if len(next) > maxPromised {
		return &Error{Text: fmt.Sprintf("more than %d contents would be left out", maxPromised/hashSize), Next: "Clone it whole."}
	}
	h := change.Hash(blake3.Sum256(next))
	pk := t.Packer()
	if err := errors.Join(pk.Put(h, next), pk.Flush()); err != nil {
		return err
	}
	t.view.Kept[keptPromised] = h[:]
	return nil
}

// lacks tells of some contents which are promised and not here.
func (r *Repo) lacks(hashes func(yield func(change.Hash) bool)) (out []change.Hash, err error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	p, err := r.promisesOf(v)
	if err != nil || len(p) == 0 {
		return nil, err
	}
	seen := map[change.Hash]bool{}
	for h := range hashes {
		if _, here := r.store.BlobSize(h); !here && !seen[h] && p.has(h) {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out, nil
}

// need is an error that names those of some contents which are promised and not here; nil if all are here. Whoever is told brings them.
func (r *Repo) need(hashes func(yield func(change.Hash) bool)) error {
	out, err := r.lacks(hashes)
	if err == nil && len(out) > 0 {
		err = &lackingError{out}
	}
	return err
}

// lacking makes of an error about a content what it is, if that content is promised.
func (r *Repo) lacking(h change.Hash, err error) error {
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if told := r.need(func(yield func(change.Hash) bool) { yield(h) }); told != nil {
		return told
	}
	return err
}

// bringRounds is how often what a call turns out to need is brought before all that is promised is: a call that finds out one after the other
// would ask for each of a million.
const bringRounds = 3

// bring brings what a call was found to lack, for the time that it was run. It gives err where that is about something else.
func (r *Repo) bring(err error, round int) error {
	var lack *lackingError
	if !errors.As(err, &lack) {
		return err
	}
	hashes := lack.hashes
	if round >= bringRounds {
		all, listErr := r.allLacking()
		if listErr != nil || round > bringRounds {
			return errors.Join(err, listErr)
		}
		hashes = all
	}
	ctx := context.Background()
	if r.opt.Interrupt != nil {
		ctx = r.opt.Interrupt()
	}
	return r.bringContents(ctx, hashes, nil)
}

// allLacking lists all that is promised and not here.
func (r *Repo) allLacking() ([]change.Hash, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	p, err := r.promisesOf(v)
	if err != nil {
		return nil, err
	}
	return r.lacks(func(yield func(change.Hash) bool) {
		for i := range p.len() {
			if !yield(p.at(i)) {
				return
			}
		}
	})
}

// bringContents asks the remote that promised them for contents, and stores what comes: what came before a cut stays.
func (r *Repo) bringContents(ctx context.Context, hashes []change.Hash, messages io.Writer) error {
	r.bringMu.Lock()
	defer r.bringMu.Unlock()
	hashes = slices.DeleteFunc(slices.Clone(hashes), func(h change.Hash) bool {
		_, here := r.store.BlobSize(h) // another goroutine brought it meanwhile
		return here
	})
	if len(hashes) == 0 {
		return nil
	}
	l, err := r.dial(ctx, Origin, r.root, messages)
	if err == nil {
		defer l.Close()
		r.opt.Progress.Begin("Bringing contents", int64(len(hashes)), false)
		defer r.opt.Progress.End()
		for some := range slices.Chunk(hashes, sync.MaxBring) {
			if err = r.bringSome(ctx, l, some); err != nil {
				err = linkError(l.shown, err)
				break
			}
		}
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	text := err.Error()
	if e := (*Error)(nil); errors.As(err, &e) {
		text = e.Text
	}
	what := "a content that this partial clone has not"
	if len(hashes) > 1 {
		what = fmt.Sprintf("%d contents that this partial clone has not", len(hashes))
	}
	return &Error{Text: fmt.Sprintf("%s cannot be had from %s: %s", what, Origin, text),
		Next: "Try again once it can be reached. While it can, oxy fetch --contents brings all that is missing.", Err: err}
}

// bringSome asks for contents and puts them in an operation at which undo does not stop. No lock of this process's readers is needed:
// nothing that they hold is altered by it.
func (r *Repo) bringSome(ctx context.Context, l *link, hashes []change.Hash) error {
	asked := make(map[change.Hash]bool, len(hashes))
	for _, h := range hashes {
		asked[h] = true
	}
	hint := r.store.Hint()
	wait, waited := r.waits()
	st, err := r.store.Begin(wait)
	waited()
	if err != nil {
		return storeError(err)
	}
	defer func() { _ = st.Abort() }()
	v, err := r.store.View()
	if err != nil {
		return storeError(err)
	}
	t := &tx{Tx: st, r: r, view: v.Clone()}
	got := 0
	asking := l.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.Bring, Hashes: hashes}) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		return in.Contents(func(h change.Hash, size int64, from io.Reader) error {
			if !asked[h] {
				return fmt.Errorf("%w: a content that nobody asked for", sync.ErrMalformed)
			}
			delete(asked, h)
			is, n, err := st.PutStream(from)
			if err != nil {
				return err
			}
			if is != h || n != size {
				return fmt.Errorf("%w: %w", sync.ErrMalformed, errHash)
			}
			got++
			r.opt.Progress.Add(1)
			return nil
		})
	})
	if asking == nil && len(asked) > 0 {
		asking = fmt.Errorf("it did not give %d of them", len(asked))
	}
	if got == 0 || errors.Is(asking, sync.ErrMalformed) {
		return asking
	}
	if err := t.passedOver(); err != nil {
		return errors.Join(asking, err)
	}
	t.view.Kept[keptKind] = []byte("receive")
	_, err = st.Commit(store.Op{Time: time.Now().Unix(), User: r.user(), Command: shownCommand(r.opt.Command), View: t.view}, func() ([]byte, error) { return hint, nil })
	if err != nil {
		err = fileError("keep what was brought", storeError(err))
	}
	return errors.Join(asking, err)
}

// bringAsked answers a request for contents by their hashes. Who knows the hash of a content knows that content, or was told of it by a change.
func (s *Server) bringAsked(ctx context.Context, r *Repo, q *sync.Request, out *sync.Writer) error {
	for _, h := range q.Hashes {
		if _, ok := r.store.BlobSize(h); !ok {
			return &Error{Text: fmt.Sprintf("content %s is not there", h)}
		}
	}
	if err := out.Reply(); err != nil {
		return err
	}
	for _, h := range q.Hashes {
		if err := ctx.Err(); err != nil {
			return err
		}
		size, _ := r.store.BlobSize(h)
		if err := out.Content(h, size, func(w io.Writer) error { return r.store.WriteBlob(w, h) }); err != nil {
			return err
		}
	}
	return nil
}

// FetchContents brings all that a partial clone was promised, from where it comes: afterwards it is a whole one, and what is pulled comes
// whole too. It gives how many contents came.
func (r *Repo) FetchContents(ctx context.Context, messages io.Writer) (int, error) {
	was, err := r.portionOf(Origin)
	if err != nil {
		return 0, err
	}
	all, err := r.allLacking()
	if err != nil {
		return 0, err
	}
	if was.whole() && len(all) == 0 {
		return 0, &Error{Text: "nothing was left out of this repository", No: true}
	}
	if err := r.bringContents(ctx, all, messages); err != nil {
		return 0, err
	}
	if left, err := r.allLacking(); err != nil || len(left) > 0 {
		return len(all), errors.Join(err, &lackingError{left})
	}
	err = r.update("fetch", func(v *store.View) error {
		delete(v.Kept, keptPromised)
		return nil
	})
	if err == nil && !was.whole() {
		err = r.setPortion(Origin, &portion{})
	}
	return len(all), err
}

// partialRefusal is what is told to who asks a partial clone for what it has not.
func (r *Repo) partialRefusal() string {
	from, _, err := r.ConfigGet("remote." + Origin + ".url")
	if err != nil || from == "" {
		from = Origin
	}
	return "that repository is a partial clone and has not all that was asked for: take it from where it comes, " + safepath.Quote(sync.Hidden(from))
}
