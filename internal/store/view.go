package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// View is what an operation made true: where every bookmark and tag is, and what the working copy stands on.
type View struct {
	Bookmarks   map[string]uint32 // name to state number
	Tags        map[string]uint32 // name to state number
	Current     string            // the current bookmark, or ""
	Base        int64             // the state of the working copy, or -1
	Checkpoints []uint32          // states, ascending
	Kept        map[string][]byte // for what later versions must remember; small
}

// NewView returns the view of an empty repository.
func NewView() *View {
	return &View{Bookmarks: map[string]uint32{}, Tags: map[string]uint32{}, Base: -1, Kept: map[string][]byte{}}
}

// Clone returns a copy to alter. A copy of the struct whose maps are replaced where something differs, and shared where
// nothing does, serves as well, and 100 000 tags then cost nothing.
func (v *View) Clone() *View {
	c := *v
	c.Bookmarks, c.Tags, c.Kept = maps.Clone(v.Bookmarks), maps.Clone(v.Tags), maps.Clone(v.Kept)
	c.Checkpoints = slices.Clone(v.Checkpoints)
	return &c
}

// Bounds of a view.
const (
	// maxName bounds names of bookmarks, tags and kept values: the longest path that Linux knows.
	maxName = 4 << 10
	// maxKept bounds one kept value: views are read by every command.
	maxKept = 64 << 10
	// maxView bounds an encoded view: a million names of 60 bytes.
	maxView = 64 << 20
	// viewAlways is the size up to which a view is always told in full.
	viewAlways = 4 << 10
)

// class is what an entry of an encoded view is about. With classGone the entry is taken away.
type class uint8

const (
	classBookmark class = iota + 1
	classTag
	classCurrent
	classBase
	classCheckpoint
	classKept
	numClasses
	classGone class = 0x80
)

// viewEntry is one fact of a view; a view is encoded as a list of them by ascending class and key.
type viewEntry struct {
	class class // without classGone
	gone  bool
	key   string
	value string
}

func (e viewEntry) compare(o viewEntry) int {
	return cmp.Or(cmp.Compare(e.class, o.class), cmp.Compare(e.key, o.key))
}

func number(n uint32) string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n) // big-endian, so that keys sort as numbers
	return string(b[:])
}

// diffViews lists what must be set and taken away to make a view of old, in no order. It calls f for each entry.
func diffViews(old, v *View, f func(viewEntry)) {
	diffNames(classBookmark, old.Bookmarks, v.Bookmarks, f)
	diffNames(classTag, old.Tags, v.Tags, f)
	if v.Current != old.Current {
		f(viewEntry{class: classCurrent, gone: v.Current == "", value: v.Current})
	}
	if v.Base != old.Base {
		e := viewEntry{class: classBase, gone: v.Base < 0}
		if !e.gone {
			e.value = number(uint32(v.Base))
		}
		f(e)
	}
	diffCheckpoints(old.Checkpoints, v.Checkpoints, f)
	for k, b := range v.Kept {
		if o, ok := old.Kept[k]; !ok || string(o) != string(b) {
			f(viewEntry{class: classKept, key: k, value: string(b)})
		}
	}
	for k := range old.Kept {
		if _, ok := v.Kept[k]; !ok {
			f(viewEntry{class: classKept, gone: true, key: k})
		}
	}
}

func diffNames(c class, old, names map[string]uint32, f func(viewEntry)) {
	if reflect.ValueOf(old).Pointer() == reflect.ValueOf(names).Pointer() {
		return
	}
	kept := 0
	for k, n := range names {
		o, ok := old[k]
		if ok {
			kept++
		}
		if !ok || o != n {
			f(viewEntry{class: c, key: k, value: number(n)})
		}
	}
	if kept == len(old) {
		return
	}
	for k := range old {
		if _, ok := names[k]; !ok {
			f(viewEntry{class: c, gone: true, key: k})
		}
	}
}

func diffCheckpoints(old, now []uint32, f func(viewEntry)) {
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(old) == 0 || len(now) > 0 && now[0] < old[0]:
			f(viewEntry{class: classCheckpoint, key: number(now[0])})
			now = now[1:]
		case len(now) == 0 || old[0] < now[0]:
			f(viewEntry{class: classCheckpoint, gone: true, key: number(old[0])})
			old = old[1:]
		default:
			old, now = old[1:], now[1:]
		}
	}
}

// size is about what an entry takes when encoded.
func (e viewEntry) size() int { return 3 + len(e.key) + len(e.value) }

// size is about what the view takes when encoded in full.
func (v *View) size() int {
	n := len(v.Current) + 7*len(v.Checkpoints) + 16
	for k := range v.Bookmarks {
		n += 7 + len(k)
	}
	for k := range v.Tags {
		n += 7 + len(k)
	}
	for k, b := range v.Kept {
		n += 3 + len(k) + len(b)
	}
	return n
}

func encodeEntries(entries []viewEntry) []byte {
	slices.SortFunc(entries, viewEntry.compare)
	var b []byte
	for _, e := range entries {
		c := e.class
		if e.gone {
			c |= classGone
		}
		b = append(b, byte(c))
		b = appendSized(b, e.key)
		if !e.gone {
			b = appendSized(b, e.value)
		}
	}
	return b
}

var (
	errView     = errors.New("malformed view")
	errLostView = errors.New("the operation was damaged once, and what it said is lost")
)

// decodeEntries calls f for each entry of an encoded view.
func decodeEntries(b []byte, f func(viewEntry)) error {
	r := reader{b: b}
	var before viewEntry
	for len(r.b) > 0 {
		c := class(r.bytes(1)[0])
		e := viewEntry{class: c &^ classGone, gone: c&classGone != 0, key: string(r.sized())}
		if !e.gone {
			e.value = string(r.sized())
		}
		if r.bad || !e.valid() || before.compare(e) >= 0 {
			return errView
		}
		f(e)
		before = e
	}
	return nil
}

func (e viewEntry) valid() bool {
	if len(e.key) > maxName || e.class == 0 || e.class >= numClasses {
		return false
	}
	n := len(e.value)
	switch e.class {
	case classBookmark, classTag:
		return e.gone || n == 4
	case classCurrent:
		return e.key == "" && n <= maxName && (n > 0 || e.gone)
	case classBase:
		return e.key == "" && (e.gone || n == 4)
	case classCheckpoint:
		return len(e.key) == 4 && n == 0
	default:
		return n <= maxKept
	}
}

// apply makes one entry true of the view.
func (v *View) apply(e viewEntry) {
	switch e.class {
	case classBookmark:
		setName(v.Bookmarks, e)
	case classTag:
		setName(v.Tags, e)
	case classCurrent:
		v.Current = e.value
	case classBase:
		v.Base = -1
		if !e.gone {
			v.Base = int64(binary.BigEndian.Uint32([]byte(e.value)))
		}
	case classCheckpoint:
		n := binary.BigEndian.Uint32([]byte(e.key))
		i, found := slices.BinarySearch(v.Checkpoints, n)
		switch {
		case e.gone && found:
			v.Checkpoints = slices.Delete(v.Checkpoints, i, i+1)
		case !e.gone && !found:
			v.Checkpoints = slices.Insert(v.Checkpoints, i, n)
		}
	case classKept:
		if e.gone {
			delete(v.Kept, e.key)
		} else {
			v.Kept[e.key] = []byte(e.value)
		}
	}
}

func setName(names map[string]uint32, e viewEntry) {
	if e.gone {
		delete(names, e.key)
	} else {
		names[e.key] = binary.BigEndian.Uint32([]byte(e.value))
	}
}

// check refuses an entry that could not be read back, or names a state that is not there.
func (e viewEntry) check(states uint32) error {
	if !e.valid() {
		return fmt.Errorf("%.40q cannot be part of a view: it has %d bytes, its name %d", e.key, len(e.value), len(e.key))
	}
	n := e.value
	switch e.class {
	case classCheckpoint:
		n = e.key
	case classCurrent, classKept:
		return nil
	}
	if !e.gone && binary.BigEndian.Uint32([]byte(n)) >= states {
		return fmt.Errorf("%.40q names state %d of %d", e.key, binary.BigEndian.Uint32([]byte(n)), states)
	}
	return nil
}

// cachedView is the view of the last of so many ops; nobody alters it.
type cachedView struct {
	op   place
	ops  uint32
	view *View
}

// View returns the view of the last operation. It is shared: alter a Clone.
func (s *Store) View() (*View, error) {
	t := s.now.Load()
	if c := s.view.Load(); c != nil && c.op == t.op && c.ops == t.n[opsCol] {
		return c.view, nil
	}
	v, err := s.viewAt(t.op, t.n[opsCol])
	if err != nil {
		return nil, fmt.Errorf("read the view: %w", err)
	}
	s.view.Store(&cachedView{t.op, t.n[opsCol], v})
	return v, nil
}

// OpView returns the view that an operation made true.
func (s *Store) OpView(n uint32) (*View, error) {
	rec, _, ok := s.record(opsCol, n)
	if !ok {
		return nil, fmt.Errorf("read the view of operation %d: %w", n, s.missing())
	}
	v, err := s.viewAt(opRecordPlace(rec), n+1)
	if err != nil {
		return nil, fmt.Errorf("read the view of operation %d: %w", n, err)
	}
	return v, nil
}

// viewAt reads the view of the last of so many ops, which lies at p; of none it is empty.
func (s *Store) viewAt(p place, ops uint32) (*View, error) {
	v := NewView()
	links, err := s.viewChain(p, ops, true)
	if err != nil {
		return nil, err
	}
	for _, l := range slices.Backward(links) {
		if err := decodeEntries(l.view, v.apply); err != nil {
			return nil, s.damaged(l.at, err)
		}
	}
	return v, nil
}

// viewLink is one op of a chain of views.
type viewLink struct {
	at    place
	chain chain
	view  []byte // encoded: a difference, or in the last link all
}

// viewChain reads the encoded views that make the view of the last of so many ops, which lies at p, from it down to a full
// one. Each op's depth has one bit less than the one before, so there are at most 33. Without whole the full view itself
// is not read.
func (s *Store) viewChain(p place, ops uint32, whole bool) (links []viewLink, err error) {
	for ops > 0 {
		t, body, err := s.op(p, ops-1)
		if err != nil {
			return nil, err
		}
		if len(links) > 0 && t.chain.depth != lowestCleared(links[len(links)-1].chain.depth) {
			return nil, s.damaged(p, errView)
		}
		if full := t.view&viewFull != 0; full != (t.chain.depth == 0) || t.view > viewFull|viewBlob || t.chain.depth >= ops {
			return nil, s.damaged(p, errView)
		}
		link := viewLink{at: p, chain: t.chain}
		if whole || t.chain.depth != 0 {
			if link.view, err = s.encodedView(p, t.view, body.view); err != nil {
				return nil, err
			}
		}
		links = append(links, link)
		if t.chain.depth == 0 {
			break
		}
		// Ops of a chain follow one another.
		ops -= t.chain.depth - lowestCleared(t.chain.depth)
		if p = t.chain.base; p == 0 { // a packed op: it has a number only
			rec, _, ok := s.record(opsCol, ops-1)
			if !ok {
				return nil, s.missing()
			}
			p = opRecordPlace(rec)
		}
	}
	return links, nil
}

// encodedView returns what an op says of its view, which may lie in a content.
func (s *Store) encodedView(p place, kind viewKind, b []byte) ([]byte, error) {
	if kind&viewBlob == 0 {
		return b, nil
	}
	if len(b) != len(change.Hash{}) {
		return nil, s.damaged(p, errView)
	}
	h := change.Hash(b)
	if h == (change.Hash{}) {
		return nil, s.damaged(p, errLostView)
	}
	if size, ok := s.BlobSize(h); ok && size > maxView {
		return nil, s.damaged(p, errView)
	}
	return s.Blob(nil, h)
}

func lowestCleared(n uint32) uint32 { return n & (n - 1) }
