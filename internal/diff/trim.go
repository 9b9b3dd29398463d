package diff

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Equal stretches are skipped in steps of this size, where the assembly of bytes.Equal is at its best.
const trimStep = 2048

// commonPrefix returns how many bytes a and b begin with in common.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+trimStep <= n && bytes.Equal(a[i:i+trimStep], b[i:i+trimStep]) {
		i += trimStep
	}
	for i+8 <= n {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// commonSuffix returns how many bytes a and b end with in common.
func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for i >= trimStep && bytes.Equal(a[i-trimStep:i], b[i-trimStep:i]) {
		i -= trimStep
	}
	for i >= 8 {
		if x := binary.LittleEndian.Uint64(a[i-8:]) ^ binary.LittleEndian.Uint64(b[i-8:]); x != 0 {
			return n - i + bits.LeadingZeros64(x)/8
		}
		i -= 8
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}

// trim returns the edges of what differs: a[:start] and b[:start] are the same whole lines, and so are a[endA:] and
// b[endB:].
func trim(a, b []byte) (start, endA, endB int) {
	start = commonPrefix(a, b)
	if start == len(a) && start == len(b) {
		return start, start, start
	}
	start = bytes.LastIndexByte(a[:start], '\n') + 1
	n := commonSuffix(a[start:], b[start:])
	endA, endB = len(a)-n, len(b)-n
	atEdge := func(data []byte, at int) bool { return at == start || data[at-1] == '\n' }
	if n > 0 && !(atEdge(a, endA) && atEdge(b, endB)) {
		n = len(a) - lineEnd(a, endA)
		endA, endB = len(a)-n, len(b)-n
	}
	return start, endA, endB
}
