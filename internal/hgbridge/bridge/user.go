package bridge

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
)

// person divides a user as Mercurial has it.
func person(user string) change.Person {
	p := change.Person{Name: user}
	if i := strings.LastIndex(user, " <"); i > 0 && strings.HasSuffix(user, ">") {
		p = change.Person{Name: user[:i], Email: user[i+2 : len(user)-1]}
	}
	p.Name, p.Email = p.Name[:min(len(p.Name), change.MaxName)], p.Email[:min(len(p.Email), change.MaxName)]
	return p
}

// user is what person divides.
func user(p change.Person) string {
	if p.Email == "" {
		return p.Name
	}
	return p.Name + " <" + p.Email + ">"
}

// date is a time as Mercurial writes it.
func date(t change.Time) string {
	return strconv.FormatInt(t.Sec, 10) + " " + strconv.Itoa(-60*int(t.Zone))
}

// Authors says who users are: by a user as Mercurial has it.
type Authors map[string]change.Person

// ParseAuthors reads a map of authors: lines "user = name <address>", and comments after "#" at a line's begin.
func ParseAuthors(text []byte) (Authors, error) {
	a := Authors{}
	n := 0
	for raw := range bytes.Lines(text) {
		n++
		s := strings.TrimSpace(string(raw))
		if s == "" || s[0] == '#' {
			continue
		}
		from, to, ok := strings.Cut(s, "=")
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		if !ok || from == "" || to == "" {
			return nil, fmt.Errorf("line %d is not USER = NAME <ADDRESS>: %q", n, s)
		}
		a[from] = person(to)
	}
	return a, nil
}
