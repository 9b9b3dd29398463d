package ignore

import "strings"

type opKind uint8

const (
	opByte opKind = iota // this byte
	opAny                // any one byte
	opSet                // one byte of a set
	opStar               // any bytes, or none; never two in a row
)

// op is an element of a pattern for one name.
type op struct {
	kind opKind
	ch   byte
	set  *byteSet
}

// glob is a pattern for one name, cut so that most names fail at a comparison of plain bytes.
type glob struct {
	head string // what every match starts with; the whole name if mid is empty
	mid  []op   // what lies between, with no literal byte at its ends
	tail string // what every match ends with
	min  int    // length of the shortest match
}

// newGlob makes a pattern that requires head, then ops, then tail. It does not keep ops.
func newGlob(head string, ops []op, tail string) glob {
	lead := 0
	for lead < len(ops) && ops[lead].kind == opByte {
		lead++
	}
	end := len(ops)
	for end > lead && ops[end-1].kind == opByte {
		end--
	}
	g := glob{head: head + literal(ops[:lead]), tail: literal(ops[end:]) + tail}
	if lead == end {
		g.head, g.tail = g.head+g.tail, ""
	} else {
		g.mid = append([]op(nil), ops[lead:end]...)
	}
	g.min = len(g.head) + len(g.tail)
	for _, o := range g.mid {
		if o.kind != opStar {
			g.min++
		}
	}
	return g
}

func literal(ops []op) string {
	if len(ops) == 0 {
		return ""
	}
	lit := make([]byte, len(ops))
	for i, o := range ops {
		lit[i] = o.ch
	}
	return string(lit)
}

// exact tells whether only one name matches: head.
func (g *glob) exact() bool { return len(g.mid) == 0 }

// affix tells whether all names match that start with head and end with tail, the two not overlapping.
func (g *glob) affix() bool { return len(g.mid) == 1 && g.mid[0].kind == opStar }

func (g *glob) match(name string) bool {
	if len(name) < g.min {
		return false
	}
	if g.exact() {
		return name == g.head
	}
	if !strings.HasPrefix(name, g.head) || !strings.HasSuffix(name, g.tail) {
		return false
	}
	return g.affix() || matchOps(g.mid, name[len(g.head):len(name)-len(g.tail)])
}

// matchOps takes the first place where the ops between two stars fit: the star behind them can cover whatever a later
// place would have covered. So only the last star is ever tried again and the work is at most len(ops)*len(s) steps.
func matchOps(ops []op, s string) bool {
	i, star, mark := 0, -1, 0
	for j := 0; j < len(s); {
		if i < len(ops) {
			if ops[i].kind == opStar {
				star, mark = i, j
				i++
				if i == len(ops) {
					return true
				}
				continue
			}
			if ops[i].fits(s[j]) {
				i++
				j++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(ops) && ops[i].kind == opStar {
		i++
	}
	return i == len(ops)
}

func (o *op) fits(c byte) bool {
	switch o.kind {
	case opByte:
		return o.ch == c
	case opSet:
		return o.set.has(c)
	}
	return true
}

// maxVariants bounds into how many patterns without sets one with sets is taken apart: eight cover names of three
// letters in any case, the most that is common, and cost eight places in a table.
const maxVariants = 8

// variants calls f with patterns that together match what g does, without sets if they are few and small enough:
// names like [Bb]in and *.[oa] are then found by hashing like any other.
func (g *glob) variants(f func(*glob)) {
	product, first := 1, -1
	for i, o := range g.mid {
		if o.kind == opSet {
			if first < 0 {
				first = i
			}
			if product *= o.set.len(); product == 0 {
				return
			}
			if product > maxVariants {
				f(g)
				return
			}
		}
	}
	if first < 0 {
		f(g)
		return
	}
	ops := append([]op(nil), g.mid...)
	for c := range 256 {
		if g.mid[first].set.has(byte(c)) {
			ops[first] = op{kind: opByte, ch: byte(c)}
			one := newGlob(g.head, ops, g.tail)
			one.variants(f)
		}
	}
}
