package store

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// State is one step of a bookmark's log: the parent's log and the changes appended to it.
type State struct {
	Parent  int64    // state number, or -1
	Changes []uint32 // change numbers in the order of application
	Pos     uint64   // length of the log with them
	ID      [32]byte
	// Beside says that the changes were recorded elsewhere and stand here beside others that they may not know of, as after a
	// merge. Those of other states were each recorded on the state before it.
	Beside bool
}

var errState = errors.New("malformed state")

// besideBit is added to the number of a parent: changes stand beside others.
const besideBit = 1 << 32

// appendState encodes a state: parent+1 and besideBit, id, position, count of runs, then each run as its distance from the end
// of the run before and its length-1.
func appendState(b []byte, st *State) []byte {
	parent := uint64(st.Parent + 1)
	if st.Beside {
		parent |= besideBit
	}
	b = binary.AppendUvarint(b, parent)
	b = append(b, st.ID[:]...)
	b = binary.AppendUvarint(b, st.Pos)
	runs := 0
	for i, c := range st.Changes {
		if i == 0 || c != st.Changes[i-1]+1 {
			runs++
		}
	}
	b = binary.AppendUvarint(b, uint64(runs))
	after := int64(0) // the number after the run before
	for i := 0; i < len(st.Changes); {
		j := i + 1
		for j < len(st.Changes) && st.Changes[j] == st.Changes[j-1]+1 {
			j++
		}
		b = binary.AppendVarint(b, int64(st.Changes[i])-after)
		b = binary.AppendUvarint(b, uint64(j-i-1))
		after = int64(st.Changes[j-1]) + 1
		i = j
	}
	return b
}

// decodeState reads one state and returns the bytes after it. Of n counts states and changes bound what it may name.
func decodeState(b []byte, n counts) (st State, rest []byte, err error) {
	r := reader{b: b}
	parent := r.uvarint()
	st.Beside = parent&besideBit != 0
	parent &^= besideBit
	copy(st.ID[:], r.bytes(32))
	st.Pos = r.uvarint()
	runs := r.uvarint()
	if parent > uint64(n[statesCol]) || runs > uint64(len(r.b)) {
		return st, nil, errState
	}
	st.Parent = int64(parent) - 1
	after, total := int64(0), uint64(0)
	for i := range runs {
		delta, extra := r.varint(), r.uvarint()
		first := after + delta
		// A log names no change twice, so a state appends no more than there are.
		total += extra + 1
		if r.bad || delta == 0 && i > 0 || extra >= uint64(n[changesCol]) || total > uint64(n[changesCol]) || total >= 1<<31 ||
			first < 0 || first+int64(extra) >= int64(n[changesCol]) {
			return st, nil, errState
		}
		after = first + int64(extra) + 1
		if i == 0 && runs == 1 {
			st.Changes = make([]uint32, 0, extra+1)
		}
		for c := first; c < after; c++ {
			st.Changes = append(st.Changes, uint32(c))
		}
	}
	if r.bad || uint64(len(st.Changes)) > st.Pos {
		return st, nil, errState
	}
	return st, r.b, nil
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
		count: uint32(len(st.Changes)), beside: st.Beside}
	if r.count == 1 {
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
	switch r.count {
	case 0:
	case 1:
		st.Changes = []uint32{uint32(r.where)}
	default:
		full, err := s.readState(place(r.where), r.off, t.n)
		if err != nil {
			return State{}, fmt.Errorf("read state %d: %w", n, err)
		}
		st.Changes = full.Changes
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
