package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// maxBraces bounds what one glob's braces may become: each pair multiplies it.
const maxBraces = 256

// TranslateIgnore makes of a .hgignore the lines of an .oxyignore that ignores the same. What cannot be said there is told by line.
func TranslateIgnore(text []byte) (out []byte, left []Left) {
	syntax := "regexp"
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		s := strings.TrimRight(uncomment(string(raw)), " \t\r\n")
		if s == "" {
			continue
		}
		if name, ok := strings.CutPrefix(s, "syntax:"); ok {
			syntax = strings.TrimSpace(name)
			continue
		}
		kind := syntax
		for _, k := range []string{"re", "regexp", "relre", "glob", "relglob", "rootglob"} {
			if rest, ok := strings.CutPrefix(s, k+":"); ok {
				kind, s = k, rest
				break
			}
		}
		var lines []string
		var err error
		switch kind {
		case "re", "regexp", "relre":
			lines, err = fromRegexp(s)
		case "glob", "relglob":
			lines, err = fromGlob(s, false)
		case "rootglob":
			lines, err = fromGlob(s, true)
		default:
			err = fmt.Errorf("syntax %q has no counterpart", kind)
		}
		if err != nil {
			left = append(left, Left{fmt.Sprintf(".hgignore, line %d: %s", n, s), err})
			continue
		}
		for _, l := range lines {
			out = append(append(out, l...), '\n')
		}
	}
	return out, left
}

// uncomment cuts a line at a "#" that no backslash protects.
func uncomment(s string) string {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '#':
			return s[:i]
		}
	}
	return s
}

// fromGlob translates a glob. Mercurial's match paths at any depth, ours only names do.
func fromGlob(s string, root bool) ([]string, error) {
	all, err := braces(s)
	if err != nil {
		return nil, err
	}
	for i, g := range all {
		parts := strings.Split(strings.Trim(g, "/"), "/")
		var made []string
		for _, p := range parts {
			if end, ok := strings.CutPrefix(p, "**"); ok && end != "" && !strings.Contains(end, "**") {
				made = append(made, "**", "*"+end) // deep stars stand alone here
				continue
			}
			if p != "**" && strings.Contains(p, "**") {
				return nil, errors.New("** within a name has no counterpart")
			}
			made = append(made, p)
		}
		g = strings.Join(made, "/")
		switch {
		case root:
			g = "/" + g
		case len(made) > 1 && made[0] != "**":
			g = "**/" + g
		}
		all[i] = protect(g)
	}
	return all, nil
}

// protect has a pattern not begin like a comment or an exception.
func protect(g string) string {
	if g != "" && (g[0] == '!' || g[0] == '#') {
		return `\` + g
	}
	return g
}

// braces writes out what stands in braces.
func braces(s string) ([]string, error) {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return []string{s}, nil
	}
	end := strings.IndexByte(s[open:], '}')
	if end < 0 || strings.IndexByte(s[open+1:open+end], '{') >= 0 {
		return nil, errors.New("braces in braces, or without an end")
	}
	rests, err := braces(s[open+end+1:])
	if err != nil {
		return nil, err
	}
	var all []string
	for _, word := range strings.Split(s[open+1:open+end], ",") {
		for _, rest := range rests {
			if all = append(all, s[:open]+word+rest); len(all) > maxBraces {
				return nil, errors.New("its braces stand for too many")
			}
		}
	}
	return all, nil
}

// fromRegexp translates a regular expression of literal text, anchored or not at either end. One that is not matches within a path.
func fromRegexp(s string) ([]string, error) {
	anchored, ended, anywhere := false, false, false
	for _, p := range []string{"(^|/)", "(?:^|/)", "(|.*/)"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			s, anywhere = rest, true
		}
	}
	if rest, ok := strings.CutPrefix(s, "^"); ok && !anywhere {
		s, anchored = rest, true
	}
	for _, p := range []string{"($|/)", "(/|$)", "(?:/|$)"} {
		if rest, ok := strings.CutSuffix(s, p); ok {
			s, ended = rest, true
		}
	}
	if rest, ok := strings.CutSuffix(s, "$"); ok && !strings.HasSuffix(rest, `\`) {
		s, ended = rest, true
	}
	if rest, ok := strings.CutPrefix(s, ".*"); ok {
		s, anchored, anywhere = rest, false, false
	}
	if rest, ok := strings.CutSuffix(s, ".*"); ok && !strings.HasSuffix(rest, `\`) {
		s, ended = rest, false
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], "[^/]*"):
			b.WriteByte('*')
			i += len("[^/]*") - 1
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`.^$*+?{}[]|()/#-_ ~`, s[i+1]) >= 0:
			i++
			if strings.IndexByte(`*?[`, s[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		case c == '.' && (i+1 == len(s) || strings.IndexByte("*+?{", s[i+1]) < 0):
			b.WriteByte('?')
		case strings.IndexByte(`\.^$*+?{}[]|()`, c) >= 0:
			return nil, errors.New("a regular expression that no pattern says")
		default:
			b.WriteByte(c)
		}
	}
	g := b.String()
	if g == "" || strings.Trim(g, "/*") == "" {
		return nil, errors.New("it matches everything, or nothing")
	}
	directory := strings.HasSuffix(g, "/")
	if !ended && !directory {
		g += "*"
	}
	slash := strings.Contains(strings.TrimSuffix(g, "/"), "/")
	switch {
	case anchored:
		g = "/" + strings.TrimPrefix(g, "/")
	case strings.HasPrefix(g, "/"):
		g = "*/**" + g // not at the root: something stands before the slash
	case !anywhere:
		g = "*" + g
		fallthrough
	case anywhere:
		if slash {
			g = "**/" + g
		}
	}
	return []string{protect(g)}, nil
}
