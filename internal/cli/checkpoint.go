package cli

import (
	"encoding/hex"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func checkpointCommand(a *app) *cobra.Command {
	var signs bool
	var key string
	c := &cobra.Command{
		Use:   "checkpoint",
		Short: "Keep the tree of the current state, so that it is read at once later",
		Long: `Keep the tree of the current state. oxy does so by itself now and then; a checkpoint where you know that you will
come back to makes that faster. It changes nothing of the history.

With --sign you also vouch for what the state's tree is, with the key of oxy sign: who trusts you can begin there without the history
before. oxy checkpoint verify tells who signed, and proves that the tree is what was signed.`,
		Example: `  oxy checkpoint
  oxy checkpoint --sign
  oxy checkpoint list
  oxy checkpoint drop 1a2b3c4d5e6f`,
		Args: groupOrNothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			if signs || key != "" {
				return a.signCheckpoint(r, key)
			}
			s, err := r.Checkpoint()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newState(s))
			}
			return a.out.printf("Kept the state after %s.\n", plural(int(s.Len), "change"))
		},
	}
	c.Flags().BoolVar(&signs, "sign", false, "sign what the state's tree is")
	c.Flags().StringVar(&key, "key", "", "sign with the key in `FILE`")
	c.AddCommand(verifyCheckpointCommand(a))
	c.AddCommand(&cobra.Command{
		Use:     "list",
		Short:   "List the states that are kept",
		Example: `  oxy checkpoint list`,
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			states, err := r.Checkpoints()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newStates(states))
			}
			signed, err := r.SignedCheckpoints()
			if err != nil {
				return err
			}
			for _, s := range states {
				mark := ""
				if slices.ContainsFunc(signed, func(c repo.SignedCheckpoint) bool { return c.State == s.ID }) {
					mark = "  signed"
				}
				if err := a.out.printf("%s  %s%s\n", hex.EncodeToString(s.ID[:6]), plural(int(s.Len), "change"), mark); err != nil {
					return err
				}
			}
			return nil
		},
	})
	c.AddCommand(&cobra.Command{
		Use:   "drop CHECKPOINT",
		Short: "Keep the tree of a state no longer",
		Long: `Keep the tree of a state no longer: of one that oxy checkpoint list shows, by its id, or of a revision. Nothing of the
history goes with it, and the tree is made again whenever it is asked for.`,
		Example: `  oxy checkpoint drop 1a2b3c4d5e6f`,
		Args:    exactly(1, "one checkpoint"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			s, err := r.DropCheckpoint(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(newState(s))
			}
			return a.out.printf("The tree of the state after %s is kept no longer.\n", plural(int(s.Len), "change"))
		},
	})
	return c
}

func newStates(states []repo.StateRef) []jsonState {
	out := make([]jsonState, len(states))
	for i, s := range states {
		out[i] = newState(s)
	}
	return out
}
