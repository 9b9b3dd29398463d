package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

// relatedFlags are what deps and dependents have in common.
type relatedFlags struct {
	all, dot bool
}

func (f *relatedFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.all, "all", false, "those behind them too, each beneath one that leads there")
	c.Flags().BoolVar(&f.dot, "dot", false, "print a graph for Graphviz: an arrow from a change to what it depends on")
}

func depsCommand(a *app) *cobra.Command {
	var flags relatedFlags
	c := &cobra.Command{
		Use:   "deps CHANGE",
		Short: "List the changes that a change depends on",
		Long: `List the changes that CHANGE needs to be there: those whose lines it edits or stands beside, whose files it moves or
removes. Only the nearest are listed; what they depend on in turn is needed too, and --all lists it.

CHANGE is the beginning of a change's id, or a state, of which it is the last one.`,
		Example: `  oxy deps 1a2b3c4d
  oxy deps --all main
  oxy deps --all --dot main | dot -Tsvg > deps.svg`,
		Args: exactly(1, "one change"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			n, err := r.ResolveChange(args[0])
			if err != nil {
				return err
			}
			list, err := r.Deps(n, flags.all)
			if err != nil {
				return err
			}
			return flags.print(a, n, list, "%s depends on no other change.\n", r.ShortID(n))
		},
	}
	flags.add(c)
	return c
}

func dependentsCommand(a *app) *cobra.Command {
	var flags relatedFlags
	var rev string
	c := &cobra.Command{
		Use:   "dependents CHANGE",
		Short: "List the changes that depend on a change",
		Long: `List the changes of the current state, or of REV, that need CHANGE to be there: those that name it as what they depend
on, and with --all those that depend on these. Without CHANGE none of them could stay.`,
		Example: `  oxy dependents 1a2b3c4d
  oxy dependents 1a2b3c4d --all -r v1.0`,
		Args: exactly(1, "one change"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			n, err := r.ResolveChange(args[0])
			if err != nil {
				return err
			}
			s, err := r.ResolveState(rev)
			if err != nil {
				return err
			}
			list, err := r.Dependents(n, s, flags.all)
			if err != nil {
				return err
			}
			return flags.print(a, n, list, "no change there depends on %s.\n", r.ShortID(n))
		},
	}
	flags.add(c)
	c.Flags().StringVarP(&rev, "revision", "r", "@", "the changes of `REV`")
	return c
}

// print writes what was found about change n; without anything the text none, with its argument.
func (f *relatedFlags) print(a *app, n uint32, list []repo.Related, none, id string) error {
	switch {
	case f.dot && a.json:
		return &repo.Error{Text: "--dot and --json are two forms of one answer", Next: "Choose one of them."}
	case f.dot:
		return a.dot(n, list)
	case a.json:
		return a.relatedJSON(list)
	case len(list) == 0:
		return a.out.printf(none, id)
	}
	if err := a.page(); err != nil {
		return err
	}
	for _, rel := range list {
		info, err := a.repo.Info(rel.Num)
		if err != nil {
			return err
		}
		a.out.buf = a.appendOneline(appendDepth(a.out.buf, rel.Depth), info)
		if err := a.out.spill(); err != nil {
			return err
		}
	}
	return nil
}

// deepest is the depth from which on a number tells it: a file that changed a thousand times makes a chain that deep,
// and no screen is that wide.
const deepest = 20

func appendDepth(dst []byte, depth int) []byte {
	for range min(depth, deepest) - 1 {
		dst = append(dst, "  "...)
	}
	if depth > deepest {
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(depth), 10)
		dst = append(dst, "] "...)
	}
	return dst
}

type jsonRelated struct {
	jsonChange
	Depth int `json:"depth"`
}

func (a *app) relatedJSON(list []repo.Related) error {
	out := make([]jsonRelated, len(list))
	for i, rel := range list {
		info, err := a.repo.Info(rel.Num)
		if err != nil {
			return err
		}
		out[i] = jsonRelated{a.newChange(info), rel.Depth}
	}
	return printJSONList(a, out)
}

// dot writes a change and those around it in Graphviz' language.
func (a *app) dot(n uint32, list []repo.Related) error {
	infos := make([]*repo.ChangeInfo, 0, len(list)+1)
	short := make(map[change.ID]string, len(list)+1)
	list = slices.Insert(slices.Clone(list), 0, repo.Related{Num: n})
	for _, rel := range list {
		info, err := a.repo.Info(rel.Num)
		if err != nil {
			return err
		}
		infos = append(infos, info)
		short[info.ID] = a.repo.ShortID(rel.Num)
	}
	b := append(a.out.buf, "digraph oxy {\n  node [shape=box];\n"...)
	for i, info := range infos {
		b = append(append(append(b, "  \""...), short[info.ID]...), `" [label="`...)
		b = append(append(b, short[info.ID]...), `\n`...)
		b = appendDotText(b, subject(info.Message))
		b = append(b, '"')
		if i == 0 {
			b = append(b, ", style=bold"...)
		}
		b = append(b, "];\n"...)
	}
	for _, info := range infos {
		for _, d := range info.Deps {
			if to, ok := short[d]; ok {
				b = append(append(b, "  \""...), short[info.ID]...)
				b = append(append(append(b, `" -> "`...), to...), "\";\n"...)
			}
		}
	}
	a.out.buf = append(b, "}\n"...)
	return a.out.spill()
}

func appendDotText(dst []byte, s string) []byte {
	return append(dst, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(string(ui.AppendClean(nil, s)))...)
}
