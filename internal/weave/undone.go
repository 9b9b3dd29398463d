package weave

// UndoneBy lists, ascending, the changes that touch the file and undo change c.
func (w *Weave) UndoneBy(c uint32) (out []uint32) {
	for i := range w.acts {
		if u := w.acts[i].undo; u != nil && *u == c {
			out = append(out, w.Sources[i].Change)
		}
	}
	return out
}
