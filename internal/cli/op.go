package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func opCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "op",
		Short: "What commands did to this repository",
		Long: `Each command that changes something is an operation, and has a number. oxy op log lists them, oxy op show tells what one
did, oxy op restore goes back, or forward, to where one left everything.`,
		Example: `  oxy op log -n 5
  oxy op show 12`,
		Args: cobra.ArbitraryArgs,
		RunE: groupArgs,
	}
	c.AddCommand(opLogCommand(a), opShowCommand(a), opRestoreCommand(a))
	return c
}

func opLogCommand(a *app) *cobra.Command {
	var limit int
	c := &cobra.Command{
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
				b = strconv.AppendUint(append(b, '#'), uint64(op.Num), 10)
				b = append(b, a.colours().Reset...)
				b = append(b, "  "...)
				b = ui.AppendDate(b, op.Time, a.zone(op.Time))
				b = append(b, "  "...)
				b = appendOpWords(b, op)
				a.out.buf = append(b, '\n')
				return a.out.spill()
			})
			if err == errEnough {
				return nil
			}
			return err
		},
	}
	c.Flags().IntVarP(&limit, "number", "n", 0, "at most `N` operations")
	return c
}

// appendOpWords appends the command of an operation, and whether it took something back.
func appendOpWords(dst []byte, op *repo.OpInfo) []byte {
	dst = ui.AppendClean(dst, words(op.Command))
	switch {
	case op.Undo:
		dst = append(dst, "  (an undo)"...)
	case op.Redo:
		dst = append(dst, "  (a redo)"...)
	}
	return dst
}

// parseOp reads the number of an operation, as op log shows it or without the sign, which a shell may take for a comment.
func parseOp(verb, s string) (uint32, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 10, 32)
	if err != nil {
		return 0, usage("op "+verb, "op %s takes the number of an operation, not %q", verb, s)
	}
	return uint32(n), nil
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
	Redo    bool     `json:"redo"`
}

func newOp(op *repo.OpInfo) jsonOp {
	return jsonOp{op.Num, time.Unix(op.Time, 0).UTC().Format(time.RFC3339), op.User, append([]string{}, op.Command...), op.Undo, op.Redo}
}
