package cli

import (
	"runtime"

	"github.com/spf13/cobra"
)

func versionOf(env Env) string {
	if env.Version == "" {
		return "development"
	}
	return env.Version
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Tell which oxy this is",
		Example: `  oxy version`,
		Args:    nothing,
		RunE: func(*cobra.Command, []string) error {
			version := versionOf(a.env)
			if a.json {
				return a.printJSON(struct {
					Version string `json:"version"`
					Go      string `json:"go"`
					OS      string `json:"os"`
					Arch    string `json:"arch"`
				}{version, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			return a.out.printf("oxy %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}
