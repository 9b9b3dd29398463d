package cli

import "github.com/spf13/cobra"

func mvCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "mv FROM TO",
		Short: "Rename or move a file or a directory",
		Long: `Move FROM to TO in the working copy; the next commit records it as a move. A file that was moved without oxy is found
by its content, so this is only needed for one that changed much on the way.`,
		Example: `  oxy mv parser.go src/parser.go`,
		Args:    exactly(2, "what to move and where to"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			if err := r.Move(a.interruptible(), paths[0], paths[1]); err != nil {
				return notRecording(err)
			}
			if a.json {
				from, to := newText(paths[0]), newText(paths[1])
				return a.printJSON(struct {
					From      string `json:"from"`
					FromBytes string `json:"from_bytes,omitempty"`
					To        string `json:"to"`
					ToBytes   string `json:"to_bytes,omitempty"`
				}{from.Value, from.Bytes, to.Value, to.Bytes})
			}
			return a.out.printf("Moved %s to %s.\n", a.show().text(paths[0]), a.show().text(paths[1]))
		},
	}
}
