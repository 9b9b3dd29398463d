package diff

// The weights by which the places of an edit are compared. A place is good if the text can be cut there: before a
// line of little indent, after a blank line, not before what closes or opens a block.
const (
	costColumn  = 4   // for each column of indent
	costBracket = 3   // less than a column: it decides between lines of one indent
	costBlank   = 6   // the cut is above a blank line ...
	gainBlank   = -10 // ... or below one; both together are less than a level of indent is in most texts
	gainEnd     = -4

	maxIndent = 200 // columns: beyond, lines are data and not structure
	maxBlanks = 20  // blank lines that are looked past
	maxPlaces = 100 // places that are compared
)

// settle moves e, which is at its lowest place, up to the best of its places, which are room lines upwards. Of equal
// places it takes the lowest.
func (s *slider) settle(e *Edit, room int) {
	if room == 0 {
		return
	}
	// A stretch of n lines moved by n shows the same lines as before.
	room = min(room, maxPlaces, max(e.A1-e.A0, e.B1-e.B0))
	best, bestCost, at := 0, s.placeCost(e), *e
	for i := 1; i <= room; i++ {
		s.up(&at)
		if cost := s.placeCost(&at); cost < bestCost {
			best, bestCost = i, cost
		}
	}
	for range best {
		s.up(e)
	}
}

func (s *slider) placeCost(e *Edit) int {
	if e.A0 == e.A1 {
		return cutCost(s.b, e.BOff0) + cutCost(s.b, e.BOff1)
	}
	return cutCost(s.a, e.AOff0) + cutCost(s.a, e.AOff1)
}

// cutCost tells how ill it reads to cut data at the line edge at.
func cutCost(data []byte, at int) int {
	if at == len(data) {
		return gainEnd
	}
	cost := 0
	if at > 0 && isBlank(data[lineStart(data, at):at]) {
		cost = gainBlank
	}
	for range maxBlanks {
		next := lineEnd(data, at)
		columns, first := indent(data[at:next])
		if columns >= 0 {
			cost += costColumn * columns
			switch first {
			case '}', ')', ']', '{':
				cost += costBracket
			}
			return cost
		}
		cost = costBlank
		if at = next; at == len(data) {
			break
		}
	}
	return cost
}

// indent returns the column at which line's text begins, tabs being 8 wide, and its first byte. A blank line has
// indent -1.
func indent(line []byte) (columns int, first byte) {
	for _, c := range line {
		switch {
		case c == '\t':
			columns += 8 - columns%8
		case !isSpace(c):
			return min(columns, maxIndent), c
		default:
			columns++
		}
		if columns >= maxIndent {
			return maxIndent, 'x'
		}
	}
	return -1, 0
}
