package repo

import (
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// Moves says, before a version is put, what of its new paths were recorded elsewhere as copies: by the path, where from. Where that
// path is gone in the version, its file moves. Of the others who moved is found by what they hold.
func (im *Importer) Moves(from map[string]string) { im.moves = from }

// moved pairs what was added with what was removed as Moves says, and gives what is left of the first.
func (im *Importer) moved(w *work, added []recorded) []recorded {
	if len(im.moves) == 0 {
		return added
	}
	gone := make(map[string]int, len(w.removed))
	for i := range w.removed {
		gone[w.removed[i].Path] = i
	}
	paired := map[int]bool{}
	var rest []recorded
	for i := range added {
		now := &added[i].now
		k, ok := gone[im.moves[now.path]]
		if !ok || paired[k] || (w.removed[k].Kind == change.Link) != (now.kind == change.Link) {
			rest = append(rest, added[i])
			continue
		}
		w.edited = append(w.edited, edited{w.removed[k], now.path})
		paired[k] = true
	}
	var removed []state.Entry
	for i := range w.removed {
		if !paired[i] {
			removed = append(removed, w.removed[i])
		}
	}
	w.removed = removed
	return rest
}
