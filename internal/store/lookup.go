package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"
)

// lookup finds the records of a column by the hash that each begins with: those numbered below base by a sorted list,
// which is a file, the others by a table in memory that is made when first needed.
type lookup struct {
	col  column
	list []byte // entries of the sorted list
	base uint32 // how many

	mu    sync.RWMutex
	slots []uint32 // number+1 or 0, open addressing, at most half full
	upTo  uint32   // numbers from base up to here are in slots
}

// An entry of the sorted list: the first 8 bytes of the hash, big-endian in meaning; number; checksum.
const orderEntry = 16

// A writer sorts anew when more records lie outside of the list than tailMin and than a tailShare of it: a reader that
// looks something up passes over them once, in a millisecond for a million records.
const (
	tailMin   = 1024
	tailShare = 8
)

var errIndex = errors.New("an index is damaged")

func orderSum(e []byte, logID uint64, c column, rank uint32) uint32 {
	return uint32(xxh3.HashSeed(e[:orderEntry-4], logID^uint64(c+1)<<48^uint64(rank)))
}

func hashKey(h []byte) uint64 { return binary.BigEndian.Uint64(h) }

// entry returns the key and number at a rank of the sorted list.
func (l *lookup) entry(t *tables, rank uint32) (key uint64, n uint32, err error) {
	e := l.list[int(rank)*orderEntry:][:orderEntry]
	le := binary.LittleEndian
	if le.Uint32(e[12:]) != orderSum(e, t.logID, l.col, rank) {
		return 0, 0, errIndex
	}
	return le.Uint64(e), le.Uint32(e[8:]), nil
}

// rank returns the first rank with a key of at least key.
func (l *lookup) rank(t *tables, key uint64) (uint32, error) {
	lo, hi := uint32(0), l.base
	// Hashes are even: three steps by proportion end within a few entries, and halving bounds the rest.
	loKey, hiKey := uint64(0), uint64(1<<64-1)
	for step := 0; lo < hi; step++ {
		mid := lo + (hi-lo)/2
		if step < 3 && hiKey > loKey {
			at := float64(key-loKey) / float64(hiKey-loKey) * float64(hi-lo)
			mid = min(lo+uint32(at), hi-1)
		}
		k, _, err := l.entry(t, mid)
		if err != nil {
			return 0, err
		}
		if k < key {
			lo, loKey = mid+1, k
		} else {
			hi, hiKey = mid, k
		}
	}
	return lo, nil
}

func (l *lookup) find(t *tables, h *[32]byte) (uint32, bool, error) {
	key := hashKey(h[:])
	lost, isLost := uint32(0), false
	rank, err := l.rank(t, key)
	for ; err == nil && rank < l.base; rank++ {
		var k uint64
		var n uint32
		if k, n, err = l.entry(t, rank); err != nil || k != key {
			break
		}
		if n >= t.n[l.col] { // of a newer list than the tables
			continue
		}
		if !t.ok(l.col, n) {
			return 0, false, errIndex
		}
		if bytes.Equal(t.cols[l.col].at(n)[:32], h[:]) {
			return n, true, nil
		}
		// What was packed under this key may be what is looked for: it is not missing, but damaged.
		if l.col == blobsCol && !isLost && t.lost(n) {
			lost, isLost = n, true
		}
	}
	if err != nil {
		return 0, false, err
	}
	n, found, err := l.findTail(t, h)
	if isLost && !found && err == nil {
		return lost, true, nil
	}
	return n, found, err
}

func (l *lookup) findTail(t *tables, h *[32]byte) (uint32, bool, error) {
	l.mu.RLock()
	if l.upTo < t.n[l.col] && l.base < t.n[l.col] {
		l.mu.RUnlock()
		if err := l.extend(t); err != nil {
			return 0, false, err
		}
		l.mu.RLock()
	}
	defer l.mu.RUnlock()
	if len(l.slots) == 0 {
		return 0, false, nil
	}
	mask := uint32(len(l.slots) - 1)
	for i := slotOf(h[:]) & mask; l.slots[i] != 0; i = (i + 1) & mask {
		// A number beyond t is of later tables. Those within were verified when they came into the table.
		if n := l.slots[i] - 1; n < t.n[l.col] && bytes.Equal(t.cols[l.col].at(n)[:32], h[:]) {
			return n, true, nil
		}
	}
	return 0, false, nil
}

// slotOf takes other bytes than the sorted list's key has; any of a hash are as good.
func slotOf(h []byte) uint32 { return binary.LittleEndian.Uint32(h[8:]) }

// extend brings the records that t has beyond the sorted list into the table.
func (l *lookup) extend(t *tables) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.upTo >= t.n[l.col] {
		return nil
	}
	from := max(l.upTo, l.base)
	if need := int(t.n[l.col]-l.base) * 2; need > len(l.slots) {
		size := 64
		for size < need {
			size *= 2
		}
		l.slots = make([]uint32, 2*size)
		from = l.base
	}
	mask := uint32(len(l.slots) - 1)
	for n := from; n < t.n[l.col]; n++ {
		if !t.ok(l.col, n) {
			l.slots, l.upTo = nil, 0
			return errIndex
		}
		i := slotOf(t.cols[l.col].at(n)) & mask
		for l.slots[i] != 0 {
			i = (i + 1) & mask
		}
		l.slots[i] = n + 1
	}
	l.upTo = t.n[l.col]
	return nil
}

// between returns the numbers of up to limit records with hashes from lo to hi, in the order of their hashes.
func (l *lookup) between(t *tables, lo, hi *[32]byte, limit int) ([]uint32, error) {
	var found []uint32
	take := func(n uint32) error {
		if !t.ok(l.col, n) {
			return errIndex
		}
		if h := t.cols[l.col].at(n)[:32]; bytes.Compare(h, lo[:]) >= 0 && bytes.Compare(h, hi[:]) <= 0 {
			found = append(found, n)
		}
		return nil
	}
	rank, err := l.rank(t, hashKey(lo[:]))
	if err != nil {
		return nil, err
	}
	for ; rank < l.base && len(found) < limit; rank++ {
		key, n, err := l.entry(t, rank)
		if err != nil {
			return nil, err
		}
		if key > hashKey(hi[:]) {
			break
		}
		if n >= t.n[l.col] {
			continue
		}
		if err := take(n); err != nil {
			return nil, err
		}
	}
	if err := l.extend(t); err != nil { // verifies them, once
		return nil, err
	}
	loKey, hiKey := hashKey(lo[:]), hashKey(hi[:])
	for n := l.base; n < t.n[l.col]; n++ {
		if key := hashKey(t.cols[l.col].at(n)); key < loKey || key > hiKey {
			continue
		}
		if err := take(n); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b uint32) int {
		return bytes.Compare(t.cols[l.col].at(a)[:32], t.cols[l.col].at(b)[:32])
	})
	return found[:min(len(found), limit)], nil
}

// sorted makes the list of all records of a column, from the list before and what lies outside of it.
func (l *lookup) sorted(t *tables) (*lookup, error) {
	type item struct {
		key uint64
		n   uint32
	}
	compare := func(a, b item) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.n, b.n)) }
	total := t.n[l.col]
	base := min(l.base, total)
	tail := make([]item, 0, total-base)
	for n := base; n < total; n++ {
		if !t.ok(l.col, n) {
			return nil, errIndex
		}
		tail = append(tail, item{hashKey(t.cols[l.col].at(n)), n})
	}
	slices.SortFunc(tail, compare)
	out := &lookup{col: l.col, base: total, list: make([]byte, 0, int(total)*orderEntry)}
	put := func(it item) {
		le := binary.LittleEndian
		start := len(out.list)
		out.list = le.AppendUint64(out.list, it.key)
		out.list = le.AppendUint32(out.list, it.n)
		out.list = append(out.list, 0, 0, 0, 0)
		e := out.list[start:]
		le.PutUint32(e[12:], orderSum(e, t.logID, l.col, uint32(start/orderEntry)))
	}
	for rank := range l.base {
		key, n, err := l.entry(t, rank)
		if err != nil {
			return nil, err
		}
		if n >= total {
			continue
		}
		it := item{key, n}
		for len(tail) > 0 && compare(tail[0], it) < 0 {
			put(tail[0])
			tail = tail[1:]
		}
		put(it)
	}
	for _, it := range tail {
		put(it)
	}
	if len(out.list) != int(total)*orderEntry {
		return nil, errIndex
	}
	return out, nil
}
