package sync

import (
	"encoding/binary"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

// Version is the protocol's.
const Version = 1

// Verb is what a request asks for.
type Verb byte

// The verbs.
const (
	List   Verb = 1 // all names
	Fetch  Verb = 2 // names, told by what the asker has
	Ranges Verb = 3 // one step of telling two sets apart
	Take   Verb = 4 // changes by their ids, and a name told by these
	Push   Verb = 5 // takes changes and moves names
	Single Verb = 6 // one change with what it builds on
	Held   Verb = 7 // which of some changes are there, named or not
	Bring  Verb = 8 // contents by their hashes: what was left out of changes before
	// Signatures that came after their changes, and signed checkpoints.
	SignedSets Verb = 9  // one step of telling apart which there are
	TakeSigned Verb = 10 // some of them
	GiveSigned Verb = 11 // takes some
)

// String is the verb as logs and figures name it.
func (v Verb) String() string {
	switch v {
	case List:
		return "list"
	case Fetch:
		return "fetch"
	case Ranges:
		return "ranges"
	case Take:
		return "take"
	case Push:
		return "push"
	case Single:
		return "single"
	case Held:
		return "held"
	case Bring:
		return "bring"
	case SignedSets:
		return "signed"
	case TakeSigned:
		return "take-signed"
	case GiveSigned:
		return "give-signed"
	}
	return "none"
}

// Ref is a name and the state that it stands for.
type Ref struct {
	Kind  RefKind
	Name  string
	State [32]byte
	Len   uint64
}

func appendRef(b []byte, r Ref) []byte {
	b = append(b, byte(r.Kind))
	b = appendText(b, r.Name)
	b = append(b, r.State[:]...)
	return binary.AppendUvarint(b, r.Len)
}

func readRef(payload []byte) (Ref, error) {
	f := fields{b: payload}
	r := Ref{Kind: RefKind(f.byte()), Name: f.text(safepath.MaxBookmark), State: f.id(), Len: f.uvarint()}
	if err := f.end("a name"); err != nil {
		return Ref{}, err
	}
	if r.Kind != Bookmark && r.Kind != Tag || r.Len > maxChanges {
		return Ref{}, malformed("a name of an unknown kind")
	}
	if err := safepath.CheckBookmark(r.Name); err != nil {
		return Ref{}, fmt.Errorf("%w: a %s: %w", ErrMalformed, r.Kind, err)
	}
	return r, nil
}

// Request is what is asked. Which fields count depends on the verb.
type Request struct {
	Verb   Verb
	Wants  []Ref         // Fetch: names; Ranges and Take: one
	Haves  [][32]byte    // Fetch, Single: ids of states
	Ranges []Range       // Ranges, SignedSets
	IDs    []change.ID   // Take: all that the asker's set lacks of the name's; Held, TakeSigned: those asked for
	Lacks  []bool        // Take: of IDs, which the asker lacks altogether and takes
	Prefix string        // Single: hex digits of an id
	Only   []string      // Fetch, Take, Single: directories; contents of what lies elsewhere may be left out. None: no content may
	Depth  uint64        // Fetch, Take: contents that no state shows from so many changes before the end of a log on may be left out. 0: none may
	Hashes []change.Hash // Bring
	DryRun bool          // tell only what would come
	Marked bool          // List: tell of signatures too
	Signed []Signed      // GiveSigned
}

// StateSet is a set of ids of states, as a request has them in a list.
func StateSet(states [][32]byte) map[[32]byte]bool {
	out := make(map[[32]byte]bool, len(states))
	for _, s := range states {
		out[s] = true
	}
	return out
}

// Bounds of a request.
const (
	maxWants = 1 << 20 // names
	maxHaves = 1 << 16
	maxOnly  = 10_000  // directories: as many as a sparse working copy has
	maxBring = 1 << 16 // contents at a time
)

// MaxBring is how many contents a request may ask for.
const MaxBring = maxBring

// Flags of a request. An oxy that does not know of the second takes each for the first, which means nothing to a list.
const (
	flagDry    = 1
	flagMarked = 2
)

// Request sends a request; a push goes on with a pack.
func (w *Writer) Request(q *Request) error {
	b := binary.AppendUvarint(nil, Version)
	flags := byte(0)
	if q.DryRun {
		flags |= flagDry
	}
	if q.Marked {
		flags |= flagMarked
	}
	b = append(b, byte(q.Verb), flags)
	b = appendText(b, q.Prefix)
	if err := w.frame(kindRequest, b); err != nil {
		return err
	}
	for _, ref := range q.Wants {
		if err := w.frame(kindWant, appendRef(nil, ref)); err != nil {
			return err
		}
	}
	const atOnce = 1024
	for haves := q.Haves; len(haves) > 0; haves = haves[min(len(haves), atOnce):] {
		var b []byte
		for _, h := range haves[:min(len(haves), atOnce)] {
			b = append(b, h[:]...)
		}
		if err := w.frame(kindHave, b); err != nil {
			return err
		}
	}
	for _, dir := range q.Only {
		if err := w.frame(kindOnly, appendText(nil, dir)); err != nil {
			return err
		}
	}
	if q.Depth > 0 {
		if err := w.frame(kindDepth, binary.AppendUvarint(nil, q.Depth)); err != nil {
			return err
		}
	}
	for hashes := q.Hashes; len(hashes) > 0; hashes = hashes[min(len(hashes), atOnce):] {
		var b []byte
		for _, h := range hashes[:min(len(hashes), atOnce)] {
			b = append(b, h[:]...)
		}
		if err := w.frame(kindHash, b); err != nil {
			return err
		}
	}
	if q.Verb == Ranges || q.Verb == SignedSets {
		if err := w.Ranges(q.Ranges); err != nil {
			return err
		}
	}
	for i := range q.Signed {
		if err := w.Signed(&q.Signed[i]); err != nil {
			return err
		}
	}
	if q.Verb != Take && q.Verb != Held && q.Verb != TakeSigned {
		return nil
	}
	data := binary.AppendUvarint(nil, uint64(len(q.IDs)))
	for i, id := range q.IDs {
		lacks := byte(0)
		if q.Verb == Take && q.Lacks[i] {
			lacks = 1
		}
		data = append(append(data, id[:]...), lacks)
	}
	if err := w.item(kindIDs, nil, int64(len(data))); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// Request reads a request: to its end, but of a push, whose pack follows.
func (r *Reader) Request() (*Request, error) {
	kind, payload, err := r.next()
	if err != nil {
		return nil, err
	}
	if kind != kindRequest {
		return nil, r.fail(malformed("it begins with %q", byte(kind)))
	}
	f := fields{b: payload}
	version := f.uvarint()
	q := &Request{Verb: Verb(f.byte())}
	if version != Version && !f.bad {
		return nil, r.fail(fmt.Errorf("the other side speaks version %d of the protocol, this one %d: one of them needs a newer oxy", version, Version))
	}
	flags := f.byte()
	q.DryRun, q.Marked = flags&flagDry != 0, flags&flagMarked != 0
	q.Prefix = f.text(64)
	if err := f.end("a request"); err != nil {
		return nil, r.fail(err)
	}
	if r.verb = q.Verb; q.Verb == Push {
		return q, nil
	}
	var signed Gathered
	err = r.toEnd(func(kind frameKind, payload []byte) error {
		if kind == kindSigned {
			return signed.take(payload)
		}
		return r.requestPart(q, kind, payload)
	})
	if err != nil {
		return nil, err
	}
	q.Signed = signed.List
	return q, nil
}

// toEnd gives all frames before the end to take.
func (r *Reader) toEnd(take func(kind frameKind, payload []byte) error) error {
	for {
		kind, payload, err := r.next()
		if err != nil || kind == kindEnd {
			return err
		}
		if err := take(kind, payload); err != nil {
			return r.fail(err)
		}
	}
}

func (r *Reader) requestPart(q *Request, kind frameKind, payload []byte) error {
	switch kind {
	case kindWant:
		ref, err := readRef(payload)
		if q.Wants = append(q.Wants, ref); len(q.Wants) > maxWants {
			return malformed("too many names")
		}
		return err
	case kindHave:
		f := fields{b: payload}
		for len(f.b) > 0 {
			q.Haves = append(q.Haves, f.id())
		}
		if len(q.Haves) > maxHaves {
			return malformed("too many states")
		}
		return f.end("a list of states")
	case kindOnly:
		f := fields{b: payload}
		q.Only = append(q.Only, f.text(safepath.MaxPath))
		if len(q.Only) > maxOnly {
			return malformed("too many directories")
		}
		return f.end("a directory")
	case kindDepth:
		f := fields{b: payload}
		if q.Depth = f.uvarint(); q.Depth == 0 {
			f.bad = true
		}
		return f.end("a depth")
	case kindHash:
		f := fields{b: payload}
		for len(f.b) > 0 {
			q.Hashes = append(q.Hashes, f.id())
		}
		if len(q.Hashes) > maxBring {
			return malformed("too many contents")
		}
		return f.end("a list of contents")
	case kindRanges:
		var err error
		q.Ranges, err = r.ranges(payload)
		return err
	case kindIDs:
		f := fields{b: payload}
		r.open(&f, maxLog)
		if err := f.end("a list of ids"); err != nil {
			return err
		}
		data, err := r.readAll()
		if err != nil {
			return err
		}
		f = fields{b: data}
		n := f.uvarint()
		if n > uint64(len(f.b))/33 {
			return malformed("a list of ids")
		}
		for range n {
			q.IDs = append(q.IDs, f.id())
			q.Lacks = append(q.Lacks, f.byte() != 0)
		}
		return f.end("a list of ids")
	}
	return malformed("a frame of kind %q", byte(kind))
}

// Reply begins a reply; what follows depends on the request.
func (w *Writer) Reply() error { return w.frame(kindReply, binary.AppendUvarint(nil, Version)) }

// Refuse tells the other side that what it asked cannot be done, wherever in the stream.
func (w *Writer) Refuse(text string) error {
	w.left, w.err, w.data = 0, nil, nil
	return w.frame(kindError, []byte(text[:min(len(text), maxText)]))
}

// Reply reads the beginning of a reply.
func (r *Reader) Reply() error {
	kind, payload, err := r.next()
	if err != nil {
		return err
	}
	f := fields{b: payload}
	if version := f.uvarint(); kind != kindReply || version != Version {
		return r.fail(malformed("it is no reply of this protocol"))
	}
	if err := f.end("a reply"); err != nil {
		return r.fail(err)
	}
	return nil
}

// End reads the end of a stream.
func (r *Reader) End() error {
	kind, _, err := r.next()
	if err == nil && kind != kindEnd {
		err = r.fail(malformed("a frame of kind %q in place of the end", byte(kind)))
	}
	return err
}

// Ref sends a name, of a list.
func (w *Writer) Ref(ref Ref) error { return w.frame(kindRef, appendRef(nil, ref)) }

// Unknown sends that nothing is known to be common with a name's state.
func (w *Writer) Unknown(ref Ref) error { return w.frame(kindUnknown, appendRef(nil, ref)) }

// Refs reads names to the end of the stream.
func (r *Reader) Refs() ([]Ref, error) {
	l, err := r.Listing()
	return l.Refs, err
}

// Answer is what became of an update that was pushed.
type Answer struct {
	Done bool
	Pull bool   // the name has what the push does not know: pull first
	Text string // what to tell a person where it was not done
}

// Answer sends what became of an update.
func (w *Writer) Answer(a Answer) error {
	b := []byte{0}
	if a.Done {
		b[0] |= 1
	}
	if a.Pull {
		b[0] |= 2
	}
	return w.frame(kindAnswer, appendText(b, a.Text[:min(len(a.Text), maxText)]))
}

// Answers reads them to the end of the stream.
func (r *Reader) Answers() ([]Answer, error) {
	var out []Answer
	err := r.toEnd(func(kind frameKind, payload []byte) error {
		f := fields{b: payload}
		flags := f.byte()
		a := Answer{Done: flags&1 != 0, Pull: flags&2 != 0, Text: clean([]byte(f.text(maxText)))}
		if err := f.end("an answer"); err != nil || kind != kindAnswer || len(out) >= maxWants {
			return malformed("an answer cannot be read")
		}
		out = append(out, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Marks sends a bit for each of the ids that were asked for.
func (w *Writer) Marks(marks []bool) error {
	b := make([]byte, (len(marks)+7)/8)
	for i, m := range marks {
		if m {
			b[i/8] |= 1 << (i % 8)
		}
	}
	if err := w.item(kindMarks, nil, int64(len(b))); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// Marks reads the bits for n ids, to the end of the stream.
func (r *Reader) Marks(n int) ([]bool, error) {
	kind, payload, err := r.next()
	if err != nil {
		return nil, err
	}
	f := fields{b: payload}
	size := r.open(&f, int64(n+7)/8)
	if err := f.end("marks"); err != nil || kind != kindMarks || size != int64(n+7)/8 {
		return nil, r.fail(malformed("marks of other ids than those that were asked for"))
	}
	b, err := r.readAll()
	if err != nil {
		return nil, err
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = b[i/8]>>(i%8)&1 != 0
	}
	if n%8 != 0 && b[len(b)-1]>>(n%8) != 0 {
		return nil, r.fail(malformed("marks of no id"))
	}
	return out, r.End()
}

// signedBundle is the version of a bundle that has signatures beside its changes.
const signedBundle = 2

// Bundle begins a bundle, which may have signatures beside its changes or may not: an oxy that knows nothing of such reads the latter.
func (w *Writer) Bundle(signed bool) error {
	version := uint64(Version)
	if signed {
		version = signedBundle
	}
	return w.frame(kindBundle, binary.AppendUvarint(nil, version))
}

// Bundle reads the beginning of a bundle.
func (r *Reader) Bundle() error {
	kind, payload, err := r.next()
	if err != nil {
		return err
	}
	f := fields{b: payload}
	version := f.uvarint()
	if err := f.end("a bundle"); err != nil || kind != kindBundle {
		return r.fail(malformed("it is no bundle"))
	}
	if version != Version && version != signedBundle {
		return r.fail(fmt.Errorf("the bundle has version %d, this oxy reads %d", version, signedBundle))
	}
	return nil
}
