package cli

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// gcMemory is where garbage collection begins while the repository is packed: what that needs does not grow with it,
// and it runs for long beside other work.
const gcMemory = 192 << 20

func gcCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "gc",
		Short: "Pack the repository so that it takes less room",
		Long: `Pack the repository. Nothing is lost: every change, operation and file stays, they only take less room. Where too
little is to be gained it is left as it is. Interrupted at any point it leaves the repository whole.`,
		Example: `  oxy gc`,
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(gcMemory))
			began := a.now()
			res, err := r.GC(a.interruptible())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					Before  int64   `json:"before"`
					After   int64   `json:"after"`
					Seconds float64 `json:"seconds"`
				}{res.Before, res.After, a.now().Sub(began).Seconds()})
			}
			if res.After >= res.Before {
				return a.out.printf("It is packed well already: %s.\n", size(res.After))
			}
			return a.out.printf("Packed %s to %s.\n", size(res.Before), size(res.After))
		},
	}
}
