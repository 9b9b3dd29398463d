package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

type logFlags struct {
	diffFlags
	limit                      count
	author, since, until, grep string
	patch, oneline, graph      bool
}

func logCommand(a *app) *cobra.Command {
	var flags logFlags
	c := &cobra.Command{
		Use:   "log [REV] [--] [PATHS]",
		Short: "Show the changes, latest first",
		Long: `Show the changes of the current bookmark, or up to REV; with PATHS only those that touched them, under any name that
they had. After the id stands, in brackets, what points there: the current bookmark or @, other bookmarks, tags.

With --graph lines lead from each change down to those that it depends on; a hollow dot is a change that depends on
none.`,
		Example: `  oxy log -n 10
  oxy log --oneline --author ada --since "2 weeks ago"
  oxy log -p -- src/parser.go`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			revs, rest, err := a.revsAndPaths(cmd, args, 1)
			if err != nil {
				return err
			}
			opt := repo.LogOptions{Limit: int(flags.limit), Author: flags.author, Text: flags.grep}
			if len(revs) == 1 {
				opt.State = &revs[0]
			}
			if opt.Paths, err = a.rel(rest); err != nil {
				return err
			}
			if opt.Since, err = a.moment(flags.since, "--since"); err != nil {
				return err
			}
			if opt.Until, err = a.moment(flags.until, "--until"); err != nil {
				return err
			}
			if err := flags.checkGraph(&opt); err != nil {
				return err
			}
			if err := a.page(); err != nil {
				return err
			}
			defer a.timings.Phase("log")(0)
			if flags.graph && !a.json {
				return flags.drawn(a, opt)
			}
			first := true
			return r.Log(opt, func(c *repo.ChangeInfo) error {
				defer func() { first = false }()
				return flags.one(a, c, opt.Paths, first)
			})
		},
	}
	c.Flags().VarP(&flags.limit, "number", "n", "at most `N` changes")
	c.Flags().StringVar(&flags.author, "author", "", "only changes by those with `TEXT` in name or email")
	c.Flags().StringVar(&flags.since, "since", "", "only changes from `DATE` on")
	c.Flags().StringVar(&flags.until, "until", "", "only changes up to `DATE`")
	c.Flags().StringVar(&flags.grep, "grep", "", "only changes with `TEXT` in the message")
	c.Flags().BoolVarP(&flags.patch, "patch", "p", false, "what each change did, line by line")
	c.Flags().BoolVar(&flags.oneline, "oneline", false, "a line for each change")
	c.Flags().BoolVar(&flags.graph, "graph", false, "draw which change depends on which")
	flags.add(c)
	return c
}

// checkGraph refuses a graph of some changes: of what lies between two of them it could not tell.
func (f *logFlags) checkGraph(opt *repo.LogOptions) error {
	if f.graph && (len(opt.Paths) > 0 || opt.Author != "" || opt.Text != "" || opt.Since != 0 || opt.Until != 0) {
		return &repo.Error{Text: "log --graph shows all changes, and takes no paths and no --author, --grep, --since or --until",
			Next: "Show the first few with: oxy log --graph -n 20"}
	}
	return nil
}

// drawn writes the log beside the graph.
func (f *logFlags) drawn(a *app, opt repo.LogOptions) error {
	var g graph
	page := a.out
	w := &beside{to: page}
	a.out = newOutput(w)
	defer func() { a.out = page }()
	return a.repo.Log(opt, func(c *repo.ChangeInfo) error {
		if w.lines > 0 && !f.oneline {
			w.begin(true) // an empty line between two
			page.WriteString("\n")
		}
		deps, err := a.repo.Deps(c.Num, false)
		if err != nil {
			return err
		}
		below := make([]uint32, len(deps))
		for i, d := range deps {
			below[i] = d.Num
		}
		w.margin, w.lines = g.next(c.Num, below), 0
		if err := f.one(a, c, nil, true); err != nil {
			return err
		}
		if err := a.out.Flush(); err != nil {
			return err
		}
		w.end()
		return page.spill()
	})
}

// moment reads a date of a flag; 0 when it was not given.
func (a *app) moment(s, flag string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	t, err := ui.ParseDate(s, a.now())
	if err != nil {
		return 0, usage("log", "%s: %v", flag, err)
	}
	return t.Unix(), nil
}

// one writes one change.
func (f *logFlags) one(a *app, c *repo.ChangeInfo, paths []string, first bool) error {
	wantsFiles := f.patch || f.stat || f.nameOnly || f.nameStatus || f.words
	if a.json {
		return f.oneJSON(a, c, paths, wantsFiles)
	}
	b := a.out.buf
	if f.oneline {
		b = a.appendOneline(b, c)
	} else {
		if !first {
			b = append(b, '\n')
		}
		b = a.appendChange(b, c)
	}
	a.out.buf = b
	if err := a.out.spill(); err != nil || !wantsFiles {
		return err
	}
	set, err := a.repo.DiffChange(c.Num, paths)
	if err != nil {
		return err
	}
	if !f.oneline {
		a.out.WriteString("\n")
	}
	return f.print(a, set)
}

func (f *logFlags) oneJSON(a *app, c *repo.ChangeInfo, paths []string, wantsFiles bool) error {
	j := a.newChange(c)
	if wantsFiles {
		set, err := a.repo.DiffChange(c.Num, paths)
		if err != nil {
			return err
		}
		files, err := f.json(set)
		if err != nil {
			return err
		}
		j.Files = &files
	}
	return a.printJSON(j)
}

func (a *app) appendOneline(dst []byte, c *repo.ChangeInfo) []byte {
	p := a.colours()
	dst = append(dst, p.Yellow...)
	dst = append(dst, a.repo.ShortID(c.Num)...)
	dst = append(dst, p.Reset...)
	dst = appendNames(dst, c.Names, p)
	dst = append(a.appendSigned(dst, c), ' ')
	dst = ui.AppendClean(dst, subject(c.Message))
	return append(dst, '\n')
}

// appendChange appends what a person wants to know of a change.
func (a *app) appendChange(dst []byte, c *repo.ChangeInfo) []byte {
	signed := ""
	if res, ok := a.verdict(c); ok {
		signed = res.String()
	}
	return appendChangeText(dst, c, a.repo.ShortID(c.Num), a.undone(c), signed, a.colours())
}

// undone names the change that another undoes; of one that undoes none it is "".
func (a *app) undone(c *repo.ChangeInfo) string {
	if c.Undoes.IsZero() {
		return ""
	}
	n, err := a.repo.ResolveChange(c.Undoes.String())
	if err != nil {
		return c.Undoes.Short()
	}
	info, err := a.repo.Info(n)
	if err != nil {
		return a.repo.ShortID(n)
	}
	return a.repo.ShortID(n) + " " + subject(info.Message)
}

func appendChangeText(dst []byte, c *repo.ChangeInfo, short, undone, signed string, p *ui.Palette) []byte {
	dst = append(dst, p.Yellow...)
	dst = append(dst, "change "...)
	dst = append(dst, short...)
	dst = append(dst, p.Reset...)
	dst = appendNames(dst, c.Names, p)
	dst = append(dst, "\nAuthor: "...)
	dst = ui.AppendClean(dst, c.Author.Name)
	dst = append(dst, " <"...)
	dst = ui.AppendClean(dst, c.Author.Email)
	dst = append(dst, ">\nDate:   "...)
	dst = ui.AppendDate(dst, c.Time.Sec, c.Time.Zone)
	if undone != "" {
		dst = ui.AppendClean(append(dst, "\nUndoes: "...), undone)
	}
	if signed != "" {
		dst = ui.AppendClean(append(dst, "\nSigned: "...), signed)
	}
	dst = append(dst, "\n\n"...)
	return appendIndented(dst, c.Message)
}

// appendNames appends what points to where a change leads, as ` (main, v1)`: bookmarks, then tags. First comes where
// the working copy stands: the current bookmark, or @ without one.
func appendNames(dst []byte, n *repo.Names, p *ui.Palette) []byte {
	if n == nil {
		return dst
	}
	sep, shown, more := " (", 0, 0
	add := func(colour, name string) {
		if shown == maxNames {
			more++
			return
		}
		shown++
		dst = append(append(dst, sep...), colour...)
		dst = append(appendQuoted(dst, name), p.Reset...)
		sep = ", "
	}
	if n.Here && !n.Current {
		add(p.Cyan, "@")
	}
	for _, name := range n.Bookmarks {
		add(p.Green, name)
	}
	for _, name := range n.Tags {
		add(p.Magenta, name)
	}
	if more > 0 {
		dst = fmt.Appendf(dst, " and %d more", more)
	}
	return append(dst, ')')
}

// maxNames is how many bookmarks and tags a change is shown with: a line's worth. JSON has all.
const maxNames = 8

// appendIndented appends a message, its lines four columns in.
func appendIndented(dst []byte, message string) []byte {
	for message != "" {
		line := message
		for i := 0; i < len(message); i++ {
			if message[i] == '\n' {
				line = message[:i]
				break
			}
		}
		message = message[min(len(line)+1, len(message)):]
		if line != "" {
			dst = append(dst, "    "...)
			dst = ui.AppendClean(dst, line)
		}
		dst = append(dst, '\n')
	}
	return dst
}
