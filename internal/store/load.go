package store

import (
	"errors"
	"fmt"
)

// load makes the tables from the indexes and the log. With verify it takes from the indexes only what it has verified
// record by record; otherwise each record is verified when it is used.
func (s *Store) load(verify bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loadLocked(verify)
}

// loadLocked loads the log that counts now, which after a repack is another than before.
func (s *Store) loadLocked(verify bool) error {
	if t := s.now.Load(); t != nil {
		if moved, err := s.moved(t.log); err != nil || !moved {
			return errors.Join(err, s.loadLog(t.log, verify))
		}
	}
	l, err := openLog(s.fsys, s.dir, s.trusting)
	if err != nil {
		return err
	}
	if t := s.now.Load(); t != nil && l.drops != t.log.drops {
		return errors.Join(ErrRenumbered, l.close())
	}
	var logs []*log
	if p := s.logs.Load(); p != nil {
		logs = *p
	}
	// Those before stay open: what was got from them is valid until Close.
	grown := append(logs[:len(logs):len(logs)], l)
	s.logs.Store(&grown)
	return s.loadLog(l, verify)
}

// moved reports whether the log that counts begins elsewhere than l.
func (s *Store) moved(l *log) (bool, error) {
	if s.writing { // nobody else writes, and a repack of this process shows what it made
		return false, nil
	}
	ls, err := listLog(s.fsys, s.dir)
	if err != nil {
		return false, err
	}
	first, base := ls.first()
	return first != l.first || base != l.based, nil
}

func (s *Store) loadLog(l *log, verify bool) error {
	h := readHead(s.fsys, s.dir, l.id)
	files := s.openIndexes(l)
	known, from, err := l.lastKnown(h, &files)
	if err != nil {
		return err
	}
	if s.trusting && h != nil && from.n != h.n && h.n.within(files.have()) {
		from = standing{op: h.op, end: h.end, n: h.n}
	}
	if verify {
		files.verify(l.id)
	}
	if from, err = l.covered(from, files.have()); err != nil {
		return err
	}
	t := &tables{log: l, logID: l.id, n: from.n, packed: l.packed.n[blobsCol], op: from.op, end: from.end}
	for c := range t.cols {
		n, runs := from.n[c], (*packedRuns)(nil)
		if column(c) == blobsCol && files.runs != nil && n > 0 {
			runs = files.runs
			n -= runs.n
		}
		t.cols[c] = columnData{size: recordSizes[c], runs: runs, base: files.columns[c][:int(n)*recordSizes[c]]}
	}
	add := t.add
	if now := s.now.Load(); s.writing && now.log == l { // the op of this process's own transaction may lie there, not yet durable
		add = func(b *batch) {
			if b.n.within(now.n) {
				t.add(b)
			}
		}
	}
	end, tail, err := l.scan(t.end, t.n, t.op, add)
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	if t.n[opsCol] < known {
		return l.lost(end, known)
	}
	// With a head a tail is some writer's at work, or left for the next to look at. Without, nothing says that it is
	// not damage inside the log.
	if tail && h == nil {
		if err := l.damageBefore(end, t.n[opsCol]); err != nil {
			return err
		}
	}
	if err := l.forget(end.segment() + 1); err != nil {
		return err
	}
	t.lookup = [numColumns]*lookup{changesCol: files.lookup(changesCol), blobsCol: files.lookup(blobsCol)}
	if t.sums = files.sums; verify {
		t.sums = nil
	}
	t.setHint(h)
	s.show(t)
	return nil
}

// damageBefore tells whether what follows the op numbered next-1, ending at end, is damage and not the rest of a batch
// that was never acknowledged: whether an op lies beyond that can only have begun once op next was acknowledged.
func (l *log) damageBefore(end place, next uint32) error {
	p, found, err := l.findOp(end, next+1)
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	if found {
		return fmt.Errorf("%w: %s is damaged at or after offset %d; later operations follow it at offset %d of %s. "+
			"Nothing was changed. Restore the file from a copy", ErrDamaged,
			l.display(end.segment()), end.off(), p.off(), l.display(p.segment()))
	}
	return nil
}

// standing is a place in the log between two ops: the op before it and the records up to it.
type standing struct {
	op  place // or 0
	end place
	n   counts
}

func (l *log) beginning() standing { return standing{end: l.start} }

// lastKnown returns the last op that is known without a scan, and how many ops are known to be acknowledged: by the
// head, or if that is lost by the index of ops, which like it is only written after the log's sync.
func (l *log) lastKnown(h *head, files *indexFiles) (known uint32, st standing, err error) {
	if h != nil {
		known = h.n[opsCol]
		if st, ok := l.standingAt(h.op, known); ok && st.end == h.end && st.n == h.n {
			return known, st, nil
		}
		// What head says was acknowledged is not there. A scan finds out where the log is damaged.
		return known, l.beginning(), nil
	}
	ops := files.columns[opsCol]
	for n := uint32(len(ops) / recordSizes[opsCol]); n > 0; n-- {
		rec := ops[int(n-1)*recordSizes[opsCol]:][:recordSizes[opsCol]]
		if !recordOK(rec, l.id, opsCol, n-1) {
			continue
		}
		if st, ok := l.standingAt(opRecordPlace(rec), n); ok {
			return n, st, nil
		}
		return n, l.beginning(), nil
	}
	return l.packed.n[opsCol], l.packed, nil
}

// standingAt returns where the log stands after the op at p, if that is a valid op that brings them to n.
func (l *log) standingAt(p place, n uint32) (standing, bool) {
	if l.based && p == l.packed.op {
		return l.packed, n == l.packed.n[opsCol]
	}
	t, end, err := l.opTable(p)
	if err != nil || t.number != n-1 || t.n[opsCol] != n {
		return standing{}, false
	}
	return standing{p, end, t.n}, true
}

// covered goes back from op to op until the indexes have all records.
func (l *log) covered(st standing, have counts) (standing, error) {
	for st.op != 0 && !st.n.within(have) {
		if l.based && st.op == l.packed.op {
			return l.beginning(), nil
		}
		t, _, err := l.opTable(st.op)
		if err != nil {
			return st, err
		}
		if t.prev == 0 {
			return l.beginning(), nil
		}
		before, ok := l.standingAt(t.prev, t.number)
		if !ok {
			return l.beginning(), nil // the scan from there meets the damage, or not
		}
		st = before
	}
	return st, nil
}
