package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpCommand is cobra's own but for the exit code of a verb that there is not.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Show what a verb does, what it takes and an example",
		Example: `  oxy help commit
  oxy help op log`,
		ValidArgsFunction: func(c *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			var names []string
			at, _, err := c.Root().Find(args)
			if err == nil {
				for _, sub := range at.Commands() {
					if sub.IsAvailableCommand() && strings.HasPrefix(sub.Name(), start) {
						names = append(names, sub.Name()+"\t"+sub.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			at, rest, err := c.Root().Find(args)
			if err != nil || at == c.Root() && len(rest) > 0 {
				return unknownVerb(c.Root(), args[0])
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
}
