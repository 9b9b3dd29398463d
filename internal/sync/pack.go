package sync

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sign"
)

// Bounds of what a pack may say.
const (
	maxChanges  = 1 << 31 // local numbers have 32 bits
	maxUnhashed = 1 << 20 // signatures; sign has a bound of its own beneath it
	maxLog      = 1 << 30 // bytes of a bookmark's log: 33 million ids that lie in no run
	// Small contents always go along with their change: a receiver may keep them where only the change finds them.
	small = 4 << 10
)

// packed is what both ends remember of the changes that went by.
type packed struct {
	ids   []change.ID // in their order
	index map[change.ID]uint32
	texts map[change.Hash]struct{} // contents that went along: each goes once
}

func (p *packed) note(id change.ID) {
	if p.index == nil {
		p.index = map[change.ID]uint32{}
	}
	if _, ok := p.index[id]; !ok {
		p.index[id] = uint32(len(p.ids))
	}
	p.ids = append(p.ids, id)
}

// Change is one change on its way.
type Change struct {
	ID       change.ID
	Meta     []byte
	Body     []byte
	Unhashed []byte
	Change   *change.Change // decoded, with refs
	// Without tells which contents are left out, by the ordinals of their files; nil: none. Small ones go along all the same.
	Without func(ord int) bool
}

// Contents writes the content of file ord of a change.
type Contents func(w io.Writer, ord int) error

// Change sends a change with the contents that it brings. Of a content that went along before only the hash is sent.
func (w *Writer) Change(c *Change, contents Contents) error {
	files := c.Change.Files
	if w.pack.texts == nil {
		w.pack.texts = map[change.Hash]struct{}{}
	}
	var present []byte
	var along []int
	size := int64(len(c.Meta) + len(c.Body) + len(c.Unhashed))
	n := 0
	for i := range files {
		f := &files[i]
		if f.Size == 0 {
			continue
		}
		if n%8 == 0 {
			present = append(present, 0)
		}
		if _, ok := w.pack.texts[f.Content]; f.Size < small || !ok && (c.Without == nil || !c.Without(i)) {
			w.pack.texts[f.Content] = struct{}{}
			present[n/8] |= 1 << (n % 8)
			size += int64(f.Size)
			along = append(along, i)
		}
		n++
	}
	size += int64(len(present))
	head := append([]byte(nil), c.ID[:]...)
	for _, b := range [][]byte{c.Meta, c.Body, c.Unhashed} {
		head = binary.AppendUvarint(head, uint64(len(b)))
	}
	if err := w.item(kindChange, head, size); err != nil {
		return err
	}
	w.pack.note(c.ID)
	for _, b := range [][]byte{c.Meta, c.Body, c.Unhashed, present} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	for _, i := range along {
		before := w.left
		if err := contents(w, i); err != nil {
			return w.fail(err)
		}
		if uint64(before-w.left) != files[i].Size {
			return w.fail(fmt.Errorf("content %s has another size than change %s says", files[i].Content, c.ID.Short()))
		}
	}
	return nil
}

// ChangeSize is how many bytes a change takes on its way, before compression; of contents that go along twice, more.
func ChangeSize(meta, body, unhashed int, files []change.File) int64 {
	size := int64(meta + body + unhashed + 48)
	for i := range files {
		size += int64(files[i].Size)
	}
	return size
}

// Texts gives the contents that came with a change, in the order of its files, each once.
type Texts struct {
	r     *Reader
	files []change.File
	along []int
	at    int
}

// Next gives the ordinal of the next file whose content came along, and a reader of exactly its bytes, to be read to
// its end: whether they have the hash that the change says is for the caller to see. It gives io.EOF after the last.
func (t *Texts) Next() (int, io.Reader, error) {
	if t.at == len(t.along) {
		return 0, nil, io.EOF
	}
	i := t.along[t.at]
	t.at++
	return i, io.LimitReader(readerOnly{t.r}, int64(t.files[i].Size)), nil
}

// change reads a change. Its encoding is canonical and its id is recomputed; what it depends on, its names and its texts are
// for the caller to judge. With known a change is only passed over: Meta is nil then.
func (r *Reader) change(payload []byte, known func(change.ID) bool) (*Change, *Texts, error) {
	f := fields{b: payload}
	c := &Change{ID: f.id()}
	meta, body, unhashed := f.uvarint(), f.uvarint(), f.uvarint()
	size := r.open(&f, 1<<62)
	if err := f.end("the head of a change"); err != nil {
		return nil, nil, r.fail(err)
	}
	if meta > change.MaxMeta || body > change.MaxBody || unhashed > maxUnhashed || meta+body+unhashed > uint64(size) {
		return nil, nil, r.fail(malformed("change %s is larger than one may be", c.ID.Short()))
	}
	if len(r.pack.ids) >= maxChanges {
		return nil, nil, r.fail(malformed("too many changes"))
	}
	r.pack.note(c.ID)
	if known(c.ID) {
		return c, nil, r.skip()
	}
	var err error
	for _, part := range []struct {
		dst  *[]byte
		size uint64
	}{{&c.Meta, meta}, {&c.Body, body}, {&c.Unhashed, unhashed}} {
		if *part.dst, err = r.readN(int64(part.size)); err != nil {
			return nil, nil, err
		}
	}
	if change.Sum(c.Meta, c.Body) != c.ID {
		return nil, nil, r.fail(malformed("change %s has another hash than its name", c.ID.Short()))
	}
	if c.Change, err = change.Decode(c.Meta, c.Body); err != nil {
		return nil, nil, r.fail(fmt.Errorf("%w: change %s: %w", ErrMalformed, c.ID.Short(), err))
	}
	if _, err := sign.DecodePart(c.Unhashed); err != nil {
		return nil, nil, r.fail(fmt.Errorf("%w: signatures of change %s: %w", ErrMalformed, c.ID.Short(), err))
	}
	t, err := r.texts(c, size-int64(meta+body+unhashed))
	return c, t, err
}

func (r *Reader) texts(c *Change, size int64) (*Texts, error) {
	t := &Texts{r: r, files: c.Change.Files}
	n := 0
	for i := range t.files {
		if t.files[i].Size > 0 {
			n++
		}
	}
	present, err := r.readN(int64(n+7) / 8)
	if err != nil {
		return nil, err
	}
	sum, k := uint64(len(present)), 0
	for i := range t.files {
		if t.files[i].Size == 0 {
			continue
		}
		if present[k/8]>>(k%8)&1 != 0 {
			t.along = append(t.along, i)
			sum += t.files[i].Size // 1 TiB each, fewer than 2^23: it does not wrap
		} else if t.files[i].Size < small {
			return nil, r.fail(malformed("a text of change %s did not come along", c.ID.Short()))
		}
		k++
	}
	if n%8 != 0 && present[len(present)-1]>>(n%8) != 0 || sum != uint64(size) {
		return nil, r.fail(malformed("the texts of change %s are not as it says", c.ID.Short()))
	}
	return t, nil
}

// RefKind is what a name stands for.
type RefKind byte

// The kinds of names.
const (
	Bookmark RefKind = 1
	Tag      RefKind = 2
)

func (k RefKind) String() string {
	if k == Tag {
		return "tag"
	}
	return "bookmark"
}

// Update says what a bookmark or a tag is: the log of a state without some changes, and others appended to it.
type Update struct {
	Kind    RefKind
	Name    string
	Old     [32]byte    // of a push: the state that the sender saw there; zero for none
	Base    [32]byte    // the state that it is told by, zero for the empty one
	Removed []change.ID // from that
	Added   []change.ID // to the rest, in the order of the log
	State   [32]byte    // what results
	Force   bool        // of a push: lose what the old one has beyond
}

const forced = 1

// Update sends what a bookmark or tag is. Changes that went along before are named by their places in the stream.
func (w *Writer) Update(u *Update) error {
	head := []byte{byte(u.Kind), 0}
	if u.Force {
		head[1] = forced
	}
	head = appendText(head, u.Name)
	head = append(append(append(head, u.Old[:]...), u.Base[:]...), u.State[:]...)
	data := w.pack.appendIDs(nil, u.Removed)
	data = w.pack.appendIDs(data, u.Added)
	if err := w.item(kindUpdate, head, int64(len(data))); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// appendIDs encodes ids as runs: of changes that follow one another in the stream, or spelled out.
func (p *packed) appendIDs(b []byte, ids []change.ID) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for i := 0; i < len(ids); {
		j := i
		if at, ok := p.index[ids[i]]; ok {
			for j = i + 1; j < len(ids) && int(at)+j-i < len(p.ids) && p.ids[int(at)+j-i] == ids[j]; j++ {
			}
			b = binary.AppendUvarint(b, uint64(j-i)<<1)
			b = binary.AppendUvarint(b, uint64(at))
			i = j
			continue
		}
		for ; j < len(ids); j++ {
			if _, ok := p.index[ids[j]]; ok {
				break
			}
		}
		b = binary.AppendUvarint(b, uint64(j-i)<<1|1)
		for ; i < j; i++ {
			b = append(b, ids[i][:]...)
		}
	}
	return b
}

// takeIDs decodes what appendIDs wrote. Of what it does not write it takes other divisions into runs, which mean the same.
func (p *packed) takeIDs(f *fields) (out []change.ID) {
	total, inRuns := f.uvarint(), uint64(0)
	for uint64(len(out)) < total && !f.bad {
		run := f.uvarint()
		n := run >> 1
		if n == 0 || n > total-uint64(len(out)) {
			f.fail()
			return nil
		}
		if run&1 == 0 {
			at := f.uvarint()
			if n > uint64(len(p.ids)) || at > uint64(len(p.ids))-n {
				f.fail()
				return nil
			}
			// No log names a change twice. Else a few bytes could name the same millions over and over.
			if inRuns += n; inRuns > uint64(len(p.ids)) {
				f.fail()
				return nil
			}
			out = append(out, p.ids[at:at+n]...)
			continue
		}
		b := f.bytes(n * 32)
		for ; len(b) > 0; b = b[32:] {
			out = append(out, change.ID(b[:32]))
		}
	}
	return out
}

func (r *Reader) update(payload []byte) (*Update, error) {
	f := fields{b: payload}
	u := &Update{Kind: RefKind(f.byte())}
	flags := f.byte()
	u.Force = flags&forced != 0
	u.Name = f.text(safepath.MaxBookmark)
	u.Old, u.Base, u.State = f.id(), f.id(), f.id()
	r.open(&f, maxLog)
	if err := f.end("the head of a bookmark"); err != nil {
		return nil, r.fail(err)
	}
	if u.Kind != Bookmark && u.Kind != Tag || flags&^forced != 0 {
		return nil, r.fail(malformed("a name of an unknown kind"))
	}
	if err := safepath.CheckBookmark(u.Name); err != nil {
		return nil, r.fail(fmt.Errorf("%w: a %s: %w", ErrMalformed, u.Kind, err))
	}
	data, err := r.readAll()
	if err != nil {
		return nil, err
	}
	f = fields{b: data}
	u.Removed = r.pack.takeIDs(&f)
	u.Added = r.pack.takeIDs(&f)
	if err := f.end("the log of a bookmark"); err != nil {
		return nil, r.fail(err)
	}
	return u, nil
}

// Preview is what a dry run tells of a change.
type Preview struct {
	ID      change.ID
	Bytes   int64
	Subject string // the first line of its message
}

const maxSubject = 200

// Preview sends what a change would be in place of the change.
func (w *Writer) Preview(p Preview) error {
	b := binary.AppendUvarint(append([]byte(nil), p.ID[:]...), uint64(p.Bytes))
	w.pack.note(p.ID)
	return w.frame(kindPreview, appendText(b, p.Subject[:min(len(p.Subject), maxSubject)]))
}

func (r *Reader) preview(payload []byte) (Preview, error) {
	f := fields{b: payload}
	p := Preview{ID: f.id(), Bytes: int64(f.uvarint() & (1<<62 - 1)), Subject: clean([]byte(f.text(maxSubject)))}
	r.pack.note(p.ID)
	return p, f.end("a preview")
}

// Receiver takes what a pack brings, in its order.
type Receiver struct {
	// Known tells whether a change is there already: it is passed over.
	Known func(change.ID) bool
	// Change takes a change whose id is right. It must read every text.
	Change func(c *Change, t *Texts) error
	Update func(u *Update) error
	// Unknown is told of a bookmark of which the sender did not find what is common.
	Unknown func(ref Ref) error
	Preview func(p Preview) error // of a dry run
	// Signed takes a signature beside the changes; nil: there may be none.
	Signed func(s *Signed) error
	// Total is told how many changes the sender means to send from here on, which is its word and for show only; nil: nobody.
	Total func(changes uint64)
}

// Total sends how many changes follow, for whoever waits for them.
func (w *Writer) Total(changes int) error {
	return w.frame(kindTotal, binary.AppendUvarint(nil, uint64(changes)))
}

// ErrPause is what a Receiver returns after a change to have Pack return it: the next Pack goes on from there.
var ErrPause = errors.New("pause")

// Pack reads changes and updates to the end of the stream.
func (r *Reader) Pack(to Receiver) error {
	for {
		kind, payload, err := r.next()
		if err != nil {
			return err
		}
		switch kind {
		case kindEnd:
			return nil
		case kindChange:
			c, texts, err := r.change(payload, to.Known)
			if err != nil {
				return err
			}
			if texts == nil {
				continue
			}
			err = to.Change(c, texts)
			if err != nil && !errors.Is(err, ErrPause) {
				return r.fail(err)
			}
			if r.left > 0 || len(r.data) > 0 {
				return r.fail(malformed("the texts of change %s were not read", c.ID.Short()))
			}
			if err != nil {
				return err
			}
		case kindUpdate:
			u, err := r.update(payload)
			if err == nil {
				err = to.Update(u)
			}
			if err != nil {
				return r.fail(err)
			}
		case kindUnknown:
			if to.Unknown == nil {
				return r.fail(malformed("a frame of kind %q", kind))
			}
			ref, err := readRef(payload)
			if err == nil {
				err = to.Unknown(ref)
			}
			if err != nil {
				return r.fail(err)
			}
		case kindTotal:
			f := fields{b: payload}
			n := f.uvarint()
			if err := f.end("a number of changes"); err != nil || n > maxChanges {
				return r.fail(malformed("a number of changes"))
			}
			if to.Total != nil {
				to.Total(n)
			}
		case kindPreview:
			if to.Preview == nil {
				return r.fail(malformed("a frame of kind %q", byte(kind)))
			}
			p, err := r.preview(payload)
			if err == nil {
				err = to.Preview(p)
			}
			if err != nil {
				return r.fail(err)
			}
		case kindSigned:
			if to.Signed == nil {
				return r.fail(malformed("a frame of kind %q", byte(kind)))
			}
			s, err := DecodeSigned(payload)
			if err == nil {
				err = to.Signed(&s)
			}
			if err != nil {
				return r.fail(err)
			}
		default:
			return r.fail(malformed("a frame of kind %q", byte(kind)))
		}
	}
}
