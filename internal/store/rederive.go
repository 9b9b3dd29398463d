package store

import (
	"errors"
	"fmt"
)

// Rederive makes the head and the indexes anew from the log alone, whatever they hold. wait and publish are as for Begin and
// Commit; publish is called when the indexes are made and before head is written. Where the log itself is damaged nothing is
// written, and the error says where.
func (s *Store) Rederive(wait func(tries int) bool, publish func() (hint []byte, err error)) error {
	tx, err := s.Begin(wait)
	if err != nil {
		return err
	}
	if err := s.fromLog(); err != nil {
		return errors.Join(fmt.Errorf("make the indexes anew: %w", err), tx.end(func() error { return nil }))
	}
	hint, err := publish()
	if err != nil || len(hint) > maxHint {
		hint = nil
	}
	return errors.Join(err, tx.end(func() error {
		t := s.now.Load()
		if t.n[opsCol] == 0 {
			return nil
		}
		s.mend = true
		s.derive(t, counts{}, hint)
		if s.mend {
			return errors.New("the indexes cannot be written")
		}
		return nil
	}))
}

// fromLog reads the log from its beginning and shows what it says.
func (s *Store) fromLog() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now.Load()
	t := &tables{log: now.log, logID: now.logID, packed: now.packed, lookup: [numColumns]*lookup{changesCol: {col: changesCol}, blobsCol: {col: blobsCol}}}
	for c := range t.cols {
		t.cols[c].size = recordSizes[c]
	}
	end, _, err := t.log.scan(t.log.start, counts{}, 0, t.add)
	if err != nil {
		return err
	}
	if t.n[opsCol] < now.n[opsCol] {
		return t.log.lost(end, now.n[opsCol])
	}
	s.show(t)
	return nil
}
