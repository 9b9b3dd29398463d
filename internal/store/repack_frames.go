package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"sync"

	"github.com/oxy-vcs/oxy/internal/change"
)

// How much goes into a frame of a base before compression: measured in docs/spec/store.md.
const (
	// packedBlobs bounds the contents of a frame with many. Who reads one decompresses what lies before it, half of that on
	// the mean.
	packedBlobs = 768 << 10
	// packedLarge is from where on contents of one file go on to fill a frame of maxRaw: of a file of 700 KB one version would
	// fill a frame, and the next find nothing that it is like.
	packedLarge = 64 << 10
	// packedRecords is for changes, states and ops, of which one is read for each line of a log.
	packedRecords = 256 << 10
	// packedFront is up to how much of that is what a list of changes shows: it reads one block of zstd of each frame.
	packedFront = blockSize
	// packWorkers bounds the memory: 14 MiB each for the encoder alone.
	packWorkers = 8
)

// packJob is a frame to be made.
type packJob struct {
	records int64
	make    func(out []byte) ([]byte, error)
	out     *[]byte
	err     error
	done    chan struct{}
}

// pack writes all frames. One goroutine says what goes into each, several make them, and this one writes them in order.
func (r *repack) pack(ctx context.Context, what func(*packPlan) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := min(runtime.GOMAXPROCS(0), packWorkers)
	jobs, order := make(chan *packJob, workers), make(chan *packJob, 2*workers)
	plan := &packPlan{repack: r, emit: func(j *packJob) error {
		j.done = make(chan struct{})
		for _, c := range []chan *packJob{order, jobs} {
			select {
			case c <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}}
	var planned error
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel() // before waiting
	group.Go(func() {
		defer close(order)
		defer close(jobs)
		planned = what(plan)
	})
	for range workers {
		group.Go(func() {
			for j := range jobs {
				j.out = frameBuffers.Get().(*[]byte)
				*j.out, j.err = j.make((*j.out)[:0])
				close(j.done)
			}
		})
	}
	total, done := int64(0), int64(0)
	for _, c := range []column{blobsCol, changesCol, statesCol, opsCol} {
		total += int64(r.t.n[c])
	}
	for j := range order {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.err != nil {
			return j.err
		}
		if err := r.w.add(*j.out); err != nil {
			return err
		}
		frameBuffers.Put(j.out)
		if done += j.records; r.opt.Progress != nil {
			r.opt.Progress(done, total)
		}
	}
	return planned // order is closed: the planner is done
}

var frameBuffers = sync.Pool{New: func() any { return new([]byte) }}

// packPlan divides what there is into frames, in the order of the numbers.
type packPlan struct {
	*repack
	emit func(*packJob) error
	kept []bool // which contents stay; nil: all
}

func (p *packPlan) all() error {
	for _, part := range []func() error{p.contents, p.changes, p.states, p.ops} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// asIs reports whether the frame at a place is of a base and so full that packing it again gains nothing.
func (p *packPlan) asIs(at place, least uint32) (frame, bool) {
	l := p.t.log
	if !l.based || at >= l.packed.end {
		return frame{}, false
	}
	f, err := l.frame(at)
	return f, err == nil && f.raw >= least
}

func copyFrame(out []byte, f frame) []byte {
	out, start := beginFrame(out)
	out = append(append(out, f.table...), f.stored...)
	for (len(out)-start)%frameAlign != 0 {
		out = append(out, 0)
	}
	f.put(out[start:])
	return out
}

var errPacked = errors.New("contents do not come out of a frame as they went in")

// appendPacked appends a frame, and reads it back: the original will be gone.
func appendPacked(out []byte, kind frameKind, items int, table, contents []byte) ([]byte, error) {
	out, start := beginFrame(out)
	out = append(out, table...)
	out = endFrameWith(&packedEncoders, out, start, kind, 0, items, contents)
	h, err := parseHeader(out[start:])
	if err != nil {
		return nil, err
	}
	buf := pieces.Get().(*[]byte)
	defer pieces.Put(buf)
	*buf, err = splitFrame(out[start:], h).contents((*buf)[:0])
	if err == nil && !bytes.Equal(*buf, contents) {
		err = errPacked
	}
	return out, err
}

// packBlobs makes a frame of contents, and proves of each that it has its hash.
func (s *Store) packBlobs(out []byte, records []blobRecord) ([]byte, error) {
	buf := pieces.Get().(*[]byte)
	defer pieces.Put(buf)
	raw := (*buf)[:0]
	table := make([]byte, 0, len(records)*blobItem)
	for _, r := range records {
		start := len(raw)
		var err error
		if raw, err = cmp.Or(r.from, s).readPiece(raw, r); err != nil {
			return nil, err
		}
		if hashOf(raw[start:]) != r.hash {
			return nil, s.damaged(r.at, errBlobHash)
		}
		table = binary.LittleEndian.AppendUint32(append(table, r.hash[:]...), uint32(r.size))
	}
	*buf = raw
	return appendPacked(out, kindBlobs, len(records), table, raw)
}

func (p *packPlan) changes() error {
	var g changeGroup
	flush := func() error {
		if len(g.ids) == 0 {
			return nil
		}
		full := g
		g = changeGroup{}
		return p.emit(&packJob{records: int64(len(full.ids)), make: full.pack})
	}
	for n := uint32(0); n < p.t.n[changesCol]; n++ {
		rec, _, ok := p.s.record(changesCol, n)
		if !ok {
			return p.s.missing()
		}
		r := parseChangeRecord(rec)
		f, whole := p.asIs(r.at, packedRecords/2)
		whole = whole && f.kind == kindChanges && n == binary.LittleEndian.Uint32(f.table)
		for i := uint32(0); whole && i < f.items; i++ {
			whole = !p.replaced().changes[n+i]
		}
		if whole {
			if err := flush(); err != nil {
				return err
			}
			if err := p.copy(f, int64(f.items)); err != nil {
				return err
			}
			n += f.items - 1
			continue
		}
		stored, flags, err := p.stored(n, r)
		if err != nil {
			return err
		}
		deps := p.s.Deps(n)
		if err := p.s.Err(); err != nil {
			return err
		}
		size := len(deps)
		for _, f := range stored.fields() {
			size += len(*f)
		}
		if len(g.ids) > 0 && (g.size+size > packedRecords || g.front()+len(stored.Meta) > packedFront) || len(g.ids) == maxPacked {
			if err := flush(); err != nil {
				return err
			}
		}
		g.add(n, &stored, flags, deps, r.time)
		g.size += size
	}
	return flush()
}

// changeGroup gathers changes for a frame.
type changeGroup struct {
	first  uint32
	ids    []change.ID
	items  []byte // encoded
	fields [numFields][]byte
	before int64 // time of the last
	size   int
}

func (g *changeGroup) add(n uint32, rec *Record, flags uint16, deps []uint32, time int64) {
	if len(g.ids) == 0 {
		g.first = n
	}
	g.ids = append(g.ids, rec.ID)
	it := packedItem{time: time, flags: flags, deps: deps}
	for i, f := range rec.fields() {
		it.lengths[i] = uint32(len(*f))
		g.fields[i] = append(g.fields[i], *f...)
	}
	g.items = appendPackedItem(g.items, n, g.before, &it)
	g.before = time
}

// front is how much there is before the bodies and texts.
func (g *changeGroup) front() int { return len(g.items) + len(g.fields[0]) }

func (g *changeGroup) pack(out []byte) ([]byte, error) {
	contents := g.items
	for _, f := range g.fields {
		contents = append(contents, f...)
	}
	return appendPacked(out, kindChanges, len(g.ids), appendChangesTable(nil, g.first, g.ids), contents)
}

func (p *packPlan) states() error {
	var encoded []byte
	items := 0
	flush := func() error {
		if items == 0 {
			return nil
		}
		contents, count := encoded, items
		encoded, items = nil, 0
		return p.emit(&packJob{records: int64(count), make: func(out []byte) ([]byte, error) {
			return appendPacked(out, kindStates, count, nil, contents)
		}})
	}
	for n := uint32(0); n < p.t.n[statesCol]; n++ {
		st, err := p.s.State(n)
		if err != nil {
			return err
		}
		encoded = appendState(encoded, &st)
		if items++; len(encoded) >= stateFrame {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (p *packPlan) ops() error {
	var contents []byte
	var before opTableFields
	first, items := uint32(0), 0
	flush := func() error {
		if items == 0 {
			return nil
		}
		full, count, table := contents, items, binary.LittleEndian.AppendUint32(nil, first)
		contents, items, before = nil, 0, opTableFields{}
		return p.emit(&packJob{records: int64(count), make: func(out []byte) ([]byte, error) {
			return appendPacked(out, kindOps, count, table, full)
		}})
	}
	for n := uint32(0); n < p.t.n[opsCol]; n++ {
		rec, _, ok := p.s.record(opsCol, n)
		if !ok {
			return p.s.missing()
		}
		at := opRecordPlace(rec)
		if f, whole := p.asIs(at, packedRecords/2); whole {
			if err := flush(); err != nil {
				return err
			}
			if err := p.emit(&packJob{records: int64(f.items), make: func(out []byte) ([]byte, error) { return copyFrame(out, f), nil }}); err != nil {
				return err
			}
			n += f.items - 1
			continue
		}
		t, body, err := p.s.op(at, n)
		if err != nil {
			return err
		}
		if items == 0 {
			first = n
		}
		contents = appendPackedOp(contents, &before, &t, &body)
		before = t
		if items++; len(contents) >= packedRecords || items == maxPacked {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
