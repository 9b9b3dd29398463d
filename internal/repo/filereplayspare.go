package repo

import "math/bits"

// spareTexts is room for texts that is used again: else a proof of a long history takes new memory for each version of each file, and
// that costs more than to make what lies in it.
type spareTexts struct {
	step  int        // under way, from 1
	left  []leftText // in order of steps
	sizes [4 * bits.UintSize][][]byte
	bytes int // in sizes
}

// leftText is a text that nothing stands upon since a step.
type leftText struct {
	step int
	text []byte
}

const (
	// mostSpare is how many bytes are kept to be used again.
	mostSpare = 32 << 20
	// mostLeft is how many texts wait for their step to be passed, as where nobody says so.
	mostLeft = 1 << 12
)

// turn begins a step. Texts of steps that are passed may be written over.
func (s *spareTexts) turn(passed int) {
	s.step++
	n := 0
	for ; n < len(s.left) && s.left[n].step <= passed; n++ {
		b := s.left[n].text
		s.left[n].text = nil
		if s.bytes+cap(b) > mostSpare {
			continue
		}
		s.bytes += cap(b)
		k := sizeClass(cap(b)+1) - 1 // the largest that it has room for
		s.sizes[k] = append(s.sizes[k], b[:0])
	}
	s.left = append(s.left[:0], s.left[n:]...)
}

// leave says that a text is not stood upon any more.
func (s *spareTexts) leave(b []byte) {
	if cap(b) > 0 && len(s.left) < mostLeft {
		s.left = append(s.left, leftText{s.step, b})
	}
}

// take gives room for a text.
func (s *spareTexts) take(size int) []byte {
	if size <= 0 {
		return nil
	}
	k := sizeClass(size)
	for _, k := range [2]int{k, k + 1} {
		if n := len(s.sizes[k]); n > 0 {
			b := s.sizes[k][n-1]
			s.sizes[k] = s.sizes[k][:n-1]
			s.bytes -= cap(b)
			return b
		}
	}
	return make([]byte, 0, classSize(k))
}

// sizeClass is the least class whose texts have room for so many bytes. There are four to each power of two: 4, 5, 6, 7, 8, 10, 12, 14, 16.
func sizeClass(n int) int {
	if n <= 4 {
		return 0
	}
	e := bits.Len(uint(n-1)) - 3
	return 4*e + (n-1)>>e - 3
}

// classSize is how many bytes there is room for in a class.
func classSize(k int) int { return (4 + k%4) << (k / 4) }
