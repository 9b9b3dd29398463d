package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func signCommand(a *app) *cobra.Command {
	var key string
	c := &cobra.Command{
		Use:   "sign [CHANGE...]",
		Short: "Sign changes with your SSH key",
		Long: `Sign the changes, or the last one: to vouch for what is recorded already, also by others. The change stays what it is, with
its id; a signature is kept beside it. oxy commit --sign signs as it records, and the setting sign.commits all that you record.

The key is the one that your own setting sign.key names: a private or public key's file, or a certificate. An agent that
holds it (SSH_AUTH_SOCK) is asked first; hardware keys work through the agent or ssh-keygen. What the settings of a
repository say of keys never counts.`,
		Example: `  oxy config --user sign.key ~/.ssh/id_ed25519
  oxy sign
  oxy sign 1a2b3c4d 5e6f7a8b`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"@"}
			}
			numbers := make([]uint32, len(args))
			for i, arg := range args {
				if numbers[i], err = r.ResolveChange(arg); err != nil {
					return err
				}
			}
			if key != "" {
				dir, err := a.cwd()
				if err != nil {
					return err
				}
				key = join(dir, key)
			}
			done, err := r.Sign(numbers, key)
			if err != nil {
				return err
			}
			if a.json {
				return a.signedJSON(done)
			}
			for i, d := range done {
				word := "Signed"
				if d.Already {
					word = "Signed already:"
				}
				info, err := r.Info(numbers[i])
				if err != nil {
					return err
				}
				a.out.buf = a.appendOneline(append(append(a.out.buf, word...), ' '), info)
			}
			return a.out.spill()
		},
	}
	c.Flags().StringVar(&key, "key", "", "sign with the key in `FILE`")
	return c
}

type jsonSigned struct {
	ID      string `json:"id"`
	Key     string `json:"key"`
	Already bool   `json:"already"`
}

func (a *app) signedJSON(done []repo.SignResult) error {
	list := make([]jsonSigned, len(done))
	for i, d := range done {
		list[i] = jsonSigned{d.ID.String(), d.Key, d.Already}
	}
	return printJSONList(a, list)
}

// askPassphrase asks a person for what a key is encrypted with.
func (a *app) askPassphrase(name string) ([]byte, error) {
	return ui.AskSecret(a.stdio.In, a.stdio.Err, "Passphrase of "+name+": ")
}

// mark is what a line of a log says of a change's signatures: a word for each verdict.
func mark(v sign.Verdict) string {
	switch v {
	case sign.Good:
		return "signed"
	case sign.Bad:
		return "bad signature"
	case sign.None:
		return ""
	}
	return "signed: " + v.String()
}

// appendSigned appends the mark of a change that is signed, in colour and brackets.
func (a *app) appendSigned(dst []byte, c *repo.ChangeInfo) []byte {
	res, ok := a.verdict(c)
	if !ok || mark(res.Verdict) == "" {
		return dst
	}
	p := a.colours()
	colour := p.Red
	if res.Verdict == sign.Good {
		colour = p.Green
	}
	dst = append(append(dst, " ["...), colour...)
	return append(append(append(dst, mark(res.Verdict)...), p.Reset...), ']')
}

// verdict judges a change's signatures. Where the lists of keys cannot be read that is said once, and nothing is marked.
func (a *app) verdict(c *repo.ChangeInfo) (sign.Result, bool) {
	if a.noMarks {
		return sign.Result{}, false
	}
	res, ok, err := a.repo.Signed(c)
	if err != nil {
		a.noMarks = true
		a.warn("signatures are not shown: " + err.Error())
		return sign.Result{}, false
	}
	return res, ok
}
