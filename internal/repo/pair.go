package repo

import (
	"errors"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// similar is how alike, in percent, a removed and an added file are to be taken for one that moved; as in Git.
const similar = 50

// pair finds added files that are removed ones moved, and gives the added ones that are left.
func (w *work) pair(added []recorded) ([]recorded, error) {
	if len(w.removed) == 0 || len(added) == 0 {
		return added, nil
	}
	r := w.t.r
	var failed error // a text that cannot be read must not make a move into a removal
	from := make([]diff.Candidate, len(w.removed))
	for i := range w.removed {
		e := &w.removed[i]
		from[i] = diff.Candidate{Name: e.Path, Hash: e.Hash, Size: int64(e.Size), Load: func() diff.Fingerprint {
			return r.fingerprint(e, &failed)
		}}
	}
	to := make([]diff.Candidate, len(added))
	for i := range added {
		now := &added[i].now
		to[i] = diff.Candidate{Name: now.path, Hash: now.hash, Size: int64(now.size), Load: func() diff.Fingerprint {
			if now.kind != change.Text {
				return diff.Fingerprint{}
			}
			if data := now.data; data != nil {
				return diff.NewFingerprint(data)
			}
			return w.fingerprintOnDisk(now.path, &failed)
		}}
	}
	paired := map[int]bool{}
	gone := map[int]bool{}
	pairs := diff.Renames(from, to, similar)
	if failed != nil {
		return nil, failed
	}
	for _, p := range pairs {
		e, now := &w.removed[p.Removed], &added[p.Added].now
		if (e.Kind == change.Link) != (now.kind == change.Link) || now.size == 0 {
			continue
		}
		w.edited = append(w.edited, edited{*e, now.path})
		paired[p.Added], gone[p.Removed] = true, true
	}
	var restAdded []recorded
	for i := range added {
		if !paired[i] {
			restAdded = append(restAdded, added[i])
		}
	}
	var restRemoved []state.Entry
	for i := range w.removed {
		if !gone[i] {
			restRemoved = append(restRemoved, w.removed[i])
		}
	}
	w.removed = restRemoved
	return restAdded, nil
}

func (r *Repo) fingerprint(e *state.Entry, failed *error) diff.Fingerprint {
	if e.Kind != change.Text {
		return diff.Fingerprint{}
	}
	b, err := r.content(nil, e)
	if err != nil {
		*failed = errors.Join(*failed, err)
		return diff.Fingerprint{}
	}
	return diff.NewFingerprint(b)
}

func (w *work) fingerprintOnDisk(p string, failed *error) diff.Fingerprint {
	root, err := w.t.r.openRoot()
	if err != nil {
		*failed = errors.Join(*failed, err)
		return diff.Fingerprint{}
	}
	defer root.Close()
	b, _, err := worktree.ReadPath(root, w.t.r.manifest, p, nil, change.MaxText)
	if err != nil {
		*failed = errors.Join(*failed, err)
		return diff.Fingerprint{}
	}
	return diff.NewFingerprint(b)
}
