package store

import (
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Who depends on a change is told by no record of that change: all later ones must be asked. A million of them are asked in
// two milliseconds if the column of dependencies is gone through as it lies, and in two hundred if every record is verified
// on the way. So blocks of the column have sums of their own, in a file beside it. What has no sum, or a wrong one, is verified
// record by record.

// depBlock is how many dependencies have one sum: 16 KiB.
const depBlock = 4096

const (
	sumsMagic = "oxysum 1"
	sumSize   = 8
)

func sumsName(dir string) string { return indexName(dir, depsCol) + ".sums" }

// blockSum is the sum of a whole block of the column deps.
func blockSum(deps []byte, logID uint64, block uint32) uint64 {
	return xxh3.HashSeed(deps, logID^uint64(block))
}

// Dependents returns the changes that depend on any of some, by themselves or by way of others, ascending.
func (s *Store) Dependents(of []uint32) ([]uint32, error) {
	if len(of) == 0 {
		return nil, s.Err()
	}
	for range 2 {
		t := s.now.Load()
		d := dependents{t: t, on: make([]uint64, t.n[changesCol]/64+1)}
		first := of[0]
		for _, n := range of {
			if n >= t.n[changesCol] {
				return nil, fmt.Errorf("find the dependents of change %d: %w", n, ErrNotFound)
			}
			d.add(n)
			first = min(first, n)
		}
		ok := d.find(first + 1)
		if d.wrong {
			s.mu.Lock()
			s.mend = true
			s.mu.Unlock()
		}
		if ok {
			return d.out, nil
		}
		s.repair(t)
	}
	s.fail(errIndex)
	return nil, s.Err()
}

// dependents is a search for dependents.
type dependents struct {
	t     *tables
	on    []uint64 // a bit for each change whose dependents are looked for
	out   []uint32
	wrong bool // a sum is not that of its block
}

func (d *dependents) add(n uint32) { d.on[n>>6] |= 1 << (n & 63) }

func (d *dependents) has(n uint32) bool {
	i := n >> 6
	return int(i) < len(d.on) && d.on[i]&(1<<(n&63)) != 0
}

// find looks through the changes from a number on. It is false where a record is damaged.
func (d *dependents) find(from uint32) (ok bool) {
	t := d.t
	if from >= t.n[changesCol] {
		return true
	}
	if !t.ok(changesCol, from) {
		return false
	}
	ok = true
	for at := depStart(t.cols[changesCol].at(from)); ok && at < t.n[depsCol]; {
		b := at / depBlock
		if deps := t.block(b); deps == nil {
			at, ok = d.oneByOne(at, (b+1)*depBlock)
		} else if blockSum(deps, t.logID, b) == binary.LittleEndian.Uint64(t.sums[b*sumSize:]) {
			at, ok = d.inBlock(numbers(deps), at)
		} else {
			d.wrong = true
			at, ok = d.oneByOne(at, (b+1)*depBlock)
		}
	}
	return ok
}

// inBlock looks through a block whose sum is right, from dependency at on, and returns where to go on.
func (d *dependents) inBlock(deps []uint32, at uint32) (uint32, bool) {
	begin := at / depBlock * depBlock
	for at < begin+depBlock {
		if !d.has(deps[at-begin]) {
			at++
			continue
		}
		n, end, ok := d.t.dependent(at)
		if !ok {
			return 0, false
		}
		d.take(n)
		at = end
	}
	return at, true
}

// oneByOne looks through the changes with dependencies from at to end, verifying each.
func (d *dependents) oneByOne(at, end uint32) (uint32, bool) {
	n, _, ok := d.t.dependent(at)
	for ; ok && at < min(end, d.t.n[depsCol]); n++ {
		if ok = n < d.t.n[changesCol]; !ok {
			return 0, false
		}
		rec := d.t.cols[changesCol].at(n)
		if ok = d.t.ok(changesCol, n) && d.t.depsOK(rec); !ok {
			return 0, false
		}
		for _, dep := range numbers(d.t.cols[depsCol].slice(depStart(rec), depCount(rec))) {
			if d.has(dep) {
				d.take(n)
				break
			}
		}
		at = depStart(rec) + depCount(rec)
	}
	return at, ok
}

func (d *dependents) take(n uint32) {
	if !d.has(n) {
		d.add(n)
		d.out = append(d.out, n)
	}
}

// dependent is the change that dependency at is of, and where its dependencies end.
func (t *tables) dependent(at uint32) (n, end uint32, ok bool) {
	after := sort.Search(int(t.n[changesCol]), func(n int) bool { return depStart(t.cols[changesCol].at(uint32(n))) > at })
	if after == 0 || !t.ok(changesCol, uint32(after-1)) {
		return 0, 0, false
	}
	n = uint32(after - 1)
	rec := t.cols[changesCol].at(n)
	// The search went by records that were not verified. This one is, and says itself whether it is the one.
	end = depStart(rec) + depCount(rec)
	return n, end, depStart(rec) <= at && at < end && t.depsOK(rec)
}

// block is a block of the column deps that lies whole in one part of it and has a sum, or nil.
func (t *tables) block(b uint32) []byte {
	size := recordSizes[depsCol]
	from, to := int(b)*depBlock*size, (int(b)+1)*depBlock*size
	if int(b) >= len(t.sums)/sumSize || to > int(t.n[depsCol])*size {
		return nil
	}
	c := &t.cols[depsCol]
	switch {
	case to <= len(c.base):
		return c.base[from:to]
	case from >= len(c.base):
		return c.extra[from-len(c.base) : to-len(c.base)]
	}
	return nil
}

// openSums maps the sums of the blocks of a log's column deps.
func (s *Store) openSums(logID uint64) []byte {
	b, n := s.mapIndex(sumsName(s.dir), sumSize)
	if n == 0 || string(b[:indexHeader]) != string(appendIndexHeader(nil, sumsMagic, logID, depsCol, 0)) {
		return nil
	}
	return b[indexHeader:]
}

// writeSums writes the sums that are missing once blocks are whole. The caller holds the writers' lock and mu.
func (s *Store) writeSums(t *tables) bool {
	want := t.n[depsCol] / depBlock
	have := uint32(len(t.sums) / sumSize)
	if s.mend || have > want {
		have = 0
	}
	if have == want {
		return true
	}
	sums := append([]byte(nil), t.sums[:have*sumSize]...)
	n, _, ok := t.dependent(have * depBlock)
	for ; ok && n < t.n[changesCol] && depStart(t.cols[changesCol].at(n)) < want*depBlock; n++ {
		ok = t.ok(changesCol, n) && t.depsOK(t.cols[changesCol].at(n)) // no damage gets a sum that says it is right
	}
	if !ok {
		return false
	}
	var buf []byte
	for b := have; b < want; b++ {
		buf = buf[:0]
		for _, part := range t.cols[depsCol].from(b * depBlock) {
			buf = append(buf, part[:min(len(part), depBlock*recordSizes[depsCol]-len(buf))]...)
		}
		sums = binary.LittleEndian.AppendUint64(sums, blockSum(buf, t.logID, b))
	}
	file := append(appendIndexHeader(nil, sumsMagic, t.logID, depsCol, 0), sums...)
	if vfs.WriteFileAtomic(s.fsys, sumsName(s.dir), file, false) != nil {
		return false
	}
	t.sums = sums
	return true
}

// sumsFault tells of the first sum in the file that is not that of its block.
func (s *Store) sumsFault(t *tables, sums []byte) (off int64, wrong bool) {
	checked := tables{logID: t.logID, n: t.n, cols: t.cols, sums: sums}
	for b := range uint32(len(sums) / sumSize) {
		deps := checked.block(b)
		if deps != nil && blockSum(deps, t.logID, b) != binary.LittleEndian.Uint64(sums[b*sumSize:]) {
			return indexHeader + int64(b)*sumSize, true
		}
	}
	return 0, false
}
