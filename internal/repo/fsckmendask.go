package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// copies are whom to ask.
func (m *mending) copies() ([]string, error) {
	if m.opt.From != "" {
		return []string{m.opt.From}, nil
	}
	remotes, err := m.r.Remotes()
	if err != nil {
		return nil, err
	}
	var from []string
	for _, remote := range remotes {
		from = append(from, remote.Name)
	}
	return from, nil
}

// gather asks others until nothing is lacking, or nobody is left to ask.
func (m *mending) gather() error {
	from, err := m.copies()
	if err != nil {
		return err
	}
	for _, name := range from {
		if len(m.want)+len(m.loose) == 0 {
			break
		}
		before := len(m.want) + len(m.loose)
		err := m.ask(name)
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		if err != nil { // another may have it
			m.errs = append(m.errs, err)
		}
		if len(m.want)+len(m.loose) < before {
			m.asked = append(m.asked, name)
		}
	}
	return nil
}

// ask takes from one other repository what it has of what is wanted.
func (m *mending) ask(name string) error {
	a, _, err := m.r.addressOf(name)
	if err != nil {
		return err
	}
	if a.Scheme == sync.Path {
		return m.askHere(a)
	}
	l, err := m.r.dial(m.ctx, name, m.opt.Dir, m.opt.Messages)
	if err != nil {
		return err
	}
	defer l.Close()
	refs, err := l.list(m.ctx)
	if err != nil {
		return linkError(l.shown, err)
	}
	for _, ref := range refs {
		if len(m.want) == 0 {
			return nil
		}
		ids, err := m.has(l, ref)
		if err != nil {
			return linkError(l.shown, err)
		}
		if len(ids) == 0 {
			continue
		}
		if err := m.take(l, ref, ids); err != nil {
			return linkError(l.shown, err)
		}
	}
	return nil
}

// openHere opens a repository on this machine.
func (m *mending) openHere(a sync.Address) (*Repo, error) {
	path := a.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.opt.Dir, path)
	}
	s, err := NewServer(path, ServeOptions{Options: Options{FS: m.r.opt.FS, Env: m.r.opt.Env, Command: m.r.opt.Command}})
	if err != nil {
		return nil, err
	}
	return s.open()
}

// askHere takes from a repository on this machine whatever its log has, also what none of its own bookmarks and tags has.
func (m *mending) askHere(a sync.Address) error {
	other, err := m.openHere(a)
	if err != nil {
		return err
	}
	defer other.Close()
	var ids []change.ID
	for id := range m.want {
		if _, ok := other.store.FindChange(id); ok {
			ids = append(ids, id)
		}
	}
	change.SortIDs(ids)
	for _, id := range ids { // one at a time: where it is damaged there too, the others come
		l := &link{Peer: sync.Local(m.ctx, giver{other}, func() error { return nil }), shown: a.String()}
		err := m.take(l, sync.Ref{Kind: sync.Bookmark, Name: FirstBookmark, State: [32]byte{1}}, []change.ID{id})
		if err = errors.Join(err, l.Close()); m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		if err != nil {
			m.errs = append(m.errs, linkError(l.shown, err))
		}
	}
	return m.takeLoose(other)
}

// setsOf gives what other copies have for the changes of a state of this id, as far as they are here. One on this machine has states
// that nothing names, too; another is asked for what its bookmarks and tags have.
func (m *mending) setsOf(id [32]byte) (sets []state.Set, err error) {
	from, err := m.copies()
	if err != nil {
		return nil, err
	}
	for _, name := range from {
		ids, err := m.idsOf(name, id)
		if m.ctx.Err() != nil {
			return nil, context.Cause(m.ctx)
		}
		if err != nil {
			m.errs = append(m.errs, err)
			continue
		}
		var b state.SetBuilder
		for _, c := range ids {
			if n, ok := m.r.store.FindChange(c); ok {
				b.Add(n)
			}
		}
		if len(ids) > 0 {
			sets = append(sets, b.Set())
			if name != "" && !slices.Contains(m.asked, name) {
				m.asked = append(m.asked, name)
			}
		}
	}
	return sets, nil
}

// idsOf asks one copy for the changes of a state, by its id.
func (m *mending) idsOf(name string, id [32]byte) ([]change.ID, error) {
	a, _, err := m.r.addressOf(name)
	if err != nil {
		return nil, err
	}
	if a.Scheme == sync.Path {
		other, err := m.openHere(a)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		for n := range other.store.NumStates() {
			st, err := other.store.State(n)
			if err != nil || st.ID != id {
				continue
			}
			set, err := other.setOf(n)
			if err != nil {
				return nil, err
			}
			var ids []change.ID
			for c := range set.All() {
				ids = append(ids, other.store.ChangeID(c))
			}
			return ids, other.store.Err()
		}
		return nil, nil
	}
	l, err := m.r.dial(m.ctx, name, m.opt.Dir, m.opt.Messages)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	refs, err := l.list(m.ctx)
	if err != nil {
		return nil, linkError(l.shown, err)
	}
	for _, ref := range refs {
		if ref.State == id {
			_, ids, err := l.apart(m.ctx, m.r, StateRef{Num: NoState}, ref)
			return ids, err
		}
	}
	return nil, nil
}

// takeLoose takes contents that no change names.
func (m *mending) takeLoose(other *Repo) error {
	left := m.loose[:0:0]
	tx, err := m.scratch.Begin(nil)
	if err != nil {
		return err
	}
	for _, h := range m.loose {
		if _, ok := other.store.BlobSize(h); !ok {
			left = append(left, h)
			continue
		}
		if err := copyContent(tx, other.store, h); errors.Is(err, store.ErrDamaged) || errors.Is(err, errHash) {
			left = append(left, h) // there as well
		} else if err != nil {
			return errors.Join(err, tx.Abort())
		}
	}
	if len(left) == len(m.loose) {
		return tx.Abort()
	}
	_, err = tx.Commit(store.Op{View: store.NewView()}, nil)
	if err == nil {
		m.loose = left
	}
	return err
}

// copyContent puts a content of another store, and proves it.
func copyContent(tx interface {
	PutStream(io.Reader) (change.Hash, int64, error)
}, from *store.Store, h change.Hash) error {
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(from.WriteBlob(out, h)) }()
	got, _, err := tx.PutStream(in)
	_ = in.Close()
	if err == nil && got != h {
		err = errHash
	}
	return err
}

// giver gives the changes that are asked for, named or not.
type giver struct{ r *Repo }

// Handle answers a request to take.
func (g giver) Handle(ctx context.Context, in *sync.Reader, out *sync.Writer) error {
	q, err := in.Request()
	if err != nil {
		return err
	}
	var nums []uint32
	for _, id := range q.IDs {
		if n, ok := g.r.store.FindChange(id); ok {
			nums = append(nums, n)
		}
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return g.r.newSending(ctx, out, false).changes(nums)
}

// has gives the wanted changes that are in what a name there stands for.
func (m *mending) has(l *link, ref sync.Ref) ([]change.ID, error) {
	ids, err := m.hasFrom(l, ref, m.near(l, ref))
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, sync.ErrTooDifferent) {
		return m.hasFrom(l, ref, StateRef{Num: NoState}) // what is like it here is damaged, too, or is not like it
	}
	return ids, err
}

// near is the state here that is the most like what a name stands for there: none, where damage hides it.
func (m *mending) near(l *link, ref sync.Ref) StateRef {
	v, err := m.r.view()
	if err != nil {
		return StateRef{Num: NoState}
	}
	base, same, err := m.r.stateBy(v, ref.State)
	if err == nil && !same {
		base, err = m.r.likeliest(l.name, ref.Name)
	}
	if err != nil {
		return StateRef{Num: NoState}
	}
	return base
}

// hasFrom is has, by what the two have that one of them and not the other.
func (m *mending) hasFrom(l *link, ref sync.Ref, base StateRef) ([]change.ID, error) {
	set, err := mended(m.r, func() (state.Set, error) { return m.r.setOf(base.Num) })
	if err != nil {
		return nil, err
	}
	var ours, theirs []change.ID
	if base.ID != ref.State {
		if ours, theirs, err = l.apart(m.ctx, m.r, base, ref); err != nil {
			return nil, err
		}
	}
	there := map[change.ID]bool{}
	for id := range m.want {
		n, ok := m.r.store.FindChange(id)
		there[id] = ok && set.Has(n)
	}
	for _, id := range ours {
		delete(there, id)
	}
	for _, id := range theirs {
		if m.want[id] {
			there[id] = true
		}
	}
	maps.DeleteFunc(there, func(_ change.ID, is bool) bool { return !is })
	ids := slices.Collect(maps.Keys(there))
	change.SortIDs(ids)
	return ids, nil
}

// take asks for changes and puts what comes, with all their contents, into the store beside.
func (m *mending) take(l *link, ref sync.Ref, ids []change.ID) error {
	q := &sync.Request{Verb: sync.Take, Wants: []sync.Ref{ref}, IDs: ids, Lacks: make([]bool, len(ids))}
	for i := range q.Lacks {
		q.Lacks[i] = true
	}
	tx, err := m.scratch.Begin(nil)
	if err != nil {
		return err
	}
	bar := m.r.opt.Progress
	var came []change.ID
	err = l.Do(m.ctx, func(w *sync.Writer) error { return w.Request(q) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		bar.Begin("Receiving", 0, true)
		defer bar.End()
		in.Progress = bar.Add
		return in.Pack(sync.Receiver{
			Known: func(id change.ID) bool { return !m.want[id] },
			Change: func(c *sync.Change, texts *sync.Texts) error {
				if err := m.put(tx, c, texts); err != nil {
					return fmt.Errorf("%w: change %s: %w", sync.ErrMalformed, c.ID.Short(), err)
				}
				came = append(came, c.ID)
				return nil
			},
			Update:  func(*sync.Update) error { return nil },
			Unknown: func(sync.Ref) error { return sync.ErrMalformed },
		})
	})
	if err != nil {
		return errors.Join(err, tx.Abort())
	}
	if _, err := tx.Commit(store.Op{View: store.NewView()}, nil); err != nil {
		return err
	}
	for _, id := range came {
		delete(m.want, id)
	}
	return nil
}

// put puts a change of which the id is proved, and proves its contents.
func (m *mending) put(tx *store.Tx, c *sync.Change, texts *sync.Texts) error {
	rec := store.Record{ID: c.ID, Meta: c.Meta, Body: c.Body, Unhashed: soundPart(c.ID, c.Unhashed)}
	files := c.Change.Files
	small := uint64(0)
	for i := range files {
		if files[i].Size < inlineBelow {
			small += files[i].Size
		}
	}
	// Of a change whose record is sound only contents beside it are wanted.
	inline := m.replaced[c.ID] && small <= inlineTotal
	for {
		i, from, err := texts.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		f := &files[i]
		if inline && f.Size < inlineBelow {
			b, err := io.ReadAll(from)
			if err != nil {
				return err
			}
			if uint64(len(b)) != f.Size || hashOf(b) != f.Content {
				return errHash
			}
			rec.Texts = append(rec.Texts, b...)
			continue
		}
		h, n, err := tx.PutStream(from)
		if err != nil {
			return err
		}
		if h != f.Content || uint64(n) != f.Size {
			return errHash
		}
	}
	_, err := tx.PutChange(rec, nil, c.Change.Time.Sec)
	return err
}
