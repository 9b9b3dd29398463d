package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

// setTool stands for the merge tool that is set. No tool has a name with a space.
const setTool = "the one that is set"

type resolveFlags struct {
	take  []string
	base  bool
	tool  string // "" for none, setTool for the one that is set
	block string
}

func resolveCommand(a *app) *cobra.Command {
	var flags resolveFlags
	c := &cobra.Command{
		Use:   "resolve PATHS",
		Short: "Decide conflicts: take a side, or what the files are now",
		Long: `Decide the conflicts of files, or of all beneath a directory. oxy conflicts lists them with the numbers of their sides.
--take N takes a side, and of lines --take 2,1 both, in that order; in place of the number it takes a bookmark or the id
of a change that only this side has. --base takes what was there before both; --tool runs a merge tool, once for each
conflict of lines. Without any of these the files are right as they are now: where a file is, whether it is there, what
kind of file it is, and its lines, once no mark of a conflict is left in them. Lines that were edited before stay so.

The files are changed, and the next oxy commit records the decision; it then holds wherever both sides meet. What was
in the files before comes back with oxy undo.

The setting merge.tool names the tool: ` + toolNames() + `, or one that merge.tools.NAME says how to run.
That line finds four files in $LOCAL, $BASE, $REMOTE and $MERGED, as it would under Git.`,
		Example: `  oxy resolve --take 2 src/parser.go
  oxy resolve --take topic src
  oxy resolve --take 1,2 --block 1a2b3c4d.0 NEWS
  oxy resolve --tool=meld src/parser.go
  oxy resolve notes.txt`,
		Args: atLeastOne("a path"),
		RunE: func(_ *cobra.Command, args []string) error { return a.resolve(&flags, args) },
	}
	c.Flags().StringSliceVar(&flags.take, "take", nil, "take side `N`, or the one that a bookmark or change has; several of lines as N,M")
	c.Flags().BoolVar(&flags.base, "base", false, "take what was there before the sides")
	c.Flags().StringVar(&flags.tool, "tool", "", "decide in the merge tool `NAME`, or in the one that is set")
	c.Flags().Lookup("tool").NoOptDefVal = setTool
	c.Flags().StringVar(&flags.block, "block", "", "only the conflict with this `ID`")
	return c
}

// options reads what the flags choose.
func (f *resolveFlags) options() (opt repo.ResolveOptions, err error) {
	opt.Block, opt.Base = f.block, f.base
	for _, s := range f.take {
		if s = strings.TrimSpace(s); s == "" || s == "0" || strings.HasPrefix(s, "-") {
			return opt, usage("resolve", "--take takes numbers of sides, from 1, or who has them, not %q", s)
		}
		opt.Take = append(opt.Take, s)
	}
	given := 0
	for _, is := range []bool{len(f.take) > 0, f.base, f.tool != ""} {
		if is {
			given++
		}
	}
	if given > 1 {
		return opt, usage("resolve", "resolve takes one of --take, --base and --tool")
	}
	return opt, nil
}

func (a *app) resolve(flags *resolveFlags, args []string) error {
	opt, err := flags.options()
	if err != nil {
		return err
	}
	r, err := a.open()
	if err != nil {
		return err
	}
	line := ""
	if flags.tool != "" {
		// Of `--tool meld file` the flag takes no value, but one knows what is meant.
		if flags.tool == setTool && len(args) > 1 && a.knownTool(args[0]) != "" {
			flags.tool, args = args[0], args[1:]
		}
		if line, err = a.mergeToolLine(flags.tool); err != nil {
			return err
		}
	}
	files, err := a.inConflict(args)
	if err != nil {
		return err
	}
	ctx := a.interruptible()
	done := &repo.ResolveResult{}
	steps := [][]string{files}
	if line != "" {
		opt.Merge = func(c *repo.Conflict, base []byte) ([]byte, error) { return a.decideInTool(line, c, base) }
		// A person who gives up in the tool shall not lose what was decided of the files before.
		steps = slices.Collect(slices.Chunk(files, 1))
	}
	for _, opt.Paths = range steps {
		res, err := r.Resolve(ctx, opt)
		if err != nil {
			return err
		}
		done.Decided = append(done.Decided, res.Decided...)
		done.Open = append(done.Open, res.Open...)
	}
	if a.json {
		return a.resolveJSON(done)
	}
	return a.resolved(done, &opt)
}

// inConflict finds the files that have conflicts at or beneath the paths of a command line, each of which must have one.
func (a *app) inConflict(args []string) ([]string, error) {
	paths, err := a.rel(args)
	if err != nil {
		return nil, err
	}
	all, err := a.repo.ConflictsHere()
	if err != nil {
		return nil, err
	}
	var files []string
	seen := map[string]bool{}
	for _, p := range paths {
		found := false
		for i := range all {
			c := &all[i]
			if !beneath(c.Path, p) && !beneath(c.Place, p) {
				continue
			}
			if found = true; !seen[c.Path] {
				seen[c.Path] = true
				files = append(files, c.Path)
			}
		}
		if !found {
			return nil, &repo.Error{Text: "there is no conflict in " + a.show().text(p), Next: "See what is left to decide with: oxy conflicts", No: true}
		}
	}
	return files, nil
}

// decideInTool lets a person decide a conflict of lines in a program.
func (a *app) decideInTool(line string, c *repo.Conflict, base []byte) ([]byte, error) {
	if len(c.Sides) != 2 {
		return nil, &repo.Error{Text: fmt.Sprintf("conflict %s in %s has %d sides, and a merge tool shows two", c.ID, a.show().text(c.Path), len(c.Sides)),
			Next: "Edit the file, or take sides of it: oxy resolve --take N --block " + c.ID + " " + a.show().text(c.Path)}
	}
	return a.runMergeTool(line, c.Path, sidesOf{base: base, local: c.Sides[0].Text, remote: c.Sides[1].Text, merged: base})
}

// resolved tells what was decided.
func (a *app) resolved(done *repo.ResolveResult, opt *repo.ResolveOptions) error {
	b := a.out.buf
	for i := range done.Decided {
		c := &done.Decided[i]
		b = append(append(append(a.show().append(b, c.Path), " ("...), c.ID...), "): "...)
		b = append(a.appendDecision(b, c, opt), '\n')
	}
	if len(done.Decided) > 0 {
		b = fmt.Appendf(b, "%s decided; oxy commit records it.\n", plural(len(done.Decided), "conflict"))
	}
	if len(done.Open) > 0 {
		b = fmt.Appendf(b, "%s left there: oxy conflicts\n", plural(len(done.Open), "conflict"))
	}
	a.out.buf = b
	return a.out.spill()
}

// appendDecision says what was made of a conflict.
func (a *app) appendDecision(dst []byte, c *repo.Decision, opt *repo.ResolveOptions) []byte {
	switch {
	case c.Done && (opt.Merge != nil || opt.Base || len(opt.Take) > 0):
		return append(dst, "as it was edited before"...)
	case opt.Merge != nil:
		return append(dst, "as the merge tool left it"...)
	case opt.Base:
		return append(dst, "what was there before"...)
	case len(c.Took) == 0:
		return append(dst, "as it is now"...)
	}
	for i, n := range c.Took {
		if i > 0 {
			dst = append(dst, ", then "...)
		}
		side := &c.Sides[n-1]
		dst = append(strconv.AppendInt(append(dst, "side "...), int64(n), 10), ", "...)
		dst = a.appendWho(dst, side.Changes)
		if c.Kind != "text" {
			dst = a.appendDeed(append(dst, ": "...), side)
		}
	}
	return dst
}

type jsonResolve struct {
	Decided []jsonDecision `json:"decided"`
	Open    []jsonConflict `json:"open"`
}

type jsonDecision struct {
	jsonConflict
	Took []int `json:"took"`
}

func (a *app) resolveJSON(done *repo.ResolveResult) error {
	conflicts := make([]repo.Conflict, len(done.Decided))
	for i := range done.Decided {
		conflicts[i] = done.Decided[i].Conflict
	}
	decided, err := a.newConflicts(conflicts)
	if err != nil {
		return err
	}
	j := jsonResolve{Decided: make([]jsonDecision, len(decided))}
	for i := range decided {
		j.Decided[i] = jsonDecision{decided[i], append([]int{}, done.Decided[i].Took...)}
	}
	if j.Open, err = a.newConflicts(done.Open); err != nil {
		return err
	}
	return a.printJSON(j)
}
