package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// batch is the records of the frames since an op, up to and with the next. A scan of the log makes it from frames, a
// transaction while it writes them.
type batch struct {
	logID uint64
	base  bool               // it is a base's, whose ops stand together at its end
	n     counts             // with the batch
	cols  [numColumns][]byte // the batch's own records
	last  place              // the op before, or 0
	op    place              // the op that commits the batch
	end   place              // after op
}

var errOrder = errors.New("the frame does not fit what comes before it")

// addFrame takes the records of a checked frame at p.
func (b *batch) addFrame(f frame, p place) error {
	switch f.kind {
	case kindBlobs:
		return b.addBlobs(f, p)
	case kindList:
		return b.addList(f, p)
	case kindChange:
		return b.addChangeFrame(f, p)
	case kindStates:
		contents, err := f.view()
		if err != nil {
			return err
		}
		return b.decodeStates(contents, 0, f.items, p)
	case kindOp:
		if !b.base {
			return b.addOp(f, p)
		}
	case kindChanges:
		if b.base {
			return b.addChanges(f, p)
		}
	case kindOps:
		if b.base {
			return b.addOps(f, p)
		}
	}
	return errOrder
}

func (b *batch) addBlob(r blobRecord) {
	b.cols[blobsCol] = r.append(b.cols[blobsCol], b.logID, b.n[blobsCol])
	b.n[blobsCol]++
}

func (b *batch) addBlobs(f frame, p place) error {
	if err := checkLengths(f.table, int64(f.raw)); err != nil {
		return err
	}
	for i := range f.items {
		item := f.table[i*blobItem:]
		r := blobRecord{hash: change.Hash(item[:32]), at: p, size: int64(binary.LittleEndian.Uint32(item[32:])), item: i}
		r.shared = f.items > 1 && r.size >= smallBlob
		b.addBlob(r)
	}
	return nil
}

func (b *batch) addList(f frame, p place) error {
	size := binary.LittleEndian.Uint64(f.table[32:])
	if size > maxContent || f.raw != 0 {
		return fmt.Errorf("a list of %d bytes", size)
	}
	if err := checkLengths(f.table[listTable:], int64(size)); err != nil {
		return err
	}
	b.addBlob(blobRecord{hash: change.Hash(f.table[:32]), at: p, size: int64(size), list: true})
	return nil
}

// checkLengths verifies that the lengths in a table of hashes and lengths sum to total.
func checkLengths(table []byte, total int64) error {
	var sum int64
	for ; len(table) > 0; table = table[blobItem:] {
		n := binary.LittleEndian.Uint32(table[32:])
		if n > maxBlob {
			return fmt.Errorf("a blob of %d bytes", n)
		}
		sum += int64(n)
	}
	if sum != total {
		return fmt.Errorf("lengths sum to %d, not %d", sum, total)
	}
	return nil
}

func (b *batch) addChangeFrame(f frame, p place) error {
	t, err := parseChangeTable(f)
	if err != nil {
		return err
	}
	for d := t.deps; len(d) > 0; d = d[4:] {
		if binary.LittleEndian.Uint32(d) >= b.n[changesCol] {
			return errOrder
		}
	}
	b.addChange(t.id, t.time, t.deps, p)
	return nil
}

// addChange adds the record of a change; deps is its dependencies as the frame has them.
func (b *batch) addChange(id change.ID, time int64, deps []byte, p place) {
	count := uint32(len(deps) / 4)
	r := changeRecord{id: id, at: p, time: time, depStart: b.n[depsCol], depCount: count, depSum: depSum(deps, b.logID)}
	b.cols[changesCol] = r.append(b.cols[changesCol], b.logID, b.n[changesCol])
	b.n[changesCol]++
	b.cols[depsCol] = append(b.cols[depsCol], deps...)
	b.n[depsCol] += count
}

func (b *batch) addOp(f frame, p place) error {
	t := parseOpTable(f.table)
	if string(t.append(nil)) != string(f.table) {
		return errOp
	}
	contents, err := f.view()
	if err != nil {
		return err
	}
	body, err := parseOpBody(contents)
	if err != nil {
		return err
	}
	if err := b.decodeStates(contents, uint32(len(contents)-len(body.states)), f.items, p); err != nil {
		return err
	}
	if t.number != b.n[opsCol] || t.prev != b.last {
		return errOrder
	}
	b.addOpRecord(p)
	if t.n != b.n {
		return errOrder
	}
	return nil
}

func (b *batch) addOpRecord(p place) {
	b.cols[opsCol] = appendOpRecord(b.cols[opsCol], b.logID, b.n[opsCol], p)
	b.n[opsCol]++
	b.op = p
}
