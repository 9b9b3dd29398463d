package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/ui"
)

type verifyFlags struct {
	repo.PolicyOptions
	at  string
	all bool
}

func verifyCommand(a *app) *cobra.Command {
	var flags verifyFlags
	c := &cobra.Command{
		Use:   "verify [REV|A..B]",
		Short: "Prove that changes are signed by whom you trust",
		Long: `Judge every change of the current state, of REV, or only those that B has and A has not: each must have a good
signature, by a key that your list of allowed signers has for its author. What does not pass is listed, and the exit code is
then 1.

The list is the one that your own setting sign.allowed names, in the form that ssh-keygen reads (man ssh-keygen, ALLOWED
SIGNERS); sign.revoked names a list of keys that count no more. With --anyone, or the setting sign.anyone, whoever is allowed may sign
for any author. Keys must be good at the time that a change says; --at gives another one.`,
		Example: `  oxy config --user sign.allowed ~/.ssh/allowed_signers
  oxy verify
  oxy verify v1.0..main
  oxy verify --anyone --allowed ./maintainers`,
		Args: atMost(1, "one state or A..B"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			of, without, err := a.verifyRange(args)
			if err != nil {
				return err
			}
			p, err := flags.policy(a)
			if err != nil {
				return err
			}
			return flags.verify(a, r, of, without, p)
		},
	}
	c.Flags().StringVar(&flags.Allowed, "allowed", "", "trust the keys in `FILE`")
	c.Flags().StringVar(&flags.Revoked, "revoked", "", "trust none of the keys in `FILE`")
	c.Flags().BoolVar(&flags.Anyone, "anyone", false, "whoever is allowed may sign for any author")
	c.Flags().StringVar(&flags.at, "at", "", "keys must be good at `DATE`")
	c.Flags().BoolVar(&flags.all, "all", false, "list also what passes")
	return c
}

// verifyRange reads what is to be verified.
func (a *app) verifyRange(args []string) (of repo.StateRef, without *repo.StateRef, err error) {
	rev := "@"
	if len(args) == 1 {
		rev = args[0]
	}
	if from, to, ok := strings.Cut(rev, ".."); ok && !strings.HasPrefix(to, ".") {
		s, err := a.repo.ResolveState(cmp.Or(from, "@"))
		if err != nil {
			return of, nil, err
		}
		without, rev = &s, cmp.Or(to, "@")
	}
	of, err = a.repo.ResolveState(rev)
	return of, without, err
}

func (f *verifyFlags) policy(a *app) (*sign.Policy, error) {
	if f.at != "" {
		t, err := ui.ParseDate(f.at, a.now())
		if err != nil {
			return nil, usage("verify", "--at: %v", err)
		}
		f.At = t
	}
	dir, err := a.cwd()
	if err != nil {
		return nil, err
	}
	for _, name := range []*string{&f.Allowed, &f.Revoked} {
		if *name != "" {
			*name = join(dir, *name)
		}
	}
	p, err := a.repo.Policy(f.PolicyOptions)
	if err != nil {
		return nil, err
	}
	if p.Allowed == nil {
		return nil, &repo.Error{Text: "nothing says whom to trust", Next: "Name a list of allowed signers: oxy config --user sign.allowed FILE, or --allowed FILE"}
	}
	return p, nil
}

type jsonVerified struct {
	ID          string `json:"id"`
	Verdict     string `json:"verdict"`
	Principal   string `json:"principal,omitempty"`
	Key         string `json:"key,omitempty"`
	Reason      string `json:"reason,omitempty"`
	AllowedLine int    `json:"allowed_line,omitempty"`
}

type jsonVerify struct {
	OK      bool           `json:"ok"`
	Total   int            `json:"total"`
	Good    int            `json:"good"`
	Changes []jsonVerified `json:"changes"`
}

func newVerified(res *sign.Result) jsonVerified {
	return jsonVerified{res.Change.String(), res.Verdict.String(), res.Principal, res.Fingerprint, res.Reason, res.Line}
}

func (f *verifyFlags) verify(a *app, r *repo.Repo, of repo.StateRef, without *repo.StateRef, p *sign.Policy) error {
	for _, bad := range p.Allowed.Problems {
		a.warn("the list of allowed signers, " + bad.String() + "; it trusts nobody")
	}
	j := jsonVerify{Changes: []jsonVerified{}}
	sum, err := r.Verify(of, without, p, func(v *repo.Verified) error {
		j.Total++
		if v.Result.Verdict == sign.Good {
			j.Good++
			if !f.all {
				return nil
			}
		}
		if a.json {
			j.Changes = append(j.Changes, newVerified(&v.Result))
			return nil
		}
		a.out.buf = appendShort(a.out.buf, a, v.Info)
		a.out.buf = append(ui.AppendClean(append(a.out.buf, "  "...), v.Result.String()), '\n')
		return a.out.spill()
	})
	if err != nil {
		return err
	}
	if j.OK = sum.OK(); a.json {
		err = a.printJSON(j)
	} else {
		text := sum.String()
		err = a.out.printf("%s.\n", strings.ToUpper(text[:1])+text[1:])
	}
	if err == nil && !j.OK {
		return errNo
	}
	return err
}

// appendShort appends a change's id and the first line of its message.
func appendShort(dst []byte, a *app, c *repo.ChangeInfo) []byte {
	p := a.colours()
	dst = append(append(append(dst, p.Yellow...), a.repo.ShortID(c.Num)...), p.Reset...)
	return append(ui.AppendClean(append(dst, ' '), subject(c.Message)), '\n')
}
