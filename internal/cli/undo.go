package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func undoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "undo",
		Short: "Take back the last command that changed something",
		Long: `Take back the last operation that was not undone yet: a commit, a checkout, a discard, a bookmark. Again takes back the
one before. Changes in the working copy that are not recorded stay.`,
		Example: `  oxy undo
  oxy op log`,
		Args: nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			op, err := r.Undo(a.interruptible())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newOp(op))
			}
			return a.out.printf("Undid: %s (%s)\n", words(op.Command), ui.Ago(op.Time, a.now()))
		},
	}
}

func opCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "op",
		Short:   "What commands did to this repository",
		Example: `  oxy op log -n 5`,
		Args:    cobra.ArbitraryArgs,
		RunE:    groupArgs,
	}
	var limit int
	list := &cobra.Command{
		Use:     "log",
		Short:   "List the operations, latest first",
		Example: `  oxy op log -n 5`,
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			if err := a.page(); err != nil {
				return err
			}
			n := 0
			err = r.Ops(func(op *repo.OpInfo) error {
				if limit > 0 && n == limit {
					return errEnough
				}
				n++
				if a.json {
					return a.printJSON(newOp(op))
				}
				b := append(a.out.buf, a.colours().Yellow...)
				b = ui.AppendDate(b, op.Time, a.zone(op.Time))
				b = append(b, a.colours().Reset...)
				b = append(b, "  "...)
				b = ui.AppendClean(b, words(op.Command))
				if op.Undo {
					b = append(b, "  (an undo)"...)
				}
				a.out.buf = append(b, '\n')
				return a.out.spill()
			})
			if err == errEnough {
				return nil
			}
			return err
		},
	}
	list.Flags().IntVarP(&limit, "number", "n", 0, "at most `N` operations")
	c.AddCommand(list)
	return c
}

// zone is the person's own zone at a moment, minutes east of UTC.
func (a *app) zone(sec int64) int16 {
	_, offset := time.Unix(sec, 0).In(a.now().Location()).Zone()
	return int16(offset / 60)
}

// words is a command as one would type it.
func words(command []string) string {
	var b strings.Builder
	b.WriteString("oxy")
	for _, w := range command {
		b.WriteByte(' ')
		if w == "" || w[0] == '~' || w[0] == '#' || strings.ContainsAny(w, " \t\n'\"\\$&|;<>()*?`!") {
			b.WriteString("'" + strings.ReplaceAll(w, "'", `'\''`) + "'")
		} else {
			b.WriteString(w)
		}
	}
	return b.String()
}

type jsonOp struct {
	Number  uint32   `json:"number"`
	Time    string   `json:"time"`
	User    string   `json:"user"`
	Command []string `json:"command"`
	Undo    bool     `json:"undo"`
}

func newOp(op *repo.OpInfo) jsonOp {
	return jsonOp{op.Num, time.Unix(op.Time, 0).UTC().Format(time.RFC3339), op.User, append([]string{}, op.Command...), op.Undo}
}
