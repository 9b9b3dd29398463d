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
	w.d.compare(false)
	w.d.collect(0)
	w.toLineEnds(w.d.edits)
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

// toLineEnds moves what is only removed or only added so that it ends where a line does, if it can be told so: then
// whole lines go and come as such.
func (w *wordDiffer) toLineEnds(edits []Edit) {
	end, ok := w.ids["\n"]
	if !ok {
		return
	}
	a, b := &w.d.a, &w.d.b
	floor := -1 // in a, the end of the edit before; the text's edges may be touched, other edits not
	for i := range edits {
		e := &edits[i]
		ceil := len(a.id) + 1
		if i+1 < len(edits) {
			ceil = edits[i+1].A0
		}
		if !e.both() {
			by := 0
			if e.A0 < e.A1 {
				by = toEnd(a.id, e.A0, e.A1, e.A0-floor, ceil-e.A1, end)
			} else {
				by = toEnd(b.id, e.B0, e.B1, e.A0-floor, ceil-e.A1, end)
			}
			*e = Edit{
				A0: e.A0 + by, A1: e.A1 + by, B0: e.B0 + by, B1: e.B1 + by,
				AOff0: a.off[e.A0+by], AOff1: a.off[e.A1+by], BOff0: b.off[e.B0+by], BOff1: b.off[e.B1+by],
			}
		}
		floor = e.A1
	}
}

// toEnd returns by how much the run from..to of ids may be moved so that its last is end: at most less than up to the
// left and down to the right, and 0 if it cannot.
func toEnd(ids []int32, from, to, up, down int, end int32) int {
	for k := 0; k < up; k++ {
		if ids[to-k-1] == end {
			return -k
		}
		if k == from || ids[from-k-1] != ids[to-k-1] {
			break
		}
	}
	for k := 0; k < down-1; k++ {
		if ids[from+k] != ids[to+k] {
			break
		}
		if ids[to+k] == end {
			return k + 1
		}
	}
	return 0
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
