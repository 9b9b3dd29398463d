package store

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// State is one step of a bookmark's log: the parent's log, perhaps without some of its changes, and the changes appended to it.
type State struct {
	Parent  int64    // state number, or -1
	Without []uint32 // changes of the parent's log that this one leaves out, ascending; only in format 2
	Changes []uint32 // change numbers in the order of application
	Pos     uint64   // length of the log with them
	ID      [32]byte
	// Beside says that the changes were recorded elsewhere and stand here beside others that they may not know of, as after a
	// merge. Those of other states were each recorded on the state before it.
	Beside bool
}

var errState = errors.New("malformed state")

// Bits that are added to the number of a parent: changes stand beside others; changes of the parent's log are left out.
const (
	besideBit  = 1 << 32
	withoutBit = 1 << 33
)

// maxAppended is below how many changes a state appends: its record has two flags beside the count.
const maxAppended = 1 << 30

// appendState encodes a state: parent+1 and bits, id, position, the runs of the changes, and those of what is left out.
func appendState(b []byte, st *State) []byte {
	parent := uint64(st.Parent + 1)
	if st.Beside {
		parent |= besideBit
	}
	if len(st.Without) > 0 {
		parent |= withoutBit
	}
	b = binary.AppendUvarint(b, parent)
	b = append(b, st.ID[:]...)
	b = binary.AppendUvarint(b, st.Pos)
	b = appendRuns(b, st.Changes)
	if len(st.Without) > 0 {
		b = appendRuns(b, st.Without)
	}
	return b
}

// appendRuns encodes changes: count of runs, then each as its distance from the end of the run before and its length-1.
func appendRuns(b []byte, changes []uint32) []byte {
	runs := 0
	for i, c := range changes {
		if i == 0 || c != changes[i-1]+1 {
			runs++
		}
	}
	b = binary.AppendUvarint(b, uint64(runs))
	after := int64(0) // the number after the run before
	for i := 0; i < len(changes); {
		j := i + 1
		for j < len(changes) && changes[j] == changes[j-1]+1 {
			j++
		}
		b = binary.AppendVarint(b, int64(changes[i])-after)
		b = binary.AppendUvarint(b, uint64(j-i-1))
		after = int64(changes[j-1]) + 1
		i = j
	}
	return b
}

// decodeState reads one state and returns the bytes after it. Of n counts states and changes bound what it may name.
func decodeState(b []byte, n counts) (st State, rest []byte, err error) {
	r := reader{b: b}
	parent := r.uvarint()
	st.Beside = parent&besideBit != 0
	without := parent&withoutBit != 0
	parent &^= besideBit | withoutBit
	copy(st.ID[:], r.bytes(32))
	st.Pos = r.uvarint()
	if parent > uint64(n[statesCol]) {
		return st, nil, errState
	}
	st.Parent = int64(parent) - 1
	st.Changes = r.runs(n[changesCol])
	if without {
		st.Without = r.runs(n[changesCol])
		if len(st.Without) == 0 || parent == 0 || !ascending(st.Without) {
			return st, nil, errState
		}
	}
	if r.bad || uint64(len(st.Changes)) > st.Pos {
		return st, nil, errState
	}
	return st, r.b, nil
}

func ascending(nums []uint32) bool {
	for i := 1; i < len(nums); i++ {
		if nums[i] <= nums[i-1] {
			return false
		}
	}
	return true
}

// runs reads changes, of which there are so many.
func (r *reader) runs(changes uint32) (out []uint32) {
	runs := r.uvarint()
	if runs > uint64(len(r.b)) {
		r.fail()
	}
	after, total := int64(0), uint64(0)
	for i := uint64(0); i < runs && !r.bad; i++ {
		delta, extra := r.varint(), r.uvarint()
		first := after + delta
		// A log names no change twice, so a state appends no more than there are.
		total += extra + 1
		if r.bad || delta == 0 && i > 0 || extra >= uint64(changes) || total > uint64(changes) || total >= maxAppended ||
			first < 0 || first+int64(extra) >= int64(changes) {
			r.fail()
			return nil
		}
		after = first + int64(extra) + 1
		if i == 0 && runs == 1 {
			out = make([]uint32, 0, extra+1)
		}
		for c := first; c < after; c++ {
			out = append(out, uint32(c))
		}
	}
	return out
}

// decodeStates reads the states that fill b, which begins off bytes into the contents of the frame at p, and appends
// their records.
func (b *batch) decodeStates(contents []byte, off, items uint32, p place) error {
	rest := contents[off:]
	for range items {
		at := len(contents) - len(rest)
		st, after, err := decodeState(rest, b.n)
		if err != nil {
			return err
		}
		b.addState(&st, p, uint32(at))
		rest = after
	}
	if len(rest) != 0 {
		return errState
	}
	return nil
}

func (b *batch) addState(st *State, p place, off uint32) {
	r := stateRecord{id: st.ID, where: uint64(p), pos: st.Pos, parent: uint32(st.Parent), off: off,
		count: uint32(len(st.Changes)), beside: st.Beside, without: len(st.Without) > 0}
	if r.short() {
		r.where, r.off = uint64(st.Changes[0]), 0
	}
	b.cols[statesCol] = r.append(b.cols[statesCol], b.logID, b.n[statesCol])
	b.n[statesCol]++
}

// NumStates returns how many states there are.
func (s *Store) NumStates() uint32 { return s.now.Load().n[statesCol] }

// State returns a state by its number.
func (s *Store) State(n uint32) (State, error) {
	rec, t, ok := s.record(statesCol, n)
	if !ok {
		return State{}, fmt.Errorf("read state %d: %w", n, s.missing())
	}
	r := parseStateRecord(rec)
	st := State{Parent: int64(r.parent), Pos: r.pos, ID: r.id, Beside: r.beside}
	if r.parent == noState {
		st.Parent = -1
	}
	switch {
	case r.short():
		st.Changes = []uint32{uint32(r.where)}
	case r.count > 0 || r.without:
		full, err := s.readState(place(r.where), r.off, t.n)
		if err != nil {
			return State{}, fmt.Errorf("read state %d: %w", n, err)
		}
		st.Changes, st.Without = full.Changes, full.Without
	}
	return st, nil
}

func (s *Store) readState(p place, off uint32, n counts) (State, error) {
	f, err := s.holder(p)
	if err != nil {
		return State{}, err
	}
	b, err := f.view()
	if err != nil {
		return State{}, s.damaged(p, err)
	}
	if (f.kind != kindOp && f.kind != kindStates) || int(off) > len(b) {
		return State{}, s.damaged(p, errState)
	}
	st, _, err := decodeState(b[off:], n)
	if err != nil {
		return State{}, s.damaged(p, err)
	}
	return st, nil
}

// Outline is what the index alone says of a state: which changes it appends and leaves out may lie in the log only.
type Outline struct {
	Parent         int64 // as of a State
	Pos            uint64
	ID             [32]byte
	Beside         bool
	Appends, Omits uint64 // how many
}

// StateOutline returns what is known of a state whose bytes in the log are damaged.
func (s *Store) StateOutline(n uint32) (o Outline, ok bool) {
	rec, _, ok := s.record(statesCol, n)
	if !ok {
		return o, false
	}
	r := parseStateRecord(rec)
	o = Outline{Parent: int64(r.parent), Pos: r.pos, ID: r.id, Beside: r.beside, Appends: uint64(r.count)}
	before := uint64(0)
	if r.parent == noState {
		o.Parent = -1
	} else if r.parent >= n {
		return o, false
	} else if rec, _, ok = s.record(statesCol, r.parent); ok {
		before = parseStateRecord(rec).pos
	}
	if all := before + o.Appends; r.without && all >= o.Pos {
		o.Omits = all - o.Pos
	}
	return o, ok
}
