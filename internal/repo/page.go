package repo

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// show appends a file's text as a person sees it: with marks where conflicts are open.
func (r *Repo) show(dst []byte, id change.FileID, l *loaded, h *reach) ([]byte, error) {
	if len(l.w.Open()) == 0 {
		return r.render(dst, l)
	}
	_, p, err := r.page(id, l, h)
	if err != nil {
		return dst, err
	}
	return append(dst, p.Text...), nil
}

// page writes a file with marks where conflicts are open.
func (r *Repo) page(id change.FileID, l *loaded, h *reach) (*weave.View, *weave.Page, error) {
	v, err := l.w.View(r.fileHistory(h, id, func() *loaded { return l }))
	if err != nil {
		return nil, nil, err
	}
	t := texts{r: r, l: l}
	p, err := v.Page(r.words(h), func(s change.Stretch) ([]byte, error) {
		return t.run(&weave.Run{Change: s.Change, Off: s.Off, Len: s.Len})
	})
	return v, p, err
}

// markDigits is how many hex digits of a change's id stand in marks: the same in every repository, for marks are part of
// what a state shows.
const markDigits = 8

// words name the parts of conflicts.
func (r *Repo) words(h *reach) weave.Words {
	return weave.Words{
		Block: func(n weave.HunkID) string { return fmt.Sprintf("%.*s.%d", markDigits, h.id(n.Change), n.Index) },
		Side: func(by []uint32) string {
			if len(by) == 0 {
				return "all together"
			}
			var parts []string
			for _, n := range by {
				parts = append(parts, fmt.Sprintf("%.*s %s", markDigits, h.id(n), firstLine(r.message(n))))
			}
			return strings.Join(parts, ", ")
		},
	}
}

// message is a change's message; of one that cannot be read it is empty, and the fault shows where the change is needed.
func (r *Repo) message(n uint32) string {
	if b := r.freshOf(n); b != nil {
		return b.message
	}
	c, err := r.Info(n)
	if err != nil {
		return ""
	}
	return c.Message
}

// maxMarkWords bounds the message in a mark, in characters.
const maxMarkWords = 50

// firstLine is the first line of a message, shortened, without anything that would break a line or a terminal.
func firstLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(message, "\r\n"), "\n")
	var b strings.Builder
	n := 0
	for _, c := range strings.TrimSpace(line) {
		if n++; n > maxMarkWords {
			b.WriteString("...")
			break
		}
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			c = '?'
		}
		b.WriteRune(c)
	}
	return strings.TrimSpace(b.String())
}
