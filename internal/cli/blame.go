package cli

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func blameCommand(a *app) *cobra.Command {
	var span, rev string
	var deleted bool
	c := &cobra.Command{
		Use:   "blame PATH",
		Short: "Tell who wrote each line of a file, and with --deleted who deleted those that are gone",
		Long: `Show each line of a file with the change that wrote it, its author and date. Lines that are not recorded yet stand
under 00000000, the marks of conflicts under --------. With --deleted the lines that are gone are shown where they stood, with the change that deleted them.`,
		Example: `  oxy blame src/parser.go
  oxy blame -L 10,20 -r main~5 src/parser.go
  oxy blame --deleted src/parser.go`,
		Args: exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			opt := repo.BlameOptions{Deleted: deleted}
			if opt.From, opt.To, err = parseSpan(span); err != nil {
				return err
			}
			if rev != "" {
				s, err := r.ResolveState(rev)
				if err != nil {
					return err
				}
				opt.State = &s
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			runs, err := r.Blame(a.ctx, paths[0], opt)
			if err != nil {
				return err
			}
			if a.json {
				return printJSONList(a, a.blameJSON(runs))
			}
			if err := a.page(); err != nil {
				return err
			}
			done := a.timings.Phase("format")
			f := newBlameFormat(runs, r.ShortID, a.colours())
			err = f.write(a.out, runs)
			done(0)
			return err
		},
	}
	c.Flags().StringVarP(&span, "lines", "L", "", "only lines `FROM,TO`; FROM,+N for N lines")
	c.Flags().StringVarP(&rev, "revision", "r", "", "the file as `REV` has it")
	c.Flags().BoolVar(&deleted, "deleted", false, "show lines that are gone too, and who deleted them")
	return c
}

// parseSpan reads `10,20`, `10,+5`, `10,` and `10`.
func parseSpan(s string) (from, to int, err error) {
	if s == "" {
		return 0, 0, nil
	}
	bad := usage("blame", "-L takes FROM,TO, not %q", s)
	a, b, two := strings.Cut(s, ",")
	if from, err = strconv.Atoi(a); err != nil || from < 1 {
		return 0, 0, bad
	}
	if !two {
		return from, from, nil
	}
	if b == "" {
		return from, 0, nil
	}
	if to, err = strconv.Atoi(strings.TrimPrefix(b, "+")); err != nil {
		return 0, 0, bad
	}
	if b[0] == '+' {
		to += from - 1
	}
	if to < from {
		return 0, 0, bad
	}
	return from, to, nil
}

// maxAuthor bounds the author's column.
const maxAuthor = 24

// notYet stands where a line has no change.
const notYet = "not recorded yet"

// ofConflict stands where a line is a mark of a conflict.
const ofConflict = "conflict"

// blameFormat appends runs as text. What is the same for all lines of a change is made once.
type blameFormat struct {
	short      func(uint32) string
	palette    *ui.Palette
	author, id int // columns, in characters
	line       int
	prefixes   map[*repo.ChangeInfo][]byte
	mark       *repo.ChangeInfo // stands for who wrote the marks of conflicts
	last       *repo.ChangeInfo // whose prefix was asked for last
	lastPrefix []byte           // nil: none yet
}

func newBlameFormat(runs []repo.BlameRun, short func(uint32) string, p *ui.Palette) *blameFormat {
	f := &blameFormat{short: short, palette: p, prefixes: make(map[*repo.ChangeInfo][]byte), mark: &repo.ChangeInfo{}, id: 8, line: 1}
	most := 1 // lines ascend, but for those that are gone
	for i := range runs {
		r := &runs[i]
		if i == 0 || f.who(r) != f.who(&runs[i-1]) {
			f.measure(f.who(r))
		}
		if r.Line > 0 {
			most = r.Line + max(bytes.Count(r.Text, []byte{'\n'}), 1) - 1
		}
	}
	f.line = len(strconv.Itoa(most))
	return f
}

// who is whom a run is by.
func (f *blameFormat) who(r *repo.BlameRun) *repo.ChangeInfo {
	if r.Mark {
		return f.mark
	}
	return r.Change
}

// measure widens the columns for a change, once.
func (f *blameFormat) measure(c *repo.ChangeInfo) {
	if _, ok := f.prefixes[c]; ok {
		return
	}
	f.prefixes[c] = nil
	name := notYet
	if c == f.mark {
		name = ofConflict
	} else if c != nil {
		name = c.Author.Name
		f.id = max(f.id, len(f.short(c.Num)))
	}
	f.author = min(max(f.author, utf8.RuneCountInString(name)), maxAuthor)
}

// prefix is what stands before the line's number.
func (f *blameFormat) prefix(c *repo.ChangeInfo) []byte {
	if f.lastPrefix != nil && f.last == c {
		return f.lastPrefix
	}
	b := f.prefixes[c]
	if b == nil {
		b = f.makePrefix(c)
		f.prefixes[c] = b
	}
	f.last, f.lastPrefix = c, b
	return b
}

func (f *blameFormat) makePrefix(c *repo.ChangeInfo) []byte {
	const date = len("2006-01-02 15:04:05 +0000")
	b := append([]byte(nil), f.palette.Yellow...)
	switch c {
	case nil:
		b = append(b, strings.Repeat("0", f.id)...)
	case f.mark:
		b = append(b, strings.Repeat("-", f.id)...)
	default:
		b = ui.AppendPadded(b, f.short(c.Num), f.id)
	}
	b = append(b, f.palette.Reset...)
	b = append(b, " ("...)
	if c == nil || c == f.mark {
		name := notYet
		if c != nil {
			name = ofConflict
		}
		b = ui.AppendPadded(b, name, f.author)
		return append(b, strings.Repeat(" ", date+2)...)
	}
	b = ui.AppendPadded(b, c.Author.Name, f.author)
	b = append(b, ' ')
	b = ui.AppendDate(b, c.Time.Sec, c.Time.Zone)
	return append(b, ' ')
}

// write writes all runs, in pieces that stay in the processor's cache.
func (f *blameFormat) write(w io.Writer, runs []repo.BlameRun) error {
	dst := make([]byte, 0, 2*outputBuffer)
	var number [24]byte
	for i := range runs {
		r := &runs[i]
		prefix := f.prefix(f.who(r))
		line, text := r.Line, r.Text
		var gone []byte
		if line == 0 {
			gone = f.deletion(r)
		}
		for len(text) > 0 {
			end := bytes.IndexByte(text, '\n') + 1
			if end == 0 {
				end = len(text)
			}
			dst = append(dst, prefix...)
			if gone != nil {
				dst = append(dst, gone...)
			} else {
				n := strconv.AppendInt(number[:0], int64(line), 10)
				for k := len(n); k < f.line; k++ {
					dst = append(dst, ' ')
				}
				dst = append(dst, n...)
				dst = append(dst, ") "...)
				line++
			}
			dst = append(dst, text[:end]...)
			if text[end-1] != '\n' {
				dst = append(dst, '\n')
			}
			if gone != nil && f.palette.Reset != "" {
				dst = append(dst[:len(dst)-1], f.palette.Reset...)
				dst = append(dst, '\n')
			}
			text = text[end:]
			if len(dst) >= outputBuffer {
				if _, err := w.Write(dst); err != nil {
					return err
				}
				dst = dst[:0]
			}
		}
	}
	_, err := w.Write(dst)
	return err
}

// deletion stands in the number's place of a line that is gone.
func (f *blameFormat) deletion(r *repo.BlameRun) []byte {
	b := bytes.Repeat([]byte{' '}, f.line-1)
	b = append(b, "-) "...)
	b = append(b, f.palette.Red...)
	b = append(b, "deleted by "...)
	for i, c := range r.DeletedBy {
		if i > 0 {
			b = append(b, ", "...)
		}
		if c == nil {
			b = append(b, notYet...)
			continue
		}
		b = append(b, f.short(c.Num)...)
		b = append(b, ' ')
		b = ui.AppendClean(b, c.Author.Name)
	}
	return append(b, ": "...)
}

type jsonBlame struct {
	Line      int         `json:"line"` // 0 of lines that are gone
	Lines     []string    `json:"lines"`
	Change    *string     `json:"change"`
	Mark      bool        `json:"mark,omitempty"`
	Short     string      `json:"short,omitempty"`
	Author    *jsonPerson `json:"author,omitempty"`
	Time      string      `json:"time,omitempty"`
	DeletedBy []*string   `json:"deleted_by,omitempty"` // null where it is not recorded yet
}

func (a *app) blameJSON(runs []repo.BlameRun) []jsonBlame {
	out := make([]jsonBlame, len(runs))
	for i := range runs {
		r := &runs[i]
		j := jsonBlame{Line: r.Line, Mark: r.Mark, Lines: lines(r.Text)}
		if c := r.Change; c != nil {
			id := c.ID.String()
			j.Change, j.Short, j.Time = &id, a.repo.ShortID(c.Num), jsonTime(c.Time)
			j.Author = &jsonPerson{c.Author.Name, c.Author.Email}
		}
		for _, d := range r.DeletedBy {
			var id *string
			if d != nil {
				s := d.ID.String()
				id = &s
			}
			j.DeletedBy = append(j.DeletedBy, id)
		}
		out[i] = j
	}
	return out
}
