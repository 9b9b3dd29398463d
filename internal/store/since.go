package store

import "fmt"

// StatesBefore returns how many states there were before the operation that brought change n: none of them has that change. Of a change
// that no operation has brought yet they are all. It looks at operations from the last one back in growing steps, so that of a young
// change it reads two.
func (s *Store) StatesBefore(n uint32) (uint32, error) {
	if n >= s.NumChanges() {
		return s.NumStates(), nil
	}
	high := s.NumOps() // the operations from here on have the change
	low := uint32(0)   // those before here have not
	for step := uint32(1); high > low; step *= 2 {
		at := high - min(step, high-low)
		was, err := s.opCounts(at)
		if err != nil {
			return 0, err
		}
		if was[changesCol] <= n {
			low = at + 1
			break
		}
		high = at
	}
	for low < high {
		mid := low + (high-low)/2
		was, err := s.opCounts(mid)
		if err != nil {
			return 0, err
		}
		if was[changesCol] > n {
			high = mid
		} else {
			low = mid + 1
		}
	}
	if low == 0 {
		return 0, nil
	}
	return s.OpStates(low - 1)
}

// OpStates returns how many states there were once operation n was done.
func (s *Store) OpStates(n uint32) (uint32, error) {
	t, err := s.opCounts(n)
	return t[statesCol], err
}

// opCounts gives how much there was of each kind once an operation was done.
func (s *Store) opCounts(op uint32) (counts, error) {
	rec, _, ok := s.record(opsCol, op)
	if !ok {
		return counts{}, fmt.Errorf("read operation %d: %w", op, s.missing())
	}
	t, _, err := s.op(opRecordPlace(rec), op)
	if err != nil {
		return counts{}, fmt.Errorf("read operation %d: %w", op, err)
	}
	return t.n, nil
}
