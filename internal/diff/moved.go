package diff

import "hash/maphash"

// span is a range of line numbers.
type span struct{ from, to int }

// moved finds blocks that are deleted in one place and added in another.
type moved struct {
	a, b []span // ascending
}

const (
	// A block needs so many lines and letters or digits, or every lone brace would count as moved.
	minMovedLines = 3
	minMovedText  = 20
	// Places of equal deleted lines that are tried for one added line.
	maxMovedTries = 16
)

// deleted is a line that edits delete.
type deleted struct {
	text []byte
	line int
	next int32 // the one before it with the same hash, or -1
	used bool
}

func (m *moved) find(a, b []byte, edits []Edit) {
	seed := maphash.MakeSeed()
	var dels []deleted
	last := make(map[uint64]int32)
	for i := range edits {
		e := &edits[i]
		line := e.A0
		for at := e.AOff0; at < e.AOff1; line++ {
			end := lineEnd(a, at)
			h := maphash.Bytes(seed, a[at:end])
			before, ok := last[h]
			if !ok {
				before = -1
			}
			last[h] = int32(len(dels))
			dels = append(dels, deleted{text: a[at:end], line: line, next: before})
			at = end
		}
	}
	for i := range edits {
		e := &edits[i]
		line := e.B0
		for at := e.BOff0; at < e.BOff1; {
			best, bestLen, bestEnd := 0, 0, 0
			from, ok := last[maphash.Bytes(seed, b[at:lineEnd(b, at)])]
			for tries := 0; ok && from >= 0 && tries < maxMovedTries; tries++ {
				if n, end := common(dels[from:], b[:e.BOff1], at); n > bestLen {
					best, bestLen, bestEnd = int(from), n, end
				}
				from = dels[from].next
			}
			if bestLen < minMovedLines || letters(b[at:bestEnd]) < minMovedText {
				at = lineEnd(b, at)
				line++
				continue
			}
			for k := best; k < best+bestLen; k++ {
				dels[k].used = true
			}
			m.b = append(m.b, span{line, line + bestLen})
			at = bestEnd
			line += bestLen
		}
	}
	for i := range dels {
		if !dels[i].used {
			continue
		}
		if n := len(m.a); n > 0 && m.a[n-1].to == dels[i].line {
			m.a[n-1].to++
		} else {
			m.a = append(m.a, span{dels[i].line, dels[i].line + 1})
		}
	}
}

// common returns how many unused deleted lines, adjacent in a, equal the lines of b from at, and where they end.
func common(dels []deleted, b []byte, at int) (n, end int) {
	for end = at; n < len(dels) && end < len(b) && !dels[n].used && dels[n].line == dels[0].line+n; n++ {
		next := lineEnd(b, end)
		if string(b[end:next]) != string(dels[n].text) {
			break
		}
		end = next
	}
	return n, end
}

// letters counts what is neither space nor punctuation.
func letters(text []byte) (n int) {
	for _, c := range text {
		if isWord(c) {
			n++
		}
	}
	return n
}

// stretch returns how many bytes of text, which begins at line, share one fate, and whether they are moved.
func stretch(text []byte, moved []span, line int) (n int, isMoved bool) {
	i := 0
	for i < len(moved) && moved[i].to <= line {
		i++
	}
	if i == len(moved) {
		return len(text), false
	}
	to := moved[i].from
	if isMoved = to <= line; isMoved {
		to = moved[i].to
	}
	for ; line < to && n < len(text); line++ {
		n = lineEnd(text, n)
	}
	return n, isMoved
}
