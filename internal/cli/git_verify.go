package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/gitbridge/bridge"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// proofMemory is historyMemory for a proof, beside which only the log is mapped. Its trees lie in memory: of Git's own history 500 MB are in
// use, and with a limit of 640 they were collected two thousand times, a third of the time of two cores.
const proofMemory = 760 << 20

func gitVerifyCommand(a *app) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "verify [--all | REV…]",
		Short: "Prove that what was imported is what Git has",
		Long: `For each commit that was imported, make the files again from the changes alone, compute Git's own ids of them, of the
trees, the commit and the annotated tags, and compare. With REV, which may be a commit's id in Git, only the commits that
this revision has, and what they stand on. The exit code is 1 when one is not what it was.`,
		Example: `  oxy git verify
  oxy git verify main`,
		RunE: func(_ *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return usage("git verify", "git verify takes --all or revisions, not both")
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(proofMemory))
			began := a.now()
			v, err := bridge.Verify(a.interruptible(), r, args, a.gitProgress())
			if err != nil {
				return err
			}
			seconds := a.now().Sub(began).Seconds()
			var bad error
			if n := len(v.Faults); n > 0 {
				bad = &repo.Error{Text: plural(n, "commit") + " or tags cannot be given back as Git had them", No: true}
			}
			if a.json {
				faults := make([]jsonLeft, len(v.Faults))
				for i, l := range v.Faults {
					faults[i] = jsonLeft{l.Name, l.Err.Error()}
				}
				err := a.printJSON(struct {
					Commits int        `json:"commits"`
					Tags    int        `json:"tags"`
					Files   int        `json:"files"`
					Faults  []jsonLeft `json:"faults"`
					Seconds float64    `json:"seconds"`
				}{v.Commits, v.Tags, v.Files, faults, seconds})
				if err != nil {
					return err
				}
				return bad
			}
			b := fmt.Appendf(a.out.buf, "%s and %s are what Git has, to the last byte: %.1f seconds, %.0f commits a second.\n", plural(v.Commits, "commit"),
				plural(v.Tags, "annotated tag"), seconds, float64(v.Commits)/max(seconds, 0.001))
			for i, l := range v.Faults {
				if i == shownLeft {
					break
				}
				b = fmt.Appendf(b, "Not so: %s: %v\n", l.Name, l.Err)
			}
			a.out.buf = b
			if err := a.out.spill(); err != nil {
				return err
			}
			return bad
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all that was imported or exported, as without a revision")
	return c
}
