package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/serve"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func accessCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "access",
		Short: "Make the entries of a server's access file",
		Long: `An access file tells oxy serve --access who may read and push what. It holds no secret itself: of tokens and passwords only
what they can be checked with. Its form is in docs/server.md.`,
		Example: `  oxy access token ada
  oxy access password bob
  oxy access check /etc/oxy/access.toml`,
		Args: groupArgs,
		RunE: groupArgs,
	}
	c.AddCommand(accessToken(a), accessPassword(a), accessCheck(a))
	return c
}

type jsonAccess struct {
	Name  string `json:"name"`
	Token string `json:"token,omitempty"`
	Kept  string `json:"kept"`
}

func accessToken(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "token NAME",
		Short:   "Make a token for somebody, and what the access file keeps of it",
		Example: `  oxy access token ada`,
		Args:    exactly(1, "a name"),
		RunE: func(_ *cobra.Command, args []string) error {
			token, kept := serve.NewToken()
			if a.json {
				return a.printJSON(jsonAccess{args[0], token, kept})
			}
			return a.out.printf("The token, for %s alone; it cannot be shown again:\n\n%s\n\nFor the access file:\n\n%s", appendQuoted(nil, args[0]), token, accessEntry(args[0], "tokens = [\""+kept+"\"]"))
		},
	}
}

// accessEntry is what to put into an access file.
func accessEntry(name, secret string) string {
	return "[people." + quotedKey(name) + "]\n" + secret + "\nread = [\"*\"]\nwrite = []\n"
}

// quotedKey is a key of TOML.
func quotedKey(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == "" {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

func accessPassword(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "password NAME",
		Short: "Ask for a password, and print what the access file keeps of it",
		Long: `Ask for a password on the terminal, or read it from standard input, and print what the access file keeps of it. A token
from oxy access token is safer: nobody can guess it.`,
		Example: `  oxy access password bob`,
		Args:    exactly(1, "a name"),
		RunE: func(_ *cobra.Command, args []string) error {
			var password string
			if b, err := ui.AskSecret(a.stdio.In, a.stdio.Err, "Password for "+args[0]+": "); err == nil {
				password = string(b)
			} else {
				line, err := a.input().ReadString('\n')
				if err != nil && line == "" {
					return &repo.Error{Text: "there is no password", Next: "Type it, or give it on standard input."}
				}
				password = strings.TrimRight(line, "\r\n")
			}
			kept, err := serve.KeptPassword(password)
			if err != nil {
				return &repo.Error{Text: err.Error(), Next: "Choose another, or make a token: oxy access token " + args[0]}
			}
			if a.json {
				return a.printJSON(jsonAccess{Name: args[0], Kept: kept})
			}
			return a.out.printf("%s", accessEntry(args[0], "password = \""+kept+"\""))
		},
	}
}

func accessCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE",
		Short:   "Tell whether an access file can be used",
		Example: `  oxy access check /etc/oxy/access.toml`,
		Args:    exactly(1, "a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			b, err := a.fs.ReadFile(join(dir, args[0]), serve.MaxAccess)
			if err != nil {
				return &repo.Error{Text: "cannot read the access file: " + err.Error(), Err: err}
			}
			access, err := serve.ParseAccess(b)
			if err != nil {
				return &repo.Error{Text: "the access file: " + err.Error(), Next: "Mend it; until then a server that runs keeps to the one from before.", Err: err}
			}
			if a.json {
				return a.printJSON(struct {
					People int `json:"people"`
				}{access.People()})
			}
			return a.out.printf("It can be used: %s.\n", plural(access.People(), "name"))
		},
	}
}
