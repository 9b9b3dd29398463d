package repo

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/state"
)

// mendTries bounds how often trees are made anew for one call: once is enough but where calls run side by side.
const mendTries = 3

// mended runs fn, and again when what is stored of the trees turned out to be damaged: they are derived, so they are
// begun anew, and whoever asked never hears of it. What a partial clone has not yet is brought in the same way. In a transaction only the whole of it is run again, as what it has
// read belongs to what it writes.
func mended[T any](r *Repo, fn func() (T, error)) (T, error) {
	brought := 0
	for tries := 0; ; tries++ {
		seen := r.renewals.Load()
		res, err := fn()
		if lack := (*lackingError)(nil); errors.As(err, &lack) && !r.writing {
			if err = r.bring(err, brought); err != nil {
				return res, err
			}
			brought++
			tries--
			continue
		}
		if !treesDamaged(err) || tries == mendTries || r.writing {
			return res, err
		}
		if renewErr := r.renewTrees(seen); renewErr != nil {
			return res, errors.Join(err, renewErr)
		}
	}
}

func treesDamaged(err error) bool {
	return errors.Is(err, state.ErrDamaged) || errors.Is(err, errWeaveBlock)
}

// renewTrees begins the trees anew unless another goroutine has since seen.
func (r *Repo) renewTrees(seen uint32) error {
	r.blocksMu.Lock()
	defer r.blocksMu.Unlock()
	if r.renewals.Load() != seen {
		return nil
	}
	if r.blocks != nil {
		// Others may still read from it. The file goes, so that the next writer begins anew, too: else every reader
		// would make for itself what is damaged.
		r.retired = append(r.retired, r.blocks)
		_ = state.RemoveGeneration(r.fs, filepath.Join(r.dir, "trees"), r.blocks.Generation())
		r.blocks = nil
	}
	r.renewals.Add(1)
	if _, err := r.freshBlocks(); err != nil {
		return fmt.Errorf("make the trees anew: %w", err)
	}
	return nil
}
