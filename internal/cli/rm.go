package cli

import "github.com/spf13/cobra"

func rmCommand(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "rm PATHS",
		Short: "Delete files from the working copy and, with the next commit, from what follows",
		Long: `Delete files and directories from the working copy; the next commit records it. Files with changes that are not
recorded are only deleted with --force. A file that was deleted without oxy is noticed by itself.`,
		Example: `  oxy rm old.txt
  oxy rm --force build`,
		Args: atLeastOne("paths"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			gone, err := r.Remove(a.interruptible(), paths, force)
			if err != nil {
				return notRecording(err)
			}
			return a.listPaths("Removed", gone)
		},
	}
	c.Flags().BoolVar(&force, "force", false, "delete changes that are not recorded too")
	return c
}

// listPaths writes what was done to which paths.
func (a *app) listPaths(did string, list []string) error {
	if a.json {
		return a.printJSON(newJSONPaths(list))
	}
	for _, path := range list {
		b := append(a.out.buf, did...)
		b = append(b, ' ')
		b = a.show().append(b, path)
		a.out.buf = append(b, '\n')
		if err := a.out.spill(); err != nil {
			return err
		}
	}
	return nil
}
