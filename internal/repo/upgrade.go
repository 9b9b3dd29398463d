package repo

import (
	"errors"

	"github.com/oxy-vcs/oxy/internal/store"
)

// Upgrade brings the repository to the newest format, which an older oxy refuses, and alters nothing that is there. It tells
// from which it came, and which it has now.
func (r *Repo) Upgrade() (from, to int, err error) {
	from, err = r.store.Upgrade(waitForLock)
	switch {
	case err == nil:
		return from, r.store.Format(), nil
	case errors.Is(err, store.ErrLocked) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrRenumbered):
		return 0, 0, storeError(err)
	}
	return 0, 0, fileError("upgrade the repository", err)
}
