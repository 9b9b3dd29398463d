package store

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Commit writes op and makes all that was put durable: once it returns nil it is acknowledged. op.View is the view from
// now on, which nobody may alter any more, or nil for the one before. It returns the number of the operation and ends the transaction, whatever comes.
//
// After the log is durable publish is called, if any, to write what the caller derives; what it returns is what Hint
// gives until the next operation. Its error is no error of Commit, since what is derived can be derived again: then
// there is no hint.
func (tx *Tx) Commit(op Op, publish func() (hint []byte, err error)) (uint32, error) {
	if err := tx.usable(); err != nil {
		return 0, errors.Join(fmt.Errorf("commit: %w", err), tx.Abort())
	}
	view, err := tx.finish(&op)
	if err == nil {
		err = tx.sync()
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("commit: %w", err), tx.Abort())
	}
	t := tx.acknowledge(view)
	var hint []byte
	if publish != nil {
		if hint, err = publish(); err != nil || len(hint) > maxHint {
			hint = nil
		}
	}
	// What could not be released is the next writer's trouble to report: this operation is done.
	_ = tx.end(func() error { tx.s.derive(t, tx.t.n, hint); return nil })
	return op.N, nil
}

// finish writes all frames, the op's last.
func (tx *Tx) finish(op *Op) (*View, error) {
	old, err := tx.s.View()
	if err != nil {
		return nil, err
	}
	view := op.View
	if view == nil {
		view = old
	}
	for i, n := range view.Checkpoints {
		if i > 0 && n <= view.Checkpoints[i-1] {
			return nil, fmt.Errorf("checkpoints are not ascending: %d", n)
		}
	}
	encoded, kind, chain, err := tx.encodeView(old, view)
	if err != nil {
		return nil, err
	}
	for _, p := range tx.packers {
		if err := p.Flush(); err != nil {
			return nil, err
		}
	}
	op.cut()
	op.N = tx.t.n[opsCol]
	body := opBody{user: op.User, command: op.Command, view: encoded, states: tx.waiting}
	table := opTableFields{number: op.N, view: kind, prev: tx.t.op, time: op.Time, n: tx.batch.n, chain: chain}
	table.n[opsCol]++
	table.n[statesCol] = tx.states
	p, off := tx.own, 0
	p.out, off = beginFrame(p.out)
	p.out = table.append(p.out)
	p.out = endFrame(p.out, off, kindOp, 0, len(tx.stateOff), body.append(nil))
	p.refs = append(p.refs, frameRef{off: off, kind: kindOp})
	return view, p.place()
}

// viewInline is the longest encoded view that lies in an op's frame. Longer ones are contents, of which those over a
// megabyte share their chunks with the snapshot before.
const viewInline = 64 << 10

// encodeView tells view in full, or as what differs from an op back in the chain. Ops of a chain are numbered by depth,
// and each is a difference to the one whose depth is its own without the lowest bit, so that a view is read in as many
// steps as the depth has bits. When single differences outweigh the full view a new chain begins.
func (tx *Tx) encodeView(old, view *View) (encoded []byte, kind viewKind, c chain, err error) {
	var delta []viewEntry
	single := uint64(0)
	diffViews(old, view, func(e viewEntry) {
		delta = append(delta, e)
		single += uint64(e.size())
		if err == nil {
			err = e.check(tx.states)
		}
	})
	if err != nil {
		return nil, 0, c, err
	}
	links, err := tx.s.viewChain(tx.t.op, tx.t.n[opsCol], false)
	if err != nil {
		return nil, 0, c, err
	}
	if len(links) > 0 {
		top := links[0].chain
		c = chain{base: tx.t.op, depth: top.depth + 1, weight: uint32(min(uint64(top.weight)+single, math.MaxUint32)), full: top.full}
	}
	// A view whose full size was large does not become small by a few differences, so it need not be measured.
	if len(links) == 0 || c.weight > c.full || c.full <= 2*viewAlways && view.size() <= viewAlways {
		if size := view.size(); size > maxView {
			return nil, 0, c, fmt.Errorf("a view of %d bytes", size)
		}
		delta = delta[:0]
		diffViews(NewView(), view, func(e viewEntry) { delta = append(delta, e) })
		encoded, kind = encodeEntries(delta), viewFull
		c = chain{full: uint32(len(encoded))}
	} else {
		target := lowestCleared(c.depth)
		if encoded, err = tx.mergeDeltas(links, target, delta); err != nil {
			return nil, 0, c, err
		}
		c.base = baseAt(links, target)
	}
	if len(encoded) <= viewInline {
		return encoded, kind, c, nil
	}
	h := hashOf(encoded)
	tx.ownMu.Lock()
	defer tx.ownMu.Unlock()
	return h[:], kind | viewBlob, c, tx.own.Put(h, encoded)
}

// baseAt returns the op of that depth in a chain. It is there: the depths of a chain's links are what is left of the
// first when its lowest bits are cleared one by one, and so is the depth that the next op refers to.
func baseAt(links []viewLink, depth uint32) place {
	for _, l := range links {
		if l.chain.depth == depth {
			return l.at
		}
	}
	return 0
}

// mergeDeltas encodes the difference from the link of that depth to what delta makes of the first link.
func (tx *Tx) mergeDeltas(links []viewLink, depth uint32, delta []viewEntry) ([]byte, error) {
	if len(links) > 0 && links[0].chain.depth == depth {
		return encodeEntries(delta), nil
	}
	type key struct {
		class class
		key   string
	}
	latest := map[key]viewEntry{}
	take := func(e viewEntry) {
		k := key{e.class, e.key}
		if _, later := latest[k]; !later {
			latest[k] = e
		}
	}
	for _, e := range delta {
		take(e)
	}
	for _, l := range links { // from the latest
		if l.chain.depth == depth {
			break
		}
		if err := decodeEntries(l.view, take); err != nil {
			return nil, tx.s.damaged(l.at, err)
		}
	}
	merged := make([]viewEntry, 0, len(latest))
	for _, e := range latest {
		merged = append(merged, e)
	}
	return encodeEntries(merged), nil
}

// sync makes the frames durable. It is the only wait for the disk in a transaction that fits into a segment.
func (tx *Tx) sync() error {
	if err := tx.early.wait(); err != nil {
		return err
	}
	for _, f := range append(tx.older, tx.file) {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// acknowledge shows what was committed.
func (tx *Tx) acknowledge(view *View) *tables {
	s := tx.s
	s.mu.Lock()
	defer s.mu.Unlock()
	tx.mu.Lock()
	tx.batch.end = tx.at
	tx.mu.Unlock()
	t := s.now.Load().clone() // not tx.t: a repair may have made it anew
	t.add(&tx.batch)
	s.view.Store(&cachedView{t.op, t.n[opsCol], view})
	s.show(t)
	return t
}

// derive writes the head and the indexes, without a sync. Whatever fails here is found and mended by whoever needs it.
// The caller holds mu.
func (s *Store) derive(t *tables, before counts, hint []byte) {
	h := head{op: t.op, end: t.end, n: t.n, hint: hint}
	next := s.now.Load().clone()
	if err := vfs.WriteFileAtomic(s.fsys, filepath.Join(s.dir, headName), h.encode(t.logID), false); err == nil {
		next.setHint(&h)
	}
	s.writeIndexes(next, before)
	s.show(next)
}

// earlyBytes is how much a transaction writes before the disk is told to begin. The first commit of a large tree packs
// for seconds, and the final sync would otherwise find everything still to do.
const earlyBytes = 32 << 20

// earlySync syncs the segment while a large transaction goes on.
type earlySync struct {
	mu      sync.Mutex
	pending int
	busy    bool
	err     error // must fail the commit: the system tells a lost write only once
	group   sync.WaitGroup
}

// written is where a packer has written.
type written struct {
	file vfs.File
	at   place
}

func (e *earlySync) wrote(w written, n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending += n; e.pending < earlyBytes || e.busy {
		return
	}
	e.pending, e.busy = 0, true
	e.group.Go(func() {
		err := w.file.Sync()
		e.mu.Lock()
		defer e.mu.Unlock()
		e.busy, e.err = false, errors.Join(e.err, err)
	})
}

// wait waits for what is under way and returns what went wrong in any.
func (e *earlySync) wait() error {
	e.group.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}
