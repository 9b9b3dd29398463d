package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/hgbridge/bridge"
	"github.com/oxy-vcs/oxy/internal/repo"
)

func hgVerifyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Prove that what was imported is what Mercurial has",
		Long: `For each changeset that was imported, make the files again from the changes alone, compute Mercurial's own ids of the file
revisions, the manifest and the changeset, and compare. The exit code is 1 when one is not what it was. Nothing is asked of
Mercurial's repository, which may be gone.`,
		Example: `  oxy hg verify`,
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			// Memory is collected as it goes: to be given up to the limit by the system takes longer than to collect the 120 MB in use.
			defer debug.SetGCPercent(debug.SetGCPercent(200))
			began := a.now()
			v, err := bridge.Verify(a.interruptible(), r, a.gitProgress())
			if err != nil {
				return err
			}
			seconds := a.now().Sub(began).Seconds()
			var bad error
			if n := len(v.Faults); n > 0 {
				bad = &repo.Error{Text: plural(n, "changeset") + " cannot be made again as Mercurial had them", No: true}
			}
			if err := a.verifiedHg(v, seconds); err != nil {
				return err
			}
			return bad
		},
	}
}

func (a *app) verifiedHg(v *bridge.Verified, seconds float64) error {
	if a.json {
		return a.printJSON(struct {
			Changesets int        `json:"changesets"`
			Files      int        `json:"files"`
			Trusted    int        `json:"trusted"`
			Faults     []jsonLeft `json:"faults"`
			Seconds    float64    `json:"seconds"`
		}{v.Changesets, v.Files, v.Trusted, leftHg(v.Faults), seconds})
	}
	b := fmt.Appendf(a.out.buf, "%s with %s of files have the ids that Mercurial has: %.1f seconds, %.0f a second.\n", plural(v.Changesets, "changeset"), plural(v.Files, "revision"),
		seconds, float64(v.Changesets)/max(seconds, 0.001))
	if v.Trusted > 0 {
		b = fmt.Appendf(b, "Taken as they are: %s of files or manifests that nothing here makes (contents that Mercurial lacks, manifests by directory).\n", plural(v.Trusted, "id"))
	}
	for i, l := range v.Faults {
		if i == shownLeft {
			break
		}
		b = fmt.Appendf(b, "Not so: %s: %v\n", l.Name, l.Err)
	}
	a.out.buf = b
	return a.out.spill()
}
