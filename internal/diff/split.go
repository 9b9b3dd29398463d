package diff

import "bytes"

var newline = []byte{'\n'}

// lineEnd returns the offset just past the line that at lies in.
func lineEnd(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(data)
}

// lineStart returns where the line that ends at end begins; end is past 0 and on a line's edge.
func lineStart(data []byte, end int) int {
	return bytes.LastIndexByte(data[:end-1], '\n') + 1
}
