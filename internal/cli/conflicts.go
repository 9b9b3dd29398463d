package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func conflictsCommand(a *app) *cobra.Command {
	var exitCode bool
	c := &cobra.Command{
		Use:   "conflicts [PATHS]",
		Short: "List what concurrent changes left to decide",
		Long: `List the conflicts of the working copy, or those of PATHS: where changes that did not know of each other edited the same
lines, moved one file to different places, removed what the other changed, or took one name for two files. Each is
listed with its id, its sides, and who wrote them. oxy resolve takes a side by its number.

A conflict is part of what is recorded: one may commit, merge and share with it, and decide later.`,
		Example: `  oxy conflicts
  oxy conflicts src/parser.go
  oxy conflicts --exit-code`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			list, err := r.ConflictsHere()
			if err != nil {
				return err
			}
			list = conflictsBeneath(list, paths)
			if a.json {
				err = a.conflictsJSON(list)
			} else {
				err = a.conflictsText(list)
			}
			return differs(err, exitCode, len(list))
		},
	}
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit 1 if there are any")
	return c
}

// conflictsBeneath gives those of some conflicts whose file is shown, or has its place, at or beneath one of some paths;
// without any all.
func conflictsBeneath(list []repo.Conflict, paths []string) []repo.Conflict {
	if len(paths) == 0 {
		return list
	}
	return slices.DeleteFunc(list, func(c repo.Conflict) bool {
		return !slices.ContainsFunc(paths, func(p string) bool { return beneath(c.Path, p) || beneath(c.Place, p) })
	})
}

// beneath reports whether path is dir or beneath it. The root is "".
func beneath(path, dir string) bool {
	return dir == "" || path == dir || strings.HasPrefix(path, dir+"/")
}

func (a *app) conflictsText(list []repo.Conflict) error {
	if len(list) == 0 {
		return a.out.printf("No conflicts.\n")
	}
	var files []string
	for i := range list {
		files = append(files, list[i].Path)
	}
	s, err := a.repo.Status(a.interruptible(), repo.StatusOptions{Paths: slices.Compact(files)})
	if err != nil {
		return notRecording(err)
	}
	edited := editedPaths(s)
	if err := a.page(); err != nil {
		return err
	}
	for i := range list {
		b := a.out.buf
		if i > 0 {
			b = append(b, '\n')
		}
		a.out.buf = a.appendConflict(b, &list[i], edited)
		if err := a.out.spill(); err != nil {
			return err
		}
	}
	a.out.buf = append(append(a.out.buf, '\n'), nextForConflicts(list)...)
	return a.out.spill()
}

// nextForConflicts says how conflicts are decided.
func nextForConflicts(list []repo.Conflict) string {
	var marks, names, others bool
	for i := range list {
		switch c := &list[i]; {
		case c.Settled:
		case c.Line > 0:
			marks = true
		case c.Kind == "name":
			names = true
		default:
			others = true
		}
	}
	if !marks && !names && !others {
		return "Next: oxy commit records what was decided.\n"
	}
	var ways []string
	if marks {
		ways = append(ways, "edit files until no <<<<<<< mark is left")
	}
	if names {
		ways = append(ways, "give files other names with oxy mv")
	}
	if marks || others {
		ways = append(ways, "take a side with oxy resolve --take N PATH")
	}
	if names || others {
		ways = append(ways, "keep what is there with oxy resolve PATH")
	}
	return "Next: " + strings.Join(ways, ", or ") + "; then oxy commit.\n"
}

// appendConflict appends a conflict with its sides.
func (a *app) appendConflict(dst []byte, c *repo.Conflict, edited map[string]bool) []byte {
	p := a.colours()
	dst = a.appendConflictRow(dst, c, edited)
	dst = append(append(append(append(dst, "  ("...), p.Yellow...), c.ID...), p.Reset...)
	dst = append(dst, ")\n"...)
	for i := range c.Sides {
		dst = a.appendSide(dst, c, i)
	}
	return dst
}

// appendConflictRow appends where a conflict is, and what is to decide. Where a person edited the file since, the line that
// its marks begin at in the recorded one means nothing any more. Without edited it does not say how far it is decided.
func (a *app) appendConflictRow(dst []byte, c *repo.Conflict, edited map[string]bool) []byte {
	p := a.colours()
	dst = a.show().append(append(dst, p.Red...), c.Path)
	if c.Line > 0 && !edited[c.Path] && !c.Settled {
		dst = fmt.Appendf(dst, ":%d", c.Line)
	}
	dst = append(append(append(dst, p.Reset...), ": "...), a.conflictWords(c)...)
	switch {
	case c.Settled && edited == nil: // it stands among its like
	case c.Settled:
		dst = append(dst, "; decided, commit records it"...)
	case edited[c.Path]:
		dst = append(dst, "; edited since"...)
	}
	return dst
}

// divide parts those that are open from those that are decided and not recorded yet.
func divide(list []repo.Conflict) (open, decided []repo.Conflict) {
	for _, c := range list {
		if c.Settled {
			decided = append(decided, c)
		} else {
			open = append(open, c)
		}
	}
	return open, decided
}

// editedPaths gives the files that differ from what is recorded.
func editedPaths(s *repo.Status) map[string]bool {
	out := make(map[string]bool, len(s.Files))
	for i := range s.Files {
		if old := s.Files[i].Old; old != nil {
			out[old.Path] = true
		}
	}
	return out
}

// conflictWords says what is to decide.
func (a *app) conflictWords(c *repo.Conflict) string {
	words := ""
	switch c.Kind {
	case "text":
		words = "the same lines edited in " + ways(len(c.Sides))
	case "place":
		words = "moved to " + plural(len(c.Sides), "place")
	case "mode":
		words = "executable on one side, not on another"
	case "body":
		words = "replaced in " + ways(len(c.Sides))
	case "life":
		words = "removed on one side, changed on another"
	case "name":
		words = "another file has the name " + a.show().text(c.Place)
		if slices.ContainsFunc(c.Sides, func(s repo.ConflictSide) bool { return strings.HasSuffix(s.Path, "/") }) {
			words = "a directory has the name " + a.show().text(c.Place)
		}
	default:
		words = c.Kind
	}
	return words
}

func ways(n int) string { return fmt.Sprintf("%d ways", n) }

// sideLines is how many lines of a side are shown: enough to know it by. The file has all between its marks.
const sideLines = 6

// appendSide appends what a side has it, and who wrote it.
func (a *app) appendSide(dst []byte, c *repo.Conflict, i int) []byte {
	s := &c.Sides[i]
	dst = fmt.Appendf(dst, "  %d  ", i+1)
	if c.Kind == "text" {
		return a.appendSideText(a.appendWho(dst, s.Changes), s.Text)
	}
	if len(s.Changes) > 0 {
		dst = append(a.appendWho(dst, s.Changes), ": "...)
	}
	return append(a.appendDeed(dst, s), '\n')
}

// appendDeed says what a side did to a file, with the path that it speaks of.
func (a *app) appendDeed(dst []byte, s *repo.ConflictSide) []byte {
	dst = append(dst, s.What...)
	if s.Path != "" {
		dst = a.show().append(append(dst, ' '), strings.TrimSuffix(s.Path, "/"))
		if strings.HasSuffix(s.Path, "/") {
			dst = append(dst, '/')
		}
	}
	return dst
}

func (a *app) appendSideText(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, ": no lines\n"...)
	}
	dst = append(dst, ":\n"...)
	n, all := 0, len(lines(text))
	for line := range bytes.Lines(text) {
		if n == sideLines-1 && all > sideLines {
			return fmt.Appendf(dst, "     and %d more lines\n", all-n)
		}
		n++
		dst = append(dst, "     | "...)
		dst = ui.AppendClean(dst, string(bytes.TrimRight(line, "\r\n")))
		dst = append(dst, '\n')
	}
	return dst
}

// appendWho appends changes with their authors, or that it is what all of them have.
func (a *app) appendWho(dst []byte, nums []uint32) []byte {
	if len(nums) == 0 {
		return append(dst, "all together"...)
	}
	p := a.colours()
	for i, n := range nums {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(append(append(dst, p.Yellow...), a.repo.ShortID(n)...), p.Reset...)
		if info, err := a.repo.Info(n); err == nil {
			dst = append(ui.AppendClean(append(dst, ' '), subject(info.Message)), " ("...)
			dst = append(ui.AppendClean(dst, info.Author.Name), ')')
		}
	}
	return dst
}

// appendConflictRows appends a line for each conflict.
func (a *app) appendConflictRows(dst []byte, list []repo.Conflict, edited map[string]bool) []byte {
	for i := range list {
		dst = append(a.appendConflictRow(append(dst, "  C "...), &list[i], edited), '\n')
	}
	return dst
}
