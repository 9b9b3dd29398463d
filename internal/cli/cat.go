package cli

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

func catCommand(a *app) *cobra.Command {
	var rev string
	c := &cobra.Command{
		Use:   "cat PATH",
		Short: "Print a file as it is recorded",
		Example: `  oxy cat src/parser.go
  oxy cat -r main~5 src/parser.go`,
		Args: exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			state, err := r.ResolveState(rev)
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			if !a.json {
				return r.Cat(a.out, state, paths[0])
			}
			var b bytes.Buffer
			if err := r.Cat(&b, state, paths[0]); err != nil {
				return err
			}
			path := newText(paths[0])
			j := struct {
				jsonPath
				State  jsonState `json:"state"`
				Size   int       `json:"size"`
				Text   *string   `json:"text,omitempty"`
				Base64 string    `json:"base64,omitempty"`
			}{jsonPath: jsonPath{path.Value, path.Bytes}, State: newState(state), Size: b.Len()}
			if utf8.Valid(b.Bytes()) {
				s := b.String()
				j.Text = &s
			} else {
				j.Base64 = base64.StdEncoding.EncodeToString(b.Bytes())
			}
			return a.printJSON(j)
		},
	}
	c.Flags().StringVarP(&rev, "revision", "r", "@", "the file as `REV` has it")
	return c
}
