package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	gosync "sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// received is what a pack brought.
type received struct {
	most   int          // names at most; 0: as many as there come
	dry    bool         // previews may come in place of changes
	before func() error // is called before anything is kept without the rest; nil: nothing is to be done

	updates  []*sync.Update
	unknown  []sync.Ref // names of which the sender did not find what is common
	previews []sync.Preview
	signed   *sync.Gathered // of a bundle: signatures beside its changes; nil: there may be none
	came     int            // changes that were not here
	bytes    int64          // of the pack, before compression
	texts    map[change.Hash]uint64

	seen  uint64   // changes that went by
	total uint64   // of how many, as far as the sender said
	share progress // told of that; nil: nobody

	partial bool // contents may be left out, for later

	along bool // what came whole stays although the rest may not come
	kept  bool // some of it was kept so
}

// maxPreviews bounds what a dry run lists: some hundred bytes each.
const maxPreviews = 1 << 21

// bounded ends a reply that answers more than was asked: an endless one would fill the memory.
func (res *received) bounded() error {
	if res.most > 0 && len(res.updates)+len(res.unknown) > res.most || len(res.previews) > maxPreviews {
		return fmt.Errorf("%w: an answer to no question", sync.ErrMalformed)
	}
	return nil
}

// progress is a Progress that shows how much of the whole is done beside how many bytes that was.
type progress interface {
	Share(done, total uint64)
}

// goesBy counts a change.
func (res *received) goesBy() {
	if res.seen++; res.share != nil && res.total > 0 {
		res.share.Share(res.seen, res.total)
	}
}

// receive takes the changes of a pack into the store: all of them in one transaction, or, when anything is wrong with the
// pack, none. Nothing names them yet: what a bookmark is comes after, once the changes can be read like all others.
func (r *Repo) receive(ctx context.Context, in *sync.Reader) (*received, error) {
	res := &received{}
	_, err := r.receiveSome(ctx, in, res, 0)
	return res, err
}

// receiveBatch is after how many bytes of a stream the changes in it are there to stay, whatever becomes of the rest: a few seconds'
// worth of most ways, and no more than a hundred operations for a large history.
const receiveBatch = 64 << 20

// receiveAlong is receive of a stream that may be cut at any time, by the network or with the process: what came whole until then
// need not come again. It goes into res, whose first fields say what may come.
func (r *Repo) receiveAlong(ctx context.Context, in *sync.Reader, res *received) error {
	res.along = true
	res.share, _ = r.opt.Progress.(progress)
	for {
		more, err := r.receiveSome(ctx, in, res, r.opt.receiveBatch())
		if err != nil || !more {
			return err
		}
	}
}

// receiveBatch is the batch's size: tests have a smaller one.
func (o *Options) receiveBatch() int64 {
	if o.Batch > 0 {
		return o.Batch
	}
	return receiveBatch
}

// receiveSome takes what comes in the next batch bytes of a pack, or all of it for 0. more is that it goes on.
func (r *Repo) receiveSome(ctx context.Context, in *sync.Reader, res *received, batch int64) (more bool, err error) {
	return transact(r, func(t *tx) (more bool, err error) {
		w := newReceiving(ctx, t, res)
		var preview func(p sync.Preview) error
		if res.dry {
			preview = func(p sync.Preview) error {
				res.previews = append(res.previews, p)
				return res.bounded()
			}
		}
		var signed func(s *sync.Signed) error
		if res.signed != nil {
			signed = res.signed.Add
		}
		until := in.Got() + batch
		err = in.Pack(sync.Receiver{
			Known: func(id change.ID) bool {
				res.goesBy()
				_, ok := t.FindChange(id)
				return ok
			},
			Change: func(c *sync.Change, texts *sync.Texts) error {
				if err := w.take(c, texts); err != nil || batch == 0 || in.Got() < until {
					return err
				}
				return sync.ErrPause
			},
			Update: func(u *sync.Update) error {
				res.updates = append(res.updates, u)
				return res.bounded()
			},
			Unknown: func(ref sync.Ref) error {
				res.unknown = append(res.unknown, ref)
				return res.bounded()
			},
			Preview: preview,
			Signed:  signed,
			Total:   func(changes uint64) { res.total += changes },
		})
		more = errors.Is(err, sync.ErrPause)
		cut := res.along && (errors.Is(err, sync.ErrCut) || errors.Is(err, context.Canceled))
		if ended := w.end(); ended != nil || err != nil && !more && !cut {
			if more {
				err = nil
			}
			return false, errors.Join(err, ended)
		}
		res.bytes = in.Got()
		if more {
			err = nil
		}
		if len(t.made) == 0 {
			return more, err
		}
		if failed := t.promise(w.left); failed != nil {
			return false, errors.Join(err, failed)
		}
		if (more || cut) && !res.kept && res.before != nil {
			if failed := res.before(); failed != nil {
				return false, errors.Join(err, failed)
			}
			res.kept = true
		}
		if failed := t.passedOver(); failed != nil {
			return false, errors.Join(err, failed)
		}
		if failed := t.commit("receive"); failed != nil {
			return false, errors.Join(err, failed)
		}
		res.came += len(t.made)
		return more, err
	})
}

// passedOver makes the operation one that undo passes over: to a person nothing happened yet.
func (t *tx) passedOver() error {
	n := t.r.store.NumOps()
	if n == 0 {
		return nil
	}
	v, err := t.r.store.OpView(n - 1)
	if err != nil {
		return storeError(err)
	}
	t.keepOp(keptUndo, standsAt(v, n-1))
	if redo, ok := keptOp(v, keptRedo, n-1); ok {
		t.keepOp(keptRedo, redo)
	}
	return nil
}

// receiving puts changes that nobody vouches for.
type receiving struct {
	ctx context.Context
	t   *tx
	got map[change.Hash]uint64 // contents that came, and their sizes
	// Contents may be left out; left are those that were.
	partial bool
	left    []change.Hash
	jobs    chan job
	done    gosync.WaitGroup
	free    chan []byte

	mu  gosync.Mutex
	err error
}

// job is a content to hash and to store.
type job struct {
	data []byte
	want change.Hash
}

// pieceAtOnce is up to which size a content is read whole and handed to another core; a larger one is streamed.
const pieceAtOnce = 1 << 20

func newReceiving(ctx context.Context, t *tx, res *received) *receiving {
	n := runtime.GOMAXPROCS(0)
	if res.texts == nil {
		res.texts = map[change.Hash]uint64{}
	}
	w := &receiving{ctx: ctx, t: t, got: res.texts, partial: res.partial, jobs: make(chan job, n), free: make(chan []byte, 2*n)}
	for range n {
		w.done.Go(func() {
			p := t.Packer()
			for j := range w.jobs {
				if hashOf(j.data) != j.want {
					w.fail(errHash)
				} else if err := p.Put(j.want, j.data); err != nil {
					w.fail(err)
				}
				select {
				case w.free <- j.data[:0]:
				default:
				}
			}
			if err := p.Flush(); err != nil {
				w.fail(err)
			}
		})
	}
	return w
}

var errNotBefore = errors.New("which is not here and did not come before it")

var errHash = errors.New("a text has another hash than its change says")

func (w *receiving) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

func (w *receiving) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// end waits until all contents are stored.
func (w *receiving) end() error {
	close(w.jobs)
	w.done.Wait()
	return refusedBy(w.err)
}

// refusedBy has the other side told of a content that is not what it should be.
func refusedBy(err error) error {
	if errors.Is(err, errHash) {
		return fmt.Errorf("%w: %w", sync.ErrMalformed, err)
	}
	return err
}

// take judges a change and puts it. Its id is right and its encoding canonical.
func (w *receiving) take(c *sync.Change, texts *sync.Texts) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.failed(); err != nil {
		return refusedBy(err)
	}
	bad := func(err error) error {
		return fmt.Errorf("%w: change %s: %w", sync.ErrMalformed, c.ID.Short(), err)
	}
	deps, err := w.deps(c.Change)
	if err != nil {
		return bad(err)
	}
	if err := checkNames(c.Change); err != nil {
		return bad(err)
	}
	rec := store.Record{ID: c.ID, Meta: c.Meta, Body: c.Body, Unhashed: soundPart(c.ID, c.Unhashed)}
	if rec.Texts, err = w.texts(c.Change.Files, texts); err != nil {
		return bad(err)
	}
	n, err := w.t.PutChange(rec, deps, c.Change.Time.Sec)
	if err != nil {
		return err
	}
	if n == w.t.r.store.NumChanges()+uint32(len(w.t.made)) {
		w.t.made = append(w.t.made, made{c.ID, deps})
	}
	return nil
}

// deps finds what a change names. All of it is there.
func (w *receiving) deps(c *change.Change) ([]uint32, error) {
	find := func(id change.ID) (uint32, error) {
		n, ok := w.t.FindChange(id)
		if !ok {
			return 0, fmt.Errorf("it names change %s, %w", id.Short(), errNotBefore)
		}
		return n, nil
	}
	deps := make([]uint32, 0, len(c.Deps))
	for _, id := range c.Deps {
		n, err := find(id)
		if err != nil {
			return nil, err
		}
		deps = append(deps, n)
	}
	for _, id := range c.Others {
		if _, err := find(id); err != nil {
			return nil, err
		}
	}
	if !c.Undoes.IsZero() {
		if _, err := find(c.Undoes); err != nil {
			return nil, err
		}
	}
	slices.Sort(deps)
	return deps, nil
}

// checkNames refuses paths that no working copy may hold.
func checkNames(c *change.Change) error {
	for i := range c.DirMoves {
		if err := errors.Join(safepath.Check(c.DirMoves[i].From), safepath.Check(c.DirMoves[i].To)); err != nil {
			return err
		}
	}
	for i := range c.Files {
		if c.Files[i].Writes&change.WritesPlace != 0 {
			if err := safepath.Check(c.Files[i].Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// texts stores the contents of a change, or gives them where they lie in its own frame: as a record would have it.
func (w *receiving) texts(files []change.File, texts *sync.Texts) ([]byte, error) {
	total := uint64(0)
	for i := range files {
		if files[i].Size < inlineBelow {
			total += files[i].Size
		}
	}
	inline := total <= inlineTotal
	var out []byte
	for {
		i, from, err := texts.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		f := &files[i]
		switch {
		case inline && f.Size < inlineBelow:
			at := len(out)
			out = append(out, make([]byte, f.Size)...)
			if _, err := io.ReadFull(from, out[at:]); err != nil {
				return nil, err
			}
			if hashOf(out[at:]) != f.Content {
				return nil, errHash
			}
			continue
		case f.Size <= pieceAtOnce:
			if err := w.hand(f, from); err != nil {
				return nil, err
			}
		default:
			h, n, err := w.t.PutStream(from)
			if err != nil {
				return nil, err
			}
			if h != f.Content || uint64(n) != f.Size {
				return nil, errHash
			}
		}
		w.got[f.Content] = f.Size
	}
	return out, w.complete(files)
}

// hand has another core store a content.
func (w *receiving) hand(f *change.File, from io.Reader) error {
	var b []byte
	select {
	case b = <-w.free:
	default:
	}
	b = slices.Grow(b[:0], int(f.Size))[:f.Size]
	if _, err := io.ReadFull(from, b); err != nil {
		return err
	}
	w.jobs <- job{b, f.Content}
	return nil
}

// complete checks that every content that did not come along is there, or may be left out.
func (w *receiving) complete(files []change.File) error {
	for i := range files {
		f := &files[i]
		if f.Size < inlineBelow {
			continue // those always come along
		}
		size, ok := w.got[f.Content]
		if !ok {
			n, there := w.t.r.store.BlobSize(f.Content)
			size, ok = uint64(n), there
		}
		if !ok && w.partial {
			w.left = append(w.left, f.Content)
			continue
		}
		if !ok || size != f.Size {
			return fmt.Errorf("its content %s did not come along", f.Content)
		}
	}
	return nil
}

// namedStates lists the states that a view names, remotes' among them.
func namedStates(v *store.View) []uint32 {
	var out []uint32
	if v.Base >= 0 {
		out = append(out, uint32(v.Base))
	}
	for _, s := range v.Bookmarks {
		out = append(out, s)
	}
	for key, b := range v.Kept {
		if len(b) == 4 && bytes.HasPrefix([]byte(key), []byte(trackPrefix)) {
			s, _ := tracked(v, key[len(trackPrefix):])
			out = append(out, s)
		}
	}
	for _, s := range v.Tags {
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
