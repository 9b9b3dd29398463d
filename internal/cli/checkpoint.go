package cli

import (
	"encoding/hex"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func checkpointCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "checkpoint",
		Short: "Keep the tree of the current state, so that it is read at once later",
		Long: `Keep the tree of the current state. oxy does so by itself now and then; a checkpoint where you know that you will
come back to makes that faster. It changes nothing of the history.`,
		Example: `  oxy checkpoint
  oxy checkpoint list
  oxy checkpoint drop 1a2b3c4d5e6f`,
		Args: groupOrNothing,
		RunE: func(*cobra.Command, []string) error {
			r, err := a.open()
			if err != nil {
				return err
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
			for _, s := range states {
				if err := a.out.printf("%s  %s\n", hex.EncodeToString(s.ID[:6]), plural(int(s.Len), "change")); err != nil {
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
