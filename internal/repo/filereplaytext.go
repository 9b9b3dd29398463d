package repo

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// fileText is what a set of changes made of a file's text. It is made of earlier ones, and what it needs to show is let go when memory
// is short: then it is made again.
type fileText struct {
	id    change.FileID
	refs  int // of versions
	size  uint64
	hash  change.Hash // of what the file was added with
	from  *fileText   // nil for what it was added with
	other *fileText   // of a union
	by    weave.Source
	// What is at hand. The weave went on as another's where there is a shown text only.
	l     *loaded
	shown []byte
	known bool // shown is what shows
	open  bool // conflicts are
	used  uint64
	bytes int // that are counted for it
	held  bool
	lent  bool // another finds in it what shows: its weave must not be changed
	own   bool // the room that what shows lies in is its own, to be used again
}

func (t *fileText) disputed() bool { return t.open }

// textRoom keeps the texts of a replay, and lets go of those that were not used for longest.
type textRoom struct {
	most  int // bytes
	held  []*fileText
	list  int // up to how many are listed before those are left out that were let go
	bytes int
	clock uint64
	spare spareTexts
}

// born is a text as a file is added.
func (m *textRoom) born(id change.FileID, f *change.File) *fileText {
	t := &fileText{id: id}
	if f.Kind == change.Text {
		t.size, t.hash = f.Size, f.Content
	}
	m.keep(t)
	return t
}

// has gives a new text what the change brings for it.
func (m *textRoom) has(t *fileText, b *body, i int, r *Repo) (err error) {
	t.shown, err = b.content(r, i)
	t.known = err == nil
	m.count(t)
	return err
}

// content gives what a change brings for its file i.
func (b *body) content(r *Repo, i int) ([]byte, error) {
	f := &b.files[i]
	switch {
	case f.Size == 0:
		return nil, nil
	case b.offsets != nil && f.Size < inlineBelow:
		return b.texts[b.offsets[i] : b.offsets[i]+int(f.Size)], nil
	}
	out, err := r.store.Blob(nil, f.Content)
	return out, r.lacking(f.Content, err)
}

// keep and drop count what versions have a text.
func (m *textRoom) keep(t *fileText) { t.refs++ }

func (m *textRoom) drop(t *fileText) {
	if t.refs--; t.refs == 0 {
		m.forget(t)
		m.count(t)
	}
}

// forget lets go of what is at hand of a text.
func (m *textRoom) forget(t *fileText) {
	if t.own && !t.lent {
		m.spare.leave(t.shown)
	}
	t.l, t.shown, t.known, t.own = nil, nil, false, false
}

// count says that what is at hand of a text is another.
func (m *textRoom) count(t *fileText) {
	m.clock++
	t.used = m.clock
	now := len(t.shown)
	if t.l != nil {
		now += t.l.w.Bytes() + len(t.l.text) + len(t.l.otherText)
	}
	m.bytes += now - t.bytes
	t.bytes = now
	if !t.held && now > 0 {
		t.held = true
		m.held = append(m.held, t)
	}
}

// leastListed is how many texts are listed at least before the list is gone through.
const leastListed = 1 << 12

// shrink lets go of what was not used for longest, where too much is kept.
func (m *textRoom) shrink() {
	if m.bytes <= m.most && len(m.held) < m.list {
		return
	}
	m.held = slices.DeleteFunc(m.held, func(t *fileText) bool {
		t.held = t.bytes > 0
		return !t.held
	})
	m.list = max(leastListed, 2*len(m.held))
	if m.bytes <= m.most {
		return
	}
	slices.SortFunc(m.held, func(a, b *fileText) int { return cmp.Compare(a.used, b.used) })
	n := 0
	for ; m.bytes > m.most/2; n++ {
		t := m.held[n]
		m.forget(t)
		t.held = false
		m.bytes -= t.bytes
		t.bytes = 0
	}
	m.held = append(m.held[:0], m.held[n:]...)
}

// weave gives a text's weave, which must not be changed.
func (m *textRoom) weave(r *Repo, t *fileText) (*weave.Weave, error) {
	l, err := m.load(r, t)
	if err != nil {
		return nil, err
	}
	return l.w, nil
}

// load has a text's weave at hand: it goes back to where one is, and puts in what came since.
func (m *textRoom) load(r *Repo, t *fileText) (*loaded, error) {
	if t.l != nil {
		return t.l, nil
	}
	var later []*fileText
	from := t
	for from.l == nil && from.from != nil && from.other == nil {
		later = append(later, from)
		from = from.from
	}
	var l *loaded
	switch {
	case from.l != nil:
		l = &loaded{w: from.l.w.Clone()}
	case from.from == nil:
		l = &loaded{w: weave.New(weave.Source{Change: from.id.Change, Ord: from.id.Ord, Size: uint32(from.size), Hash: from.hash})}
	default:
		w, err := m.merged(r, from)
		if err != nil {
			return nil, err
		}
		l = w
	}
	for _, x := range slices.Backward(later) {
		b, err := r.bodyOf(x.by.Change)
		if err != nil {
			return nil, storeError(err)
		}
		if l.w, err = l.w.Add(weave.Patch{Source: x.by, Hunks: b.files[x.by.Ord].Hunks}, r.fileHistory(r.shared, t.id, func() *loaded { return l })); err != nil {
			return nil, err
		}
	}
	if len(later) > 0 {
		l = &loaded{w: l.w}
	}
	t.l = l
	m.count(t)
	return l, nil
}

// merged unites the weaves that a text is the union of.
func (m *textRoom) merged(r *Repo, t *fileText) (*loaded, error) {
	a, err := m.load(r, t.from)
	if err != nil {
		return nil, err
	}
	b, err := m.load(r, t.other)
	if err != nil {
		return nil, err
	}
	w, err := weave.Merge(a.w, b.w, r.fileHistory(r.shared, t.id, func() *loaded { return a }))
	if err != nil {
		return nil, err
	}
	l := &loaded{w: w}
	if t.from.known {
		l.from, l.text, t.from.lent = a.w, t.from.shown, true
	}
	if t.other.known {
		l.other, l.otherText, t.other.lent = b.w, t.other.shown, true
	}
	return l, nil
}

// united gives the union of two texts of a file: one of them, if it has all of the other.
func (m *textRoom) united(r *Repo, a, b *fileText) (*fileText, error) {
	if a == b {
		return a, nil
	}
	x, err := m.weave(r, a)
	if err != nil {
		return nil, err
	}
	y, err := m.weave(r, b)
	switch {
	case err != nil:
		return nil, err
	case hasAll(x, y):
		return a, nil
	case hasAll(y, x):
		return b, nil
	}
	t := &fileText{id: a.id, from: a, other: b}
	if t.l, err = m.merged(r, t); err != nil {
		return nil, err
	}
	t.open = len(t.l.w.Open()) > 0
	m.count(t)
	return t, nil
}

// hasAll tells whether a weave has all changes that another has.
func hasAll(a, b *weave.Weave) bool {
	if len(a.Sources) < len(b.Sources) {
		return false
	}
	i := 0
	for k := range b.Sources {
		for i < len(a.Sources) && a.Sources[i].Change < b.Sources[k].Change {
			i++
		}
		if i == len(a.Sources) || a.Sources[i].Change != b.Sources[k].Change {
			return false
		}
	}
	return true
}

// edited gives a text with what a change does to it. With last the text before is not asked again for its weave, which goes on as the new one's.
func (m *textRoom) edited(r *Repo, was *fileText, last bool, c *Recorded, i int) (*fileText, error) {
	f := &c.body.files[i]
	src := sourceOf(c.num, uint32(i), f)
	t := &fileText{id: was.id, from: was, by: src}
	l, err := m.load(r, was)
	if err != nil {
		return nil, err
	}
	// Upon a union it may meet what it does not know of.
	if was.other != nil || was.open {
		w, err := l.w.Add(weave.Patch{Source: src, Hunks: f.Hunks}, r.fileHistory(r.shared, was.id, func() *loaded { return l }))
		if err != nil {
			return nil, err
		}
		t.l = &loaded{w: w, from: l.from, text: l.text, other: l.other, otherText: l.otherText}
		if was.known {
			t.l.from, t.l.text, t.l.other, t.l.otherText, was.lent = l.w, was.shown, nil, nil, true
		}
		t.open = len(w.Open()) > 0
		m.count(t)
		return t, nil
	}
	before, err := m.show(r, was)
	if err != nil {
		return nil, err
	}
	inserted, err := c.body.content(r, i)
	if err != nil {
		return nil, err
	}
	w := l.w
	if last && !was.lent {
		was.l = nil
	} else {
		w = w.Clone()
	}
	edits, known, err := w.ApplyShown(src, f.Hunks)
	if err != nil {
		return nil, err
	}
	t.l, t.open = &loaded{w: w}, len(w.Open()) > 0
	if known {
		if n := len(edits); uint32(len(inserted)) != src.Size || n > 0 && edits[n-1].A1 > len(before) {
			return nil, fmt.Errorf("%w: its hunks reach beyond the text", weave.ErrMismatch)
		}
		size := len(before)
		for _, e := range edits {
			size += e.B1 - e.B0 - (e.A1 - e.A0)
		}
		t.shown, t.known, t.own = weave.Patched(m.spare.take(size), before, inserted, edits), true, true
	}
	m.count(t)
	m.count(was)
	return t, nil
}

// show gives what a text shows, which must not be changed.
func (m *textRoom) show(r *Repo, t *fileText) ([]byte, error) {
	if t.known {
		return t.shown, nil
	}
	if t.from == nil {
		if t.size > 0 { // else it was added as something else, or empty
			b, err := r.text(nil, t.id.Change, t.id.Ord, t.hash)
			if err != nil {
				return nil, err
			}
			t.shown = b
		}
		t.known = true
		m.count(t)
		return t.shown, nil
	}
	l, err := m.load(r, t)
	if err != nil {
		return nil, err
	}
	b, err := r.render(nil, l)
	if err != nil {
		return nil, err
	}
	t.shown, t.known = b, true
	t.l = &loaded{w: l.w}
	m.count(t)
	return b, nil
}
