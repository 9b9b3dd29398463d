package diff

import "strconv"

// Unified says how hunks are written.
type Unified struct {
	Context int      // lines shown around an edit
	Palette *Palette // nil: no colours
	Moved   bool     // give moved blocks the palette's colours for them
}

// AppendEdit appends edit i of edits as a hunk of its own, whose context does not reach its neighbours.
func AppendEdit(dst []byte, a, b []byte, edits []Edit, i int, opt Unified) []byte {
	w := newWriter(dst, a, b, edits[i:i+1], &opt)
	if i > 0 {
		w.before = min(w.before, edits[i].A0-edits[i-1].A1)
	}
	if i+1 < len(edits) {
		w.after = min(w.after, edits[i+1].A0-edits[i].A1)
	}
	return w.write()
}

// AppendUnified appends the hunks of edits in Git's unified format, without file headers. It appends nothing if
// there is no edit, or only blank ones.
func AppendUnified(dst []byte, a, b []byte, edits []Edit, opt Unified) []byte {
	w := newWriter(dst, a, b, edits, &opt)
	if opt.Moved && opt.Palette != nil {
		w.moved.find(a, b, edits)
	}
	return w.write()
}

func (w *writer) write() []byte {
	a, b := w.a, w.b
	for h, ok := w.next(); ok; h, ok = w.next() {
		w.header(&h)
		at := h.bOff0
		for i := range h.edits {
			e := &h.edits[i]
			w.lines(' ', w.pal.Context, b[at:e.BOff0])
			w.changed('-', w.pal.Old, w.pal.OldMoved, a[e.AOff0:e.AOff1], w.moved.a, e.A0)
			w.changed('+', w.pal.New, w.pal.NewMoved, b[e.BOff0:e.BOff1], w.moved.b, e.B0)
			at = e.BOff1
		}
		w.lines(' ', w.pal.Context, b[at:h.bOff1])
	}
	return w.dst
}

// writer writes hunk after hunk.
type writer struct {
	dst     []byte
	a, b    []byte
	rest    []Edit // not yet in a hunk
	context int
	// Lines shown before the first edit of a hunk and after its last: context, unless others are too near that are not shown.
	before, after int
	pal           *Palette
	moved         moved
	// The function line found last, and the offset in a up to which it was looked for.
	function   []byte
	functionTo int
}

func newWriter(dst, a, b []byte, edits []Edit, opt *Unified) *writer {
	pal := opt.Palette
	if pal == nil {
		pal = &plain
	}
	context := max(opt.Context, 0)
	return &writer{dst: dst, a: a, b: b, rest: edits, context: context, before: context, after: context, pal: pal}
}

// hunk is a group of edits with the context around it: lines a0.. of a, na of them, and so for b.
type hunk struct {
	edits               []Edit
	a0, na, b0, nb      int
	aOff0, bOff0, bOff1 int
}

// next takes the next hunk off the rest. An edit that it leaves there is farther away than the context reaches.
func (w *writer) next() (h hunk, ok bool) {
	first := 0
	for first < len(w.rest) && w.rest[first].Blank {
		first++
	}
	if first == len(w.rest) {
		return h, false
	}
	// Blank edits are shown where they lie in the context of others.
	from := first
	for from > 0 && w.rest[from].A0-w.rest[from-1].A1 <= w.context {
		from--
	}
	to := first + 1
	for to < len(w.rest) {
		solid := to
		for solid < len(w.rest) && w.rest[solid].Blank {
			solid++
		}
		if solid < len(w.rest) && w.rest[solid].A0-w.rest[to-1].A1 <= 2*w.context {
			to = solid + 1
		} else if w.rest[to].Blank && w.rest[to].A0-w.rest[to-1].A1 <= w.context {
			to++
		} else {
			break
		}
	}
	h.edits = w.rest[from:to]
	w.rest = w.rest[to:]

	e := &h.edits[0]
	h.a0, h.b0, h.aOff0, h.bOff0 = e.A0, e.B0, e.AOff0, e.BOff0
	for range min(w.before, e.A0) {
		h.a0--
		h.b0--
		h.aOff0 = lineStart(w.a, h.aOff0)
		h.bOff0 = lineStart(w.b, h.bOff0)
	}
	e = &h.edits[len(h.edits)-1]
	h.bOff1 = e.BOff1
	tail := 0
	for ; tail < w.after && h.bOff1 < len(w.b); tail++ {
		h.bOff1 = lineEnd(w.b, h.bOff1)
	}
	h.na, h.nb = e.A1+tail-h.a0, e.B1+tail-h.b0
	return h, true
}

// header writes the line that begins a hunk, with the function that it lies in.
func (w *writer) header(h *hunk) {
	at := w.dst
	colour, reset := w.pal.Hunk, w.pal.Reset
	if colour == "" {
		reset = ""
	}
	at = append(at, colour...)
	at = append(at, "@@ -"...)
	at = appendRange(at, h.a0, h.na)
	at = append(at, " +"...)
	at = appendRange(at, h.b0, h.nb)
	at = append(at, " @@"...)
	at = append(at, reset...)
	if f := w.functionBefore(h.aOff0); len(f) > 0 {
		at = append(at, ' ')
		at = w.pal.paint(at, w.pal.Func, f)
	}
	w.dst = append(at, '\n')
}

// appendRange appends where n lines from line at stand. Lines count from 1, and none are told by the line before.
func appendRange(dst []byte, at, n int) []byte {
	if n > 0 {
		at++
	}
	dst = strconv.AppendInt(dst, int64(at), 10)
	if n != 1 {
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return dst
}

// changed writes deleted or added lines, the first of which has number line in its file.
func (w *writer) changed(sign byte, colour, movedColour string, text []byte, moved []span, line int) {
	for len(text) > 0 {
		n, isMoved := len(text), false
		if len(moved) > 0 {
			n, isMoved = stretch(text, moved, line)
		}
		c := colour
		if isMoved {
			c = movedColour
		}
		w.lines(sign, c, text[:n])
		if n < len(text) {
			line += countLines(text[:n])
		}
		text = text[n:]
	}
}

// lines writes text line by line.
func (w *writer) lines(sign byte, colour string, text []byte) {
	dst := w.dst
	for len(text) > 0 {
		end := lineEnd(text, 0)
		line := text[:end]
		text = text[end:]
		if colour == "" {
			dst = append(dst, sign)
			dst = append(dst, line...)
		} else {
			// The line's end stays outside of the colour, or a terminal may paint the rest of the screen's line.
			body := trimEnd(line)
			dst = append(dst, colour...)
			dst = append(dst, sign)
			dst = append(dst, body...)
			dst = append(dst, w.pal.Reset...)
			dst = append(dst, line[len(body):]...)
		}
		if line[len(line)-1] != '\n' {
			dst = append(dst, '\n')
			dst = w.pal.paint(dst, w.pal.Context, noEnd)
			dst = append(dst, '\n')
		}
	}
	w.dst = dst
}

var noEnd = []byte(`\ No newline at end of file`)

// trimEnd returns line without its \n or \r\n.
func trimEnd(line []byte) []byte {
	n := len(line)
	if n > 0 && line[n-1] == '\n' {
		n--
		if n > 0 && line[n-1] == '\r' {
			n--
		}
	}
	return line[:n]
}
