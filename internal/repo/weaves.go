package repo

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// A file's weave is stored as a snapshot and the records since, each a block that names the one before
// (docs/spec/weave.md). The chain is cut by a new snapshot when it is both long and heavy beside the last one, so
// that reading stays bounded and writing stays in proportion to what changed.
const (
	blockDelta    = 1
	blockSnapshot = 2
	blockBeside   = 6 // see weavepack.go for those between

	chainMin   = 16  // records before weight counts: reading so many costs less than a frame's decompression
	chainMax   = 256 // records at most, whatever their weight
	chainShare = 4   // a chain may weigh a quarter of its snapshot beyond chainMin records

	plainShare = 4 // what a text weighs that is not compressed is about so many times what it would weigh

	// A snapshot carries the shown text itself when it would else be gathered from more than this many changes.
	maxSources = 16
)

// loaded is a file's weave in memory and how its blocks lie.
type loaded struct {
	w      *weave.Weave
	ref    state.Ref // of the last block, 0 for none
	length int       // records since the snapshot
	weight int       // their bytes
	base   int       // bytes of the snapshot
	// text is what showed at the snapshot, when it was kept there; from is the weave of then, w itself while no
	// record followed.
	text []byte
	from *weave.Weave
	// Of a union: what showed on the other side, and the weave there; nil for not at hand.
	otherText []byte
	other     *weave.Weave
	// shown is what shows now, where that is at hand.
	shown []byte
	lent  bool // w is others' too, and copied before it is changed
}

var errWeaveBlock = errors.New("damaged weave block")

// loadWeave reads a file's weave. A file that nobody edited since it was added has no blocks.
func (r *Repo) loadWeave(e *state.Entry) (*loaded, error) {
	if l := r.kept.take(e); l != nil {
		return l, nil
	}
	if e.Weave == 0 {
		src := weave.Source{Change: e.File.Change, Ord: e.File.Ord}
		if e.Kind == change.Text { // else it was born as something else, and its text is empty
			src.Size, src.Hash = uint32(e.Size), e.Hash
		}
		return &loaded{w: weave.New(src)}, nil
	}
	blocks, err := r.openBlocks()
	if err != nil {
		return nil, err
	}
	chain, from, err := chainOf(blocks.GetWeave, e.Weave, r.kept.earlier(e))
	if err != nil {
		return nil, err
	}
	l, err := build(from, chain, r.unzip)
	if err != nil {
		return nil, err
	}
	l.ref = e.Weave
	r.kept.read(e, l)
	return l, nil
}

// chainOf gives the blocks of a weave, the latest first, down to a snapshot or the first, or to a version that is known, which it gives too.
func chainOf(get func(state.Ref) (state.Ref, []byte, error), ref state.Ref, known func(state.Ref) *loaded) (chain [][]byte, from *loaded, err error) {
	for {
		prev, payload, err := get(ref)
		if err != nil {
			return nil, nil, err
		}
		list, err := blocksIn(payload)
		if err != nil {
			return nil, nil, err
		}
		for _, b := range slices.Backward(list) {
			if chain = append(chain, b); isSnapshot(b) {
				return chain, nil, nil
			}
		}
		if prev == 0 {
			return chain, nil, nil
		}
		if from = known(prev); from != nil {
			return chain, from, nil
		}
		if ref = prev; len(chain) > 2*chainMax { // each record may have a text behind it
			return nil, nil, errWeaveBlock
		}
	}
}

// unknown is for whoever knows no version of a weave.
func unknown(state.Ref) *loaded { return nil }

func isSnapshot(b []byte) bool { return b[0] == blockSnapshot || b[0] == blockPlain }

// build makes a weave of its chain, upon an earlier version if there is one.
func build(from *loaded, chain [][]byte, unzip unzipper) (*loaded, error) {
	l := &loaded{}
	if from != nil {
		l = from.before()
	}
	latest := slices.IndexFunc(chain, func(b []byte) bool { return b[0] == blockShown }) // those before it are of no use
	var records []weave.Patch
	for i, b := range slices.Backward(chain) {
		var err error
		switch {
		case isSnapshot(b) && l.w == nil:
			err = l.snapshot(b, unzip)
		case b[0] == blockShown && l.w != nil:
			if i != latest {
				break
			}
			if err = l.applyAll(records); err == nil {
				records, err = nil, l.showing(b[1:])
			}
		case b[0] == blockDelta, b[0] == blockBeside:
			var p weave.Patch
			if p, err = l.record(b); err == nil {
				records = append(records, p)
			}
		default:
			err = errWeaveBlock
		}
		if err != nil {
			return nil, weaveBlock(err)
		}
	}
	if err := l.applyAll(records); err != nil {
		return nil, weaveBlock(err)
	}
	return l, nil
}

// record reads a record. The first of a file tells what it was added as.
func (l *loaded) record(b []byte) (p weave.Patch, err error) {
	d := blockReader{b: b[1:]}
	p.Source = d.source()
	if l.w == nil {
		l.w = weave.New(d.source())
	}
	if d.bad {
		return p, errWeaveBlock
	}
	p.Hunks, _, err = change.DecodeLocalHunks(d.b)
	l.weight += len(b)
	return p, err
}

// applyAll adds records to the weave in memory.
func (l *loaded) applyAll(records []weave.Patch) error {
	if len(records) == 0 {
		return nil
	}
	l.changes()
	l.length += len(records) - 1
	return l.w.ApplyAll(records)
}

// showing takes the text that shows at this point of the chain.
func (l *loaded) showing(text []byte) error {
	if uint64(len(text)) != l.w.Size() {
		return errWeaveBlock
	}
	l.text, l.from = bytes.Clone(text), l.w // the block may be mapped for less long
	return nil
}

// weaveBlock says that a fault lies in what is stored of a weave, which is derived: it was damaged, or another oxy wrote it
// in a form of its own. It is made again from changes.
func weaveBlock(err error) error { return fmt.Errorf("%w: %w", errWeaveBlock, err) }

// apply adds a record to the weave in memory.
func (l *loaded) apply(src weave.Source, hunks []change.Hunk) error {
	l.changes()
	return l.w.Apply(src, hunks)
}

// changes says that a record comes.
func (l *loaded) changes() {
	l.own() // then from is what it was a copy of
	if l.from == l.w {
		l.from = l.w.Clone()
	}
	l.shown = nil
	l.length++
}

// before is a version, to be built on: what it shows is where later ones find the lines that stay.
func (l *loaded) before() *loaded {
	c := *l
	c.lent, c.shown = true, nil
	if l.shown != nil {
		c.text, c.from = l.shown, l.w
	}
	return &c
}

// own makes the weave one's own.
func (l *loaded) own() {
	if l.lent {
		l.w, l.lent = l.w.Clone(), false
	}
}

// applyShown is apply that has what shows at hand afterwards too, where it was before.
func (r *Repo) applyShown(l *loaded, src weave.Source, hunks []change.Hunk) error {
	before := l.shown
	if before == nil {
		return l.apply(src, hunks)
	}
	inserted, err := r.text(nil, src.Change, src.Ord, src.Hash)
	if err != nil {
		return err
	}
	if l.from == l.w {
		l.text, l.from = nil, nil // what shows now is made from what showed before
	}
	l.own()
	l.shown = nil
	l.length++
	edits, known, err := l.w.ApplyShown(src, hunks)
	if err != nil || !known {
		return err
	}
	if n := len(edits); uint32(len(inserted)) != src.Size || n > 0 && edits[n-1].A1 > len(before) {
		return errWeaveBlock
	}
	l.shown = weave.Patched(make([]byte, 0, 1), before, inserted, edits)
	return nil
}

// snapshot reads a snapshot: the weave's length, the weave, and perhaps a text, compressed unless the kind is blockPlain.
func (l *loaded) snapshot(b []byte, unzip unzipper) error {
	l.base = len(b)
	plain := b[0] == blockPlain
	b = b[1:]
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return errWeaveBlock
	}
	b = b[k:]
	var err error
	if l.w, err = weave.Decode(b[:n]); err != nil {
		return err
	}
	if b = b[n:]; len(b) == 0 {
		return nil
	}
	if plain {
		l.base = int(n) + len(b)/plainShare
		return l.showing(b)
	}
	dec, err := unzip()
	if err != nil {
		return err
	}
	size := l.w.Size()
	if size > change.MaxText {
		return errWeaveBlock
	}
	if l.text, err = dec.DecodeAll(b, make([]byte, 0, size)); err != nil || uint64(len(l.text)) != size {
		return errWeaveBlock
	}
	l.from = l.w
	return nil
}

// extend stores the record of src's hunks, the last that was applied to l, and gives the ref of the file's new last block.
// text gives the text that shows, when it is asked for.
func (r *Repo) extend(l *loaded, src weave.Source, hunks []change.Hunk, text func() ([]byte, error)) (state.Ref, error) {
	first := l.w.Sources[0] // says where the text of a file without blocks lies
	payload := appendSource([]byte{blockDelta}, src)
	if l.ref == 0 {
		payload = appendSource(payload, first)
	}
	payload = change.AppendLocalHunks(payload, hunks)
	l.weight += len(payload)
	if l.length > chainMin && (l.weight > l.base/chainShare || l.length >= chainMax) {
		return r.putSnapshot(l, text)
	}
	var err error
	l.ref, err = r.blocks.PutWeave(l.ref, payload)
	return l.ref, err
}

// extendBeside stores what was added to a weave beside what is there, and gives the ref of the file's new last block. before is the weave of
// before, l that of now.
func (r *Repo) extendBeside(before, l *loaded, added []weave.Patch, text func() ([]byte, error)) (state.Ref, error) {
	l.ref, l.length, l.weight, l.base = before.ref, before.length, before.weight, before.base
	first := before.w.Sources[0]
	var payloads [][]byte
	ref := before.ref
	for i := range added {
		payload := appendSource([]byte{blockBeside}, added[i].Source)
		if ref == 0 && i == 0 {
			payload = appendSource(payload, first)
		}
		payload = change.AppendLocalHunks(payload, added[i].Hunks)
		l.length++
		l.weight += len(payload)
		payloads = append(payloads, payload)
	}
	if l.length > chainMin && (l.weight > l.base/chainShare || l.length >= chainMax) {
		return r.putSnapshot(l, text)
	}
	for _, payload := range payloads {
		var err error
		if l.ref, err = r.blocks.PutWeave(l.ref, payload); err != nil {
			return 0, err
		}
	}
	return l.ref, nil
}

// putSnapshot stores the whole weave.
func (r *Repo) putSnapshot(l *loaded, text func() ([]byte, error)) (state.Ref, error) {
	enc := l.w.Encode(nil)
	payload := binary.AppendUvarint([]byte{blockSnapshot}, uint64(len(enc)))
	payload = append(payload, enc...)
	if shownSources(l.w) > maxSources && len(l.w.Open()) == 0 {
		t, err := text()
		if err != nil {
			return 0, err
		}
		if len(t) > 0 {
			z, err := r.zip()
			if err != nil {
				return 0, err
			}
			payload = z.EncodeAll(t, payload)
			l.text, l.from = t, l.w
		}
	}
	l.length, l.weight, l.base = 0, 0, len(payload)
	var err error
	l.ref, err = r.blocks.PutWeave(0, payload)
	return l.ref, err
}

// zip and unzip compress the texts of snapshots. Each is made once: it clears a MiB of tables, more than most texts take.
func (r *Repo) zip() (z *zstd.Encoder, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.zipper == nil {
		r.zipper, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true))
	}
	return r.zipper, err
}

// unzipper gives what texts of snapshots are decompressed with.
type unzipper func() (*zstd.Decoder, error)

func newUnzip() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(change.MaxText+1))
}

func (r *Repo) unzip() (d *zstd.Decoder, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unzipper == nil {
		r.unzipper, err = newUnzip()
	}
	return r.unzipper, err
}

// shownSources counts the changes whose text shows.
func shownSources(w *weave.Weave) int {
	seen := map[uint32]bool{}
	for i := range w.Runs {
		if w.Runs[i].Shown() {
			seen[w.Runs[i].Change] = true
		}
	}
	return len(seen)
}

// render appends the lines that show, without conflicts.
func (r *Repo) render(dst []byte, l *loaded) ([]byte, error) {
	if l.shown != nil {
		return append(dst, l.shown...), nil
	}
	if l.text != nil && l.from == l.w {
		return append(dst, l.text...), nil
	}
	dst = slices.Grow(dst, int(min(l.w.Size(), change.MaxText)))
	t := texts{r: r, l: l}
	old, other := walk{text: l.text}, walk{text: l.otherText}
	if l.from != nil {
		old.runs = l.from.Runs
	}
	if l.other != nil {
		other.runs = l.other.Runs
	}
	var missing lackings
	for i := range l.w.Runs {
		run := &l.w.Runs[i]
		b, found := old.take(run)
		if o, there := other.take(run); there && !found {
			b, found = o, true
		}
		if !run.Shown() {
			continue
		}
		if !found {
			var err error
			if b, err = t.run(run); missing.took(err) {
				continue
			} else if err != nil {
				return dst, err
			}
		}
		dst = append(dst, b...)
	}
	return dst, missing.err()
}

// walk goes through what an earlier weave showed beside a later one, which has the same runs in the same order, cut otherwise, and
// others between.
type walk struct {
	runs []weave.Run
	text []byte
	i    int
	off  uint32 // what was taken of run i
	at   int    // where in the text the rest of run i is, if it showed
}

// take moves over a run of the later weave, and gives what it holds, if it showed in the earlier one.
func (k *walk) take(run *weave.Run) (b []byte, found bool) {
	found = true
	from := k.at
	for n := uint32(0); n < run.Len; {
		if k.i == len(k.runs) {
			return nil, false
		}
		old := &k.runs[k.i]
		if old.Change != run.Change || old.Off+k.off != run.Off+n {
			return nil, false
		}
		part := min(run.Len-n, old.Len-k.off)
		if old.Shown() {
			k.at += int(part)
		} else {
			found = false
		}
		n += part
		if k.off += part; k.off == old.Len {
			k.i, k.off = k.i+1, 0
		}
	}
	if !found || k.at > len(k.text) {
		return nil, false
	}
	return k.text[from:k.at], true
}

// texts gives the text of runs of one weave, each change's read once.
type texts struct {
	r     *Repo
	l     *loaded
	kept  map[weave.Source][]byte
	last  uint32
	text  []byte // of last
	shown [2]shownRuns
}

// run gives the text of a run, dead ones too. The slice must not be changed.
func (t *texts) run(run *weave.Run) ([]byte, error) {
	for i, was := range [2]shownRuns{{w: t.l.from, text: t.l.text}, {w: t.l.other, text: t.l.otherText}} {
		if was.w == nil {
			continue
		}
		if _, ok := was.w.Source(run.Change); !ok { // what came later need not be looked for
			continue
		}
		if t.shown[i].w == nil {
			was.find()
			t.shown[i] = was
		}
		if b, ok := t.shown[i].run(run); ok {
			return b, nil
		}
	}
	if t.text == nil || t.last != run.Change {
		src, ok := t.l.w.Source(run.Change)
		if !ok {
			return nil, errWeaveBlock
		}
		b, ok := t.kept[src]
		if !ok {
			var err error
			if b, err = t.r.text(nil, src.Change, src.Ord, src.Hash); err != nil {
				return nil, err
			}
			if t.kept == nil {
				t.kept = map[weave.Source][]byte{}
			}
			t.kept[src] = b
		}
		t.last, t.text = run.Change, b
	}
	if uint64(run.Off)+uint64(run.Len) > uint64(len(t.text)) {
		return nil, fmt.Errorf("%w: text of change %d is %d bytes, a run ends at %d", errWeaveBlock, run.Change, len(t.text), run.Off+run.Len)
	}
	return t.text[run.Off : run.Off+run.Len], nil
}

// shownRuns is what an earlier weave showed, by change and offset.
type shownRuns struct {
	w    *weave.Weave
	text []byte
	runs []shownRun
}

func (s *shownRuns) find() {
	at := uint32(0)
	for i := range s.w.Runs {
		if f := &s.w.Runs[i]; f.Shown() {
			s.runs = append(s.runs, shownRun{f.Change, f.Off, f.Len, at})
			at += f.Len
		}
	}
	slices.SortFunc(s.runs, func(a, b shownRun) int { return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.off, b.off)) })
}

// run finds a run: they are only ever cut smaller since.
func (s *shownRuns) run(run *weave.Run) ([]byte, bool) {
	i, found := slices.BinarySearchFunc(s.runs, run, func(s shownRun, run *weave.Run) int {
		return cmp.Or(cmp.Compare(s.change, run.Change), cmp.Compare(s.off, run.Off))
	})
	if !found {
		i-- // the one that begins before it
	}
	if i < 0 {
		return nil, false
	}
	r := &s.runs[i]
	if r.change != run.Change || run.Off+run.Len > r.off+r.len {
		return nil, false
	}
	from := r.at + run.Off - r.off
	return s.text[from : from+run.Len], true
}

// shownRun is a run that showed, and where in the text.
type shownRun struct{ change, off, len, at uint32 }

// sourceHash is the lowest bit beside a source's ordinal: a hash says where its text lies.
const sourceHash = 1

func appendSource(b []byte, s weave.Source) []byte {
	b = binary.AppendUvarint(b, uint64(s.Change))
	if s.Hash == (change.Hash{}) { // with the change itself
		b = binary.AppendUvarint(b, uint64(s.Ord)<<1)
		return binary.AppendUvarint(b, uint64(s.Size))
	}
	b = binary.AppendUvarint(b, uint64(s.Ord)<<1|sourceHash)
	b = binary.AppendUvarint(b, uint64(s.Size))
	return append(b, s.Hash[:]...)
}

type blockReader struct {
	b   []byte
	bad bool
}

func (d *blockReader) number(most uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > most {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *blockReader) source() (s weave.Source) {
	s.Change = uint32(d.number(math.MaxUint32))
	ord := d.number(math.MaxUint32<<1 | sourceHash)
	s.Ord, s.Size = uint32(ord>>1), uint32(d.number(math.MaxUint32))
	if ord&sourceHash == 0 {
		return s
	}
	if len(d.b) < len(s.Hash) {
		d.bad = true
		return s
	}
	d.b = d.b[copy(s.Hash[:], d.b):]
	return s
}
