package diff

// AppendWordDiff appends the hunks of edits with the words that differ marked inside the lines, in the way of Git's
// plain word diff: [-removed-]{+added+}, and with a palette in colours too.
func AppendWordDiff(dst []byte, a, b []byte, edits []Edit, opt Unified) []byte {
	w := newWriter(dst, a, b, edits, &opt)
	var words wordDiffer
	for h, ok := w.next(); ok; h, ok = w.next() {
		w.header(&h)
		at := h.bOff0
		for i := range h.edits {
			e := &h.edits[i]
			w.plainLines(b[at:e.BOff0])
			words.compare(a[e.AOff0:e.AOff1], b[e.BOff0:e.BOff1])
			w.words(&words)
			at = e.BOff1
		}
		w.plainLines(b[at:h.bOff1])
	}
	return w.dst
}

// plainLines writes text as it is, ended.
func (w *writer) plainLines(text []byte) {
	for len(text) > 0 {
		end := lineEnd(text, 0)
		body := trimEnd(text[:end])
		w.dst = w.pal.paint(w.dst, w.pal.Context, body)
		w.dst = append(w.dst, '\n')
		text = text[end:]
	}
}

// words writes one edit. It ends with a line's end, whatever was removed or added there.
func (w *writer) words(d *wordDiffer) {
	at := 0
	for _, e := range d.edits {
		w.dst = append(w.dst, d.b[at:e.BOff0]...)
		w.marked("[-", "-]", w.pal.Old, d.a[e.AOff0:e.AOff1])
		w.marked("{+", "+}", w.pal.New, d.b[e.BOff0:e.BOff1])
		at = e.BOff1
	}
	w.dst = append(w.dst, d.b[at:]...)
	if n := len(w.dst); n > 0 && w.dst[n-1] != '\n' {
		w.dst = append(w.dst, '\n')
	}
}

// marked writes text between marks, each line on its own.
func (w *writer) marked(open, end, colour string, text []byte) {
	for len(text) > 0 {
		n := lineEnd(text, 0)
		if body := trimEnd(text[:n]); len(body) > 0 {
			w.dst = append(w.dst, colour...)
			w.dst = append(w.dst, open...)
			w.dst = append(w.dst, body...)
			w.dst = append(w.dst, end...)
			if colour != "" {
				w.dst = append(w.dst, w.pal.Reset...)
			}
		}
		if text[n-1] == '\n' {
			w.dst = append(w.dst, '\n')
		}
		text = text[n:]
	}
}
