package diff

import (
	"slices"

	"github.com/zeebo/xxh3"
)

// maxChunk cuts long lines, so that a content without line ends has pieces to compare too.
const maxChunk = 64

// Fingerprint is a content as the multiset of its lines' hashes, each with the bytes it stands for. Two contents are
// compared by it in one pass. The zero value is the fingerprint of nothing, and resembles nothing.
type Fingerprint struct {
	// Ascending; the upper half is a chunk's hash, the lower how many bytes such chunks have in all, at most 4 GiB.
	chunks []uint64
	size   int64
}

// NewFingerprint reads data once.
func NewFingerprint(data []byte) Fingerprint {
	f := Fingerprint{size: int64(len(data)), chunks: make([]uint64, 0, len(data)/24+1)}
	for len(data) > 0 {
		n := lineEnd(data[:min(len(data), maxChunk)], 0)
		f.chunks = append(f.chunks, xxh3.Hash(data[:n])>>32<<32|uint64(n))
		data = data[n:]
	}
	slices.Sort(f.chunks)
	kept := f.chunks[:0]
	for _, c := range f.chunks {
		if n := len(kept); n > 0 && kept[n-1]>>32 == c>>32 {
			if sum := kept[n-1] + uint64(uint32(c)); sum>>32 == c>>32 {
				kept[n-1] = sum
			}
			continue
		}
		kept = append(kept, c)
	}
	f.chunks = slices.Clone(kept)
	return f
}

// Similarity is how much of the larger content the other has too, in percent; 100 is for equal chunks only.
func (f Fingerprint) Similarity(g Fingerprint) int {
	largest := max(f.size, g.size)
	if largest == 0 {
		return 0
	}
	var shared int64
	x, y := f.chunks, g.chunks
	for len(x) > 0 && len(y) > 0 {
		switch hx, hy := x[0]>>32, y[0]>>32; {
		case hx < hy:
			x = x[1:]
		case hx > hy:
			y = y[1:]
		default:
			shared += int64(min(uint32(x[0]), uint32(y[0])))
			x, y = x[1:], y[1:]
		}
	}
	return int(shared * 100 / largest)
}

// Similarity is how much of the larger of two contents the other has too, in percent. Nothing resembles nothing.
func Similarity(a, b []byte) int { return NewFingerprint(a).Similarity(NewFingerprint(b)) }
