package weave

import "sort"

// lines divides changes into lines, each change of a line in the past of the next one. So what another change knows of them is
// told by how far its past goes along each line: a few questions, however long a line is.
type lines struct {
	h  History
	of [][]uint32
	at map[uint32]onLine
}

type onLine struct{ line, index int32 }

// linesOf divides changes, ascending.
func linesOf(changes []uint32, h History) lines {
	s := lines{h: h, at: make(map[uint32]onLine, len(changes))}
	for _, c := range changes {
		k := 0
		for k < len(s.of) && !h.Reaches(c, s.of[k][len(s.of[k])-1]) {
			k++
		}
		if k == len(s.of) {
			s.of = append(s.of, nil)
		}
		s.at[c] = onLine{int32(k), int32(len(s.of[k]))}
		s.of[k] = append(s.of[k], c)
	}
	return s
}

// past tells how much of each line a change is, or has in its past.
func (s *lines) past(c uint32) []int {
	out := make([]int, len(s.of))
	for k, line := range s.of {
		if at, ok := s.at[c]; ok && int(at.line) == k {
			out[k] = int(at.index) + 1
			continue
		}
		out[k] = sort.Search(len(line), func(i int) bool { return line[i] > c || !s.h.Reaches(c, line[i]) })
	}
	return out
}

// within reports whether a change of the lines is in a past as past gives it.
func (s *lines) within(past []int, c uint32) bool {
	at := s.at[c]
	return past[at.line] > int(at.index)
}
