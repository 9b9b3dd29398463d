package diff

import "bytes"

// Lines is a content cut into lines by offset. A line ends with its \n, which belongs to it; the last may lack one.
// A carriage return is content like any other byte.
type Lines struct {
	data []byte
	off  []int // where each line begins, then len(data)
}

// Split cuts data, which the result refers to.
func Split(data []byte) Lines {
	var l Lines
	l.Reset(data)
	return l
}

// Reset makes l hold data's lines, in the memory that it already has.
func (l *Lines) Reset(data []byte) {
	// Counting first is one fast pass, and the only allocation is then of the right size.
	if n := bytes.Count(data, newline) + 2; cap(l.off) < n {
		l.off = make([]int, 0, n)
	}
	l.data, l.off = data, append(l.off[:0], 0)
	for at := 0; at < len(data); {
		at = lineEnd(data, at)
		l.off = append(l.off, at)
	}
}

// Len is the number of lines.
func (l *Lines) Len() int { return max(len(l.off)-1, 0) }

// Line returns line i with its terminator.
func (l *Lines) Line(i int) []byte { return l.data[l.off[i]:l.off[i+1]:l.off[i+1]] }

// Off is the byte offset at which line i begins; Off(Len()) is the content's size.
func (l *Lines) Off(i int) int {
	if len(l.off) == 0 {
		return 0
	}
	return l.off[i]
}
