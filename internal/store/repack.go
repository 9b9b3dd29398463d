package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// RepackOptions say how to repack.
type RepackOptions struct {
	Wait     func(tries int) bool    // for the writers' lock, as for vfs.FS.Lock
	Progress func(done, total int64) // in records; called from one goroutine; nil: none
	Force    bool                    // even where it gains less than a tenth
	Anew     bool                    // pack again what is packed already, however little is new
	// Order, if any, gives contents in the order in which they shall lie: like beside like. The chunks of a large one come with
	// it, and what it does not name behind.
	Order func() ([]Placed, error)
	// Keep, if any, is asked once the lock is held what shall stay; what else there is goes. nil keeps all.
	Keep func() (*Keep, error)
	// Replace, if any, is where to take from what is damaged. Where nothing is, nothing is packed.
	Replace *Replace
	// Publish, if any, is called as by Commit, whether the log was packed or not: it may pack what the caller derives.
	Publish func() (hint []byte, err error)
}

// RepackStats are lengths of the log in bytes.
type RepackStats struct {
	Before, After int64
	Dropped       bool // something went, and all is numbered anew
	Packed        bool // the log was written anew; otherwise After is Before

	Contents, Changes int // that were replaced
	Lost              int // contents that nobody had
	Hollow            int // changes that nobody had, and that stay without their bytes
}

// repackGain is what share of the log a repack must take away to be worth writing all of it.
const repackGain = 10

// Repack writes the log anew, packed better, and removes the old one. Nothing in it changes: numbers, ids and what is kept
// under them stay, and readers go on, those that opened before on the old log, which their system keeps for them. An
// error that comes with Packed set is one of the work after: the new log counts.
func (s *Store) Repack(ctx context.Context, o RepackOptions) (st RepackStats, err error) {
	tx, err := s.Begin(o.Wait)
	if err != nil {
		return st, err
	}
	r := &repack{s: s, t: tx.t, opt: o}
	err = r.run(ctx)
	if r.w != nil {
		err = errors.Join(err, r.w.close(!r.stats.Packed))
	}
	hint := s.Hint()
	if err == nil && o.Publish != nil {
		if r.stats.Dropped {
			hint = nil // it speaks of other numbers
		} else if hint, err = o.Publish(); err != nil || len(hint) > maxHint {
			hint, err = nil, nil
		}
	}
	err = errors.Join(err, tx.end(func() error {
		switch {
		case r.stats.Packed:
			return r.settle(hint)
		case err == nil && r.t.n[opsCol] > 0:
			s.derive(s.now.Load(), r.t.n, hint)
		}
		return nil
	}))
	if err != nil {
		return r.stats, fmt.Errorf("pack the log: %w", err)
	}
	return r.stats, nil
}

// repack is one repack under way. It holds the writers' lock.
type repack struct {
	s     *Store
	t     *tables // what to pack
	anew  bool    // contents that are packed already are packed again
	opt   RepackOptions
	w     *packWriter
	stats RepackStats

	replace *replacing // nil: nothing is damaged, or nobody asked
}

func (r *repack) run(ctx context.Context) error {
	before, packed, err := r.t.log.length(r.t.end)
	if err != nil {
		return err
	}
	r.stats = RepackStats{Before: before, After: before}
	var keep *Keep
	if r.opt.Keep != nil {
		if keep, err = r.opt.Keep(); err != nil {
			return err
		}
	}
	if r.opt.Replace != nil {
		if r.replace, err = r.s.replace(ctx, r.opt.Replace); err != nil || r.replace == nil {
			return err
		}
		keep = r.replace.keep
		r.stats.Contents, r.stats.Changes, r.stats.Lost = len(r.replace.blobs), len(r.replace.changes), len(r.replace.lost)
		r.stats.Hollow = r.replace.hollows()
	}
	force := r.replace != nil || r.opt.Force || r.opt.Anew || keep != nil
	if r.t.n[opsCol] == 0 || !force && (before-packed)*repackGain < before {
		return nil // of what a repack made nothing is to be gained
	}
	r.anew = r.opt.Anew || (before-packed)*anewShare > before
	if r.w, err = newPackWriter(r.s, r.t.end.segment()+1); err != nil {
		return err
	}
	n := r.t.n
	renumbers := keep != nil && (r.replace == nil || r.replace.renumbers)
	if keep == nil {
		err = r.pack(ctx, func(p *packPlan) error { return p.all() })
	} else {
		if renumbers {
			r.w.drops++
		}
		drop := &dropPlan{keep: keep}
		err = r.pack(ctx, func(p *packPlan) error {
			drop.packPlan = p
			return drop.all()
		})
		n = drop.n
	}
	if err != nil {
		return err
	}
	after, err := r.w.finish(n)
	if err != nil {
		return err
	}
	if !force && (before-after)*repackGain < before {
		return nil
	}
	if err := r.w.publish(); err != nil {
		return err
	}
	r.stats.After, r.stats.Packed, r.stats.Dropped = after, true, renumbers
	return nil
}

// length returns how long the log is up to end, and how much of that is a base.
func (l *log) length(end place) (all, packed int64, err error) {
	for n := l.first; n <= end.segment(); n++ {
		seg, err := l.segment(n)
		if err != nil {
			return 0, 0, l.unreadable(placeAt(n, 0), err)
		}
		size := int64(end.off())
		if n < end.segment() {
			if size, err = seg.size(); err != nil {
				return 0, 0, err
			}
		}
		all += size
		if l.based && n < l.packed.end.segment() {
			packed += size
		}
	}
	if l.based {
		packed += int64(l.packed.end.off())
	}
	return all, packed, nil
}

// settle derives what the new log needs, shows it, and removes the old one. The caller holds mu.
func (r *repack) settle(hint []byte) error {
	s, t := r.s, r.w.tables()
	// The head first: with it a reader finds the hint, and what is missing of the indexes it can read from the log.
	h := head{op: t.op, end: t.end, n: t.n, hint: hint}
	_ = vfs.WriteFileAtomic(s.fsys, filepath.Join(s.dir, headName), h.encode(t.logID), false)
	s.mend = true
	s.writeIndexes(t, counts{})
	old := r.t.log
	l, err := openLog(s.fsys, s.dir, false)
	if err != nil {
		return err
	}
	logs := *s.logs.Load()
	grown := append(logs[:len(logs):len(logs)], l)
	s.logs.Store(&grown)
	if err := s.loadLog(l, false); err != nil {
		return err
	}
	for n := old.first; n <= r.t.end.segment(); n++ {
		_ = s.fsys.Remove(old.name(n)) // or the next writer
	}
	return nil
}
