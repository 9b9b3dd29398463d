package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/ui"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// diffFlags are what diff, show and log have in common.
type diffFlags struct {
	stat, nameOnly, nameStatus, words bool
	allSpace, spaceChange             bool
	context                           count
}

// count is a flag's number from 0.
type count int

func (c *count) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return errors.New("give a number from 0")
	}
	*c = count(n)
	return nil
}

func (c *count) String() string { return strconv.Itoa(int(*c)) }
func (c *count) Type() string   { return "number" }

func (f *diffFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.stat, "stat", false, "count the lines changed in each file")
	c.Flags().BoolVar(&f.nameOnly, "name-only", false, "only the paths")
	c.Flags().BoolVar(&f.nameStatus, "name-status", false, "only a letter and the path")
	c.Flags().BoolVar(&f.words, "word-diff", false, "mark the words that differ: [-old-]{+new+}")
	f.context = 3
	c.Flags().VarP(&f.context, "unified", "U", "show `N` lines around each edit")
	c.Flags().BoolVarP(&f.allSpace, "ignore-all-space", "w", false, "white space does not count")
	c.Flags().BoolVarP(&f.spaceChange, "ignore-space-change", "b", false, "how much white space there is does not count")
}

// print writes a set as the flags ask.
func (f *diffFlags) print(a *app, set *repo.DiffSet) error {
	opt := newPatchOptions(int(f.context), a.colours())
	opt.words = f.words
	opt.diff.IgnoreAllSpace, opt.diff.IgnoreSpaceChange = f.allSpace, f.spaceChange
	switch {
	case f.stat:
		return a.stat(set, opt, ui.Width(a.stdio.Out))
	case f.nameOnly, f.nameStatus:
		return a.names(set, f.nameStatus)
	}
	return a.patches(set, opt)
}

// json gives a set as the flags ask.
func (f *diffFlags) json(set *repo.DiffSet) ([]jsonFile, error) {
	if f.nameOnly || f.nameStatus {
		return newFiles(set.Files), nil
	}
	opt := newPatchOptions(int(f.context), &ui.Palette{})
	opt.diff.IgnoreAllSpace, opt.diff.IgnoreSpaceChange = f.allSpace, f.spaceChange
	return jsonFiles(set, opt, !f.stat)
}

// names writes the paths, with letters as Git's --name-status has them.
func (a *app) names(set *repo.DiffSet, letters bool) error {
	var b []byte
	for i := range set.Files {
		f := &set.Files[i]
		if letters {
			switch f.What {
			case repo.Moved:
				b = append(b, 'R')
				if f.Similar < 100 {
					b = append(b, '0')
				}
				if f.Similar < 10 {
					b = append(b, '0')
				}
				b = strconv.AppendInt(b, int64(f.Similar), 10)
				b = append(b, '\t')
				b = appendQuoted(b, f.Old.Path)
			case repo.Untracked:
				b = append(b, 'A')
			default:
				b = append(b, f.What.Letter())
			}
			b = append(b, '\t')
		}
		b = appendQuoted(b, f.Path())
		b = append(b, '\n')
	}
	_, err := a.out.Write(b)
	return err
}

func diffCommand(a *app) *cobra.Command {
	var flags diffFlags
	var change string
	var exitCode bool
	c := &cobra.Command{
		Use:   "diff [REV [REV]] [--] [PATHS]",
		Short: "Show what differs, line by line",
		Long: `Show how the working copy differs from what is recorded; with one REV, from that state; with two, how the second
differs from the first. The output is a patch that git apply and patch understand. Of the working copy it shows what
a commit would record: new files that are not ignored too, and files that moved as moves.

REV is a bookmark, a tag, the beginning of a change's id, @ (where the working copy stands), REV~N (N changes
earlier) or NAME:N (after the first N changes). A..B is the same as A B.`,
		Example: `  oxy diff
  oxy diff @~3 -- src
  oxy diff --change 1a2b3c4d
  oxy diff main topic --stat`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			revs, rest, err := a.revsAndPaths(cmd, args, 2)
			if err != nil {
				return err
			}
			paths, err := a.rel(rest)
			if err != nil {
				return err
			}
			var set *repo.DiffSet
			switch {
			case change != "" && len(revs) > 0:
				return usage("diff", "diff takes --change or states, not both")
			case change != "":
				var n uint32
				if n, err = r.ResolveChange(change); err == nil {
					set, err = r.DiffChange(n, paths)
				}
			case len(revs) == 2:
				set, err = r.DiffStates(revs[0], revs[1], paths)
			case len(revs) == 1:
				set, err = r.DiffFrom(a.interruptible(), revs[0], paths)
			default:
				set, err = r.DiffWorking(a.interruptible(), paths)
			}
			if err != nil {
				return notRecording(err)
			}
			if change == "" && len(revs) == 0 && len(set.Files) == 0 {
				if err := a.tellOpen(paths); err != nil {
					return err
				}
			}
			if a.json {
				files, err := flags.json(set)
				if err != nil {
					return err
				}
				err = printJSONList(a, files)
				return differs(err, exitCode, len(files))
			}
			if err := a.page(); err != nil {
				return err
			}
			return differs(flags.print(a, set), exitCode, len(set.Files))
		},
	}
	flags.add(c)
	c.Flags().StringVarP(&change, "change", "c", "", "what one change did")
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit 1 if anything differs")
	return c
}

// tellOpen says that conflicts are open where nothing differs: they are recorded, and who comes from elsewhere looks for them
// in a difference.
func (a *app) tellOpen(paths []string) error {
	base, err := a.repo.Base()
	if err != nil {
		return err
	}
	list, err := a.repo.Conflicts(base)
	if err != nil {
		return err
	}
	if n := len(conflictsBeneath(list, paths)); n > 0 {
		a.warn(fmt.Sprintf("nothing differs from what is recorded, with %s in it: oxy conflicts shows the sides", plural(n, "conflict")))
	}
	return nil
}

func differs(err error, exitCode bool, files int) error {
	if err == nil && exitCode && files > 0 {
		return errNo
	}
	return err
}

// revsAndPaths divides arguments into at most most states and the paths after them. Without a `--` to tell, an argument
// is a state if it names one, else a path if there is such a file.
func (a *app) revsAndPaths(cmd *cobra.Command, args []string, most int) (revs []repo.StateRef, rest []string, err error) {
	dash := cmd.ArgsLenAtDash()
	if dash > most {
		return nil, nil, usage(cmd.Name(), "%s takes at most %d states before --", cmd.Name(), most)
	}
	for i, arg := range args {
		if dash >= 0 && i >= dash || len(revs) == most && dash < 0 {
			return revs, args[i:], nil
		}
		if from, to, ok := strings.Cut(arg, ".."); ok && len(revs)+2 <= most && !strings.HasPrefix(to, ".") && (dash >= 0 || !a.isFile(arg)) {
			// A..B as in Git, an end left out being where the working copy stands. No name has two dots.
			for _, end := range [2]string{from, to} {
				state, err := a.repo.ResolveState(cmp.Or(end, "@"))
				if err != nil {
					return nil, nil, err
				}
				revs = append(revs, state)
			}
			continue
		}
		state, err := a.repo.ResolveState(arg)
		switch {
		case err == nil && dash < 0 && a.isFile(arg):
			return nil, nil, &repo.Error{Text: strconv.Quote(arg) + " is both a state and a file", Next: "Write -- before paths, and after states."}
		case err == nil:
			revs = append(revs, state)
		case dash < 0 && a.isFile(arg):
			return revs, args[i:], nil
		case dash < 0 && errors.Is(err, repo.ErrNoSuch):
			return nil, nil, neither(cmd.Name(), arg, err)
		default:
			return nil, nil, err
		}
	}
	return revs, nil, nil
}

// neither answers a word that is no state and no file that is there.
func neither(verb, arg string, err error) error {
	return &repo.Error{Text: err.Error() + ", and no such file", Err: err,
		Next: "States are in oxy log, oxy bookmark and oxy tag. For a file that is gone: oxy " + verb + " -- " + safepath.Quote(arg)}
}

// isFile reports whether a word of the command line is a path that is there.
func (a *app) isFile(arg string) bool {
	dir, err := a.cwd()
	if err != nil {
		return false
	}
	var st vfs.Stat
	return a.fs.Lstat(join(dir, arg), &st) == nil
}
