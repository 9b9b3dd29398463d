package diff

// isWord tells the bytes that words are made of: letters, digits, _ and all of UTF-8 beyond ASCII.
func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// tokenEnd returns the end of the token that begins at at: a word, a run of space inside a line, a line's end, or a
// single other byte.
func tokenEnd(text []byte, at int) int {
	class := func(c byte) int {
		switch {
		case isWord(c):
			return 1
		case c != '\n' && isSpace(c):
			return 2
		}
		return 0
	}
	first := class(text[at])
	at++
	for first != 0 && at < len(text) && class(text[at]) == first {
		at++
	}
	return at
}

// wordDiffer compares two short texts token by token: its edits tell tokens where others tell lines.
type wordDiffer struct {
	d     Differ
	ids   map[string]int32
	a, b  []byte
	edits []Edit
}

func (w *wordDiffer) compare(a, b []byte) {
	if w.ids == nil {
		w.ids = make(map[string]int32)
	}
	clear(w.ids)
	w.a, w.b = a, b
	w.number(&w.d.a, a)
	w.number(&w.d.b, b)
	// From here on numbers are compared, whatever they stand for.
	w.d.in.first = grow(w.d.in.first, len(w.ids))
	w.d.in.count = grow(w.d.in.count, len(w.ids))
	w.d.compare(&Options{})
	w.d.edits = w.d.edits[:0]
	w.d.collect(0)
	w.edits = w.bridge(w.d.edits)
}

// grow returns n zeroes, in s's memory if it suffices.
func grow(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

func (w *wordDiffer) number(s *side, text []byte) {
	s.off, s.id = s.off[:0], s.id[:0]
	for at := 0; at < len(text); {
		end := tokenEnd(text, at)
		id, ok := w.ids[string(text[at:end])]
		if !ok {
			id = int32(len(w.ids))
			w.ids[string(text[at:end])] = id
		}
		s.off = append(s.off, at)
		s.id = append(s.id, id)
		at = end
	}
	s.off = append(s.off, len(text))
}

// bridge joins edits that only space inside a line keeps apart: "two words" for "both terms" is one change.
func (w *wordDiffer) bridge(edits []Edit) []Edit {
	out := edits[:0]
	for _, e := range edits {
		if n := len(out); n > 0 && e.A0-out[n-1].A1 == 1 && out[n-1].both() && e.both() {
			if gap := w.b[out[n-1].BOff1:e.BOff0]; isBlank(gap) && gap[0] != '\n' {
				out[n-1] = join(out[n-1], e)
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

func (e *Edit) both() bool { return e.A0 < e.A1 && e.B0 < e.B1 }
