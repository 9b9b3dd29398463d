package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func statusCommand(a *app) *cobra.Command {
	var short, ignored, all bool
	c := &cobra.Command{
		Use:   "status [PATHS]",
		Short: "Show what changed since the last commit",
		Long: `Show which files differ from what is recorded. Commit would record all of them.

M modified   A added   D removed   R moved   T another type   ? new   ! ignored   C in conflict
S a subrepo in which something changed, or that stands elsewhere than it is pinned
N a repository of its own, * a socket, pipe or device: neither is recorded`,
		Example: `  oxy status
  oxy status --short src
  oxy status --ignored`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			opt := repo.StatusOptions{Paths: paths, Ignored: ignored, All: all}
			s, err := r.Status(a.interruptible(), opt)
			if err != nil {
				return notRecording(err)
			}
			s.Conflicts = conflictsBeneath(s.Conflicts, paths)
			for _, problem := range s.Problems {
				a.warn(problem.Error())
			}
			switch {
			case a.json:
				err = a.statusJSON(s)
			case short:
				err = a.statusShort(s)
			default:
				err = a.statusLong(s)
			}
			if err == nil && len(s.Problems) > 0 {
				err = &repo.Error{Text: plural(len(s.Problems), "place") + " could not be read", Next: "Make them readable, or list them in .oxyignore."}
			}
			return err
		},
	}
	c.Flags().BoolVarP(&short, "short", "s", false, "a letter and a path for each file, nothing else")
	c.Flags().BoolVar(&ignored, "ignored", false, "list ignored files too")
	c.Flags().BoolVar(&all, "all", false, "list each file of a new directory")
	return c
}

// notRecording keeps Ctrl-C in a command that only reads from speaking of recording.
func notRecording(err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}

// statusRow is a line of the status.
type statusRow struct {
	letter byte
	colour string
	path   string
	old    string // of a moved file
	like   int
}

// appendRow appends a row with its path; indent comes before the letter.
func (a *app) appendRow(dst []byte, indent string, r statusRow) []byte {
	reset := ""
	if r.colour != "" {
		reset = a.colours().Reset
	}
	dst = append(dst, indent...)
	dst = append(dst, r.colour...)
	dst = append(dst, r.letter)
	dst = append(dst, ' ')
	if r.old != "" {
		dst = a.show().append(dst, r.old)
		dst = append(dst, " -> "...)
	}
	dst = a.show().append(dst, r.path)
	dst = append(dst, reset...)
	if r.old != "" && r.like > 0 && r.like < 100 { // 0 where nobody compared them
		dst = append(dst, " ("...)
		dst = strconv.AppendInt(dst, int64(r.like), 10)
		dst = append(dst, "% alike)"...)
	}
	return append(dst, '\n')
}

func (a *app) fileRow(f *repo.FileChange) statusRow {
	row := statusRow{letter: f.What.Letter(), path: f.Path(), colour: a.colours().Yellow}
	switch f.What {
	case repo.Added, repo.Untracked:
		row.colour = a.colours().Green
	case repo.Removed:
		row.colour = a.colours().Red
	case repo.Moved:
		row.old, row.like = f.Old.Path, f.Similar
	}
	return row
}

func (a *app) appendRows(dst []byte, indent string, what repo.What, colour string, list []string) []byte {
	for _, path := range list {
		dst = a.appendRow(dst, indent, statusRow{letter: what.Letter(), colour: colour, path: path})
	}
	return dst
}

func (a *app) statusShort(s *repo.Status) error {
	var b []byte
	last := ""
	for i := range s.Conflicts {
		if c := &s.Conflicts[i]; !c.Settled && c.Path != last {
			last = c.Path
			b = a.appendRow(b, "", statusRow{letter: 'C', colour: a.colours().Red, path: c.Path})
		}
	}
	for i := range s.Files {
		b = a.appendRow(b, "", a.fileRow(&s.Files[i]))
	}
	b = a.appendRows(b, "", repo.Untracked, a.colours().Green, s.Untracked)
	b = a.appendRows(b, "", repo.Ignored, a.colours().Dim, s.Ignored)
	for i := range s.Subrepos {
		if !s.Subrepos[i].Clean() {
			b = a.appendRow(b, "", statusRow{letter: 'S', colour: a.colours().Yellow, path: s.Subrepos[i].Path})
		}
	}
	b = a.appendRows(b, "", repo.Nested, a.colours().Dim, s.Nested)
	b = a.appendRows(b, "", repo.Special, a.colours().Dim, s.Special)
	_, err := a.out.Write(b)
	return err
}

func (a *app) statusLong(s *repo.Status) error {
	var b []byte
	p := a.colours()
	if s.Bookmark != "" {
		b = append(b, "On "...)
		b = append(b, p.Bold...)
		b = appendQuoted(b, s.Bookmark)
		b = append(b, p.Reset...)
	} else {
		b = append(b, "Not on a bookmark"...)
	}
	switch {
	case s.Empty:
		b = append(b, ", nothing recorded yet."...)
	case s.Base.Len == 1:
		b = append(b, ", 1 change recorded."...)
	default:
		b = fmt.Appendf(b, ", %d changes recorded.", s.Base.Len)
	}
	b = append(b, '\n')
	if s.Sparse != nil {
		b = fmt.Appendf(b, "Sparse: %s here (oxy sparse show).\n", directories(len(s.Sparse.Dirs)))
	}
	section := func(title string) { b = append(append(append(b, '\n'), title...), '\n') }
	open, decided := divide(s.Conflicts)
	if len(open) > 0 {
		section("Conflicts (oxy conflicts shows the sides):")
		b = a.appendConflictRows(b, open, editedPaths(s))
	}
	if len(decided) > 0 {
		section("Decided (commit records it):")
		b = a.appendConflictRows(b, decided, nil)
	}
	if len(s.Files) > 0 {
		section("Changed:")
		for i := range s.Files {
			b = a.appendRow(b, "  ", a.fileRow(&s.Files[i]))
		}
	}
	if len(s.Untracked) > 0 {
		section("New (commit records them too; a line in .oxyignore leaves a path out):")
		b = a.appendRows(b, "  ", repo.Untracked, p.Green, s.Untracked)
	}
	if len(s.Ignored) > 0 {
		section("Ignored:")
		b = a.appendRows(b, "  ", repo.Ignored, p.Dim, s.Ignored)
	}
	if len(s.Nested)+len(s.Special) > 0 {
		section("Never recorded (repositories of their own, sockets, pipes, devices):")
		b = a.appendRows(b, "  ", repo.Nested, p.Dim, s.Nested)
		b = a.appendRows(b, "  ", repo.Special, p.Dim, s.Special)
	}
	if len(s.Outside) > 0 {
		section("Outside of the sparse working copy, not looked at (oxy sparse add takes a directory in):")
		for _, d := range s.Outside {
			b = append(append(a.show().append(append(append(b, "  "...), p.Dim...), d), p.Reset...), '\n')
		}
	}
	subs := a.appendSubrepos(nil, "  ", "", s.Subrepos, false)
	if len(subs) > 0 {
		section("Subrepos (commit leaves them as they are; oxy subrepo update --here pins them where they stand):")
		b = append(b, subs...)
	}
	switch {
	case len(s.Conflicts) > 0:
		b = append(append(b, '\n'), nextForConflicts(s.Conflicts)...)
	case len(s.Files)+len(s.Untracked) > 0:
		if s.Empty {
			b = append(b, "\nNext: oxy commit -m \"Begin\" records all of it.\n"...)
		} else {
			b = append(b, "\nNext: oxy diff shows it, oxy commit records all of it.\n"...)
		}
	case s.Empty:
		b = append(b, "Nothing is here to record.\n"...)
	case len(subs) > 0:
		b = append(b, "\nNothing else changed since.\n"...)
	default:
		b = append(b, "Nothing changed since.\n"...)
	}
	if s.Bookmark == "" && !s.Empty {
		b = append(b, "oxy bookmark NAME keeps what you record here.\n"...)
	}
	_, err := a.out.Write(b)
	return err
}

type jsonStatus struct {
	Bookmark  *string             `json:"bookmark"`
	Base      jsonState           `json:"base"`
	Empty     bool                `json:"empty"`
	Files     []jsonFile          `json:"files"`
	Untracked []jsonPath          `json:"untracked"`
	Ignored   []jsonPath          `json:"ignored"`
	Nested    []jsonPath          `json:"nested"`
	Special   []jsonPath          `json:"special"`
	Problems  []string            `json:"problems"`
	Conflicts []jsonConflict      `json:"conflicts"`
	Subrepos  []jsonSubrepoStatus `json:"subrepos"`
	Sparse    *[]jsonPath         `json:"sparse"`
	Outside   []jsonPath          `json:"outside"`
}

func (a *app) statusJSON(s *repo.Status) error {
	j := jsonStatus{
		Base: newState(s.Base), Empty: s.Empty, Files: newFiles(s.Files), Untracked: newJSONPaths(s.Untracked),
		Ignored: newJSONPaths(s.Ignored), Nested: newJSONPaths(s.Nested), Special: newJSONPaths(s.Special),
		Problems: make([]string, len(s.Problems)), Subrepos: newSubrepos(s.Subrepos), Outside: newJSONPaths(s.Outside),
	}
	if s.Sparse != nil {
		dirs := newJSONPaths(s.Sparse.Dirs)
		j.Sparse = &dirs
	}
	if s.Bookmark != "" {
		j.Bookmark = &s.Bookmark
	}
	for i, p := range s.Problems {
		j.Problems[i] = p.Error()
	}
	var err error
	if j.Conflicts, err = a.newConflicts(s.Conflicts); err != nil {
		return err
	}
	return a.printJSON(j)
}

func directories(n int) string {
	if n == 1 {
		return "1 directory"
	}
	return fmt.Sprintf("%d directories", n)
}
