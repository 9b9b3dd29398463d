// Package ignore decides which names of a directory are ignored, by the rules of Git's ignore files. It is given the
// files' bytes and single names, never the file system, and knows nothing of which files are tracked.
package ignore

import "strings"

// The names of the files that hold rules, in the order in which a directory's own are read: a later one overrides.
const (
	GitFile = ".gitignore"
	OxyFile = ".oxyignore"
)

// MaxFileSize is the most bytes an ignore file may have; a reader refuses a larger one. The largest that people write
// by hand have some hundred KiB, and compiled rules take up to 60 times the size of their text.
const MaxFileSize = 4 << 20

// Rules are the compiled patterns of one ignore file. They never change once made and may be shared by goroutines.
//
// A pattern that can be decided by an entry's own name, in any directory, is in anywhere. Every other one is bound to
// the file's directory and is cut into steps, one for each name on the path from there: a Stack takes them one by one
// on its way down, so that no path is ever put together.
type Rules struct {
	source   string
	patterns []pattern // those that can match something, in the file's order; a rank is an index here plus one
	anywhere table
	here     *table // what entries of the file's own directory match by bound patterns, nil if nothing
	steps    []step
	start    []uint32 // the steps that await a name in the file's own directory, ascending
}

// pattern is a line of an ignore file as it is shown to people and what does not depend on the name it matches.
type pattern struct {
	text    string // without the blanks that do not count
	line    int32  // from 1
	negated bool
	dirOnly bool
}

const byteOrderMark = "\ufeff"

// Parse compiles the text of an ignore file. Every text is valid: a pattern that is malformed matches nothing, as in
// Git. It keeps no reference to data.
func Parse(data []byte) *Rules {
	r := &Rules{}
	rest := strings.TrimPrefix(string(data), byteOrderMark)
	for line := int32(1); rest != ""; line++ {
		var text string
		text, rest, _ = strings.Cut(rest, "\n")
		if text == "" || text[0] == '#' {
			continue
		}
		text = strings.TrimSuffix(text, "\r")
		// Git reads lines as C strings.
		text, _, _ = strings.Cut(text, "\x00")
		r.add(trimBlanks(text), line)
	}
	r.begin()
	return r
}

// trimBlanks cuts the spaces at the end, but not one that a backslash protects. Other white space counts.
func trimBlanks(text string) string {
	end := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return text[:min(end, len(text))]
}

// add compiles one pattern and files it by what has to be looked at to decide it.
func (r *Rules) add(text string, line int32) {
	body, negated := strings.CutPrefix(text, "!")
	body, dirOnly := strings.CutSuffix(body, "/")
	if body == "" {
		return
	}
	ways := compile(body)
	if len(ways) == 0 {
		return
	}
	r.patterns = append(r.patterns, pattern{text: text, line: line, negated: negated, dirOnly: dirOnly})
	rank := int32(len(r.patterns))
	for _, way := range ways {
		switch {
		case len(way) == 2 && way[0].kind == anyDepth && way[1].kind == oneName:
			r.anywhere.add(&way[1].name, rank, dirOnly)
		case len(way) == 1 && way[0].kind == oneName:
			if r.here == nil {
				r.here = &table{}
			}
			r.here.add(&way[0].name, rank, dirOnly)
		default:
			r.start = follow(r.start, uint32(len(r.steps)), way[0].kind)
			way[len(way)-1].last = true
			for i := range way {
				way[i].rank = rank
			}
			r.steps = append(r.steps, way...)
		}
	}
}

// begin adds to here what the steps that already wait decide in the file's own directory.
func (r *Rules) begin() {
	if t := r.decided(r.start, r.here); t != nil {
		r.here = t
	}
}

// WithSource returns the same rules under the name of the file they come from, as Explain reports it.
func (r *Rules) WithSource(name string) *Rules {
	named := *r
	named.source = name
	return &named
}

// Empty tells whether no pattern can match anything. Nil rules are empty.
func (r *Rules) Empty() bool {
	return r == nil || len(r.patterns) == 0
}
