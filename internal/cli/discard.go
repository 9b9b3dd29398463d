package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func discardCommand(a *app) *cobra.Command {
	var all, interactive bool
	var hunks []string
	c := &cobra.Command{
		Use:   "discard [PATHS]",
		Short: "Take back changes that are not recorded",
		Long: `Put files back as they are recorded: those beneath PATHS, or everything with --all, or some hunks. oxy undo brings
what was discarded back.`,
		Example: `  oxy discard notes.txt
  oxy discard --hunk 3f9a
  oxy discard --all`,
		RunE: func(_ *cobra.Command, args []string) error {
			given := 0
			for _, is := range []bool{all, interactive, len(hunks) > 0} {
				if is {
					given++
				}
			}
			switch {
			case given > 1, len(args) > 0 && (all || len(hunks) > 0):
				return usage("discard", "discard takes one of paths, --all, --hunk and -i")
			case given == 0 && len(args) == 0:
				return &repo.Error{Text: "discard needs to know what", Next: "Name paths, or take everything: oxy discard --all"}
			}
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			ctx := a.interruptible()
			if interactive {
				if hunks, err = a.pick("discard", paths); err != nil {
					return err
				}
				paths = nil
			}
			files, err := r.Discard(ctx, paths, hunks)
			if err != nil {
				return err
			}
			if a.json {
				return printJSONList(a, newFiles(files))
			}
			if len(files) == 0 {
				return &repo.Error{Text: "nothing to discard: it is all as recorded", No: true}
			}
			var b []byte
			for i := range files {
				b = a.appendRow(b, "  ", a.fileRow(&files[i]))
			}
			if _, err := a.out.Write(b); err != nil {
				return err
			}
			return a.out.printf("Discarded; oxy undo brings it back.\n")
		},
	}
	c.Flags().BoolVar(&all, "all", false, "everything that is not recorded")
	c.Flags().StringArrayVar(&hunks, "hunk", nil, "only the hunk with this `ID`; may be given again")
	c.Flags().BoolVarP(&interactive, "interactive", "i", false, "ask for each hunk")
	return c
}
