package ignore

import "strings"

type stepKind uint8

const (
	oneName  stepKind = iota // a name that matches a glob
	anyDepth                 // any number of names, or none; another step follows
	allBelow                 // one name or more, the last of which is the entry itself
)

// step is one part of a pattern that is bound to a directory. The steps of a pattern lie side by side in its Rules.
type step struct {
	name glob // for oneName
	rank int32
	kind stepKind
	last bool // the pattern ends here
}

// special are the bytes that end the literal start of a pattern.
const special = `*?[\`

// maxName is the longest name that a pattern is kept for, well above what any file system allows (255 bytes, or 255
// UTF-16 units).
const maxName = 4096

// compile returns the ways to match body, a pattern without its '!' and its last slash: none if nothing can match it,
// two for the few patterns of which Git has two readings.
func compile(body string) [][]step {
	c := compiler{text: body}
	if !strings.Contains(body, "/") {
		// As if it began with "**/", but here a run of stars is a star wherever it stands.
		c.steps = append(c.steps, step{kind: anyDepth})
		c.wild = -1
		c.run(0)
		return c.ways
	}
	c.text = strings.TrimPrefix(body, "/")
	c.wild = strings.IndexAny(c.text, special)
	c.run(0)
	return c.ways
}

type compiler struct {
	text  string
	wild  int    // where the literal start ends; Git hands only the rest to its matcher
	ops   []op   // of the name that is being read
	size  int    // how many of them are no stars
	steps []step // before that name
	ways  [][]step
}

// run reads the text from i on and adds a way unless no path can match it.
func (c *compiler) run(i int) {
	for i < len(c.text) {
		var ok bool
		switch c.text[i] {
		case '/':
			i, ok = i+1, c.endName()
		case '*':
			end := i + 1
			for end < len(c.text) && c.text[end] == '*' {
				end++
			}
			if c.deep(i, end) {
				i, ok = c.descend(end)
			} else {
				c.star()
				i, ok = end, true
			}
		default:
			i, ok = c.one(i)
		}
		if !ok {
			return
		}
	}
	if n := len(c.steps); n > 0 && c.steps[n-1].kind == allBelow && len(c.ops) == 0 || c.endName() {
		c.ways = append(c.ways, c.steps)
	}
}

// one reads an element that stands for one byte.
func (c *compiler) one(i int) (next int, ok bool) {
	o := op{kind: opByte, ch: c.text[i]}
	next = i + 1
	switch o.ch {
	case '?':
		o.kind = opAny
	case '[':
		set, end, ok := bracket(c.text, i)
		if !ok {
			return 0, false
		}
		o.kind, o.set, next = opSet, &set, end
	case '\\':
		if next == len(c.text) {
			return 0, false
		}
		o.ch, next = c.text[next], next+1
		if o.ch == '/' {
			return next, c.endName()
		}
	}
	c.ops = append(c.ops, o)
	c.size++
	return next, c.size <= maxName
}

func (c *compiler) star() {
	if n := len(c.ops); n == 0 || c.ops[n-1].kind != opStar {
		c.ops = append(c.ops, op{kind: opStar})
	}
}

// endName ends a name; an empty one matches nothing.
func (c *compiler) endName() bool {
	if len(c.ops) == 0 {
		return false
	}
	c.steps = append(c.steps, step{kind: oneName, name: newGlob("", c.ops, "")})
	c.ops, c.size = c.ops[:0], 0
	return true
}

// deep tells whether the stars from i to end cross slashes: two or more that a slash, the start or the end of the
// pattern bounds on both sides. For Git the pattern starts behind its literal part, so that in a/b**/c they do.
func (c *compiler) deep(i, end int) bool {
	left := i == c.wild || i > 0 && c.text[i-1] == '/'
	rest := c.text[end:]
	return end-i > 1 && c.wild >= 0 && left && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
}

// descend reads on behind stars that cross slashes and end at end. If a name has begun before them, as in a/b**/c,
// they go on with it as well as ending it: that matches a/bc, a/bx/c and a/bx/y/c.
func (c *compiler) descend(end int) (next int, ok bool) {
	rest := c.text[end:]
	begun := len(c.ops) > 0
	switch {
	case rest == "":
		if begun {
			c.star()
			steps := append([]step(nil), c.steps...)
			c.endName()
			c.ways = append(c.ways, c.steps)
			c.steps = append(steps, c.steps[len(c.steps)-1])
		}
		c.addStep(allBelow)
		return end, true
	case rest[0] == '\\':
		// Only a plain slash lets them stand for nothing at all.
		c.star()
		c.endName()
		c.addStep(anyDepth)
		return end + 2, true
	}
	next = end + 1
	if begun {
		// More of the same adds nothing, but each would double the ways.
		for again := skipDeep(c.text, next); again > next; again = skipDeep(c.text, next) {
			next = again
		}
		on := compiler{text: c.text, wild: c.wild, size: c.size, ways: c.ways}
		on.ops = append(on.ops, c.ops...)
		on.steps = append(on.steps, c.steps...)
		on.run(next)
		c.ways = on.ways
		c.star()
		c.endName()
	}
	c.addStep(anyDepth)
	return next, true
}

// skipDeep returns the index behind stars and a slash at i, or i if they are not there.
func skipDeep(text string, i int) int {
	end := i
	for end < len(text) && text[end] == '*' {
		end++
	}
	if end-i > 1 && end < len(text) && text[end] == '/' {
		return end + 1
	}
	return i
}

// addStep adds a step of unknown depth; two in a row are one.
func (c *compiler) addStep(kind stepKind) {
	if n := len(c.steps); n > 0 && c.steps[n-1].kind == anyDepth {
		c.steps = c.steps[:n-1]
	}
	c.steps = append(c.steps, step{kind: kind})
}
