package cli

import (
	"encoding/hex"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/sign"
)

func (a *app) signCheckpoint(r *repo.Repo, key string) error {
	if key != "" {
		dir, err := a.cwd()
		if err != nil {
			return err
		}
		key = join(dir, key)
	}
	s, with, err := r.SignCheckpoint(key)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(struct {
			jsonState
			Key string `json:"key"`
		}{newState(s), with})
	}
	return a.out.printf("Kept and signed the state after %s, with %s.\n", plural(int(s.Len), "change"), with)
}

type jsonCheckpoint struct {
	State     string `json:"state"`
	Changes   uint64 `json:"changes"`
	Tree      string `json:"tree"`
	Time      int64  `json:"time"`
	Verdict   string `json:"verdict"`
	Principal string `json:"principal,omitempty"`
	Key       string `json:"key,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

func verifyCheckpointCommand(a *app) *cobra.Command {
	var flags verifyFlags
	c := &cobra.Command{
		Use:   "verify [CHECKPOINT]",
		Short: "Prove who signed checkpoints, and that their trees are what was signed",
		Long: `Judge the signatures of all signed checkpoints, or of one, told by the beginning of its id: by a key of your list of allowed
signers, as oxy verify reads it; who made the changes does not matter. Of each the tree is held to what was signed. The exit
code is 1 unless each has a good signature, or where there is none.`,
		Example: `  oxy checkpoint verify
  oxy checkpoint verify 1a2b3c4d5e6f --allowed ./maintainers`,
		Args: atMost(1, "one checkpoint"),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			p, err := flags.policy(a)
			if err != nil {
				return err
			}
			return a.verifyCheckpoints(r, p, strings.Join(args, ""))
		},
	}
	c.Flags().StringVar(&flags.Allowed, "allowed", "", "trust the keys in `FILE`")
	c.Flags().StringVar(&flags.Revoked, "revoked", "", "trust none of the keys in `FILE`")
	c.Flags().StringVar(&flags.at, "at", "", "keys must be good at `DATE`")
	return c
}

func (a *app) verifyCheckpoints(r *repo.Repo, p *sign.Policy, prefix string) error {
	list, err := r.SignedCheckpoints()
	if err != nil {
		return err
	}
	out := []jsonCheckpoint{}
	good := true
	for i := range list {
		c := &list[i]
		id := hex.EncodeToString(c.State[:])
		if !strings.HasPrefix(id, prefix) {
			continue
		}
		res, err := r.VerifyCheckpoint(c, p)
		if err != nil {
			return err
		}
		good = good && res.Verdict == sign.Good
		out = append(out, jsonCheckpoint{id, c.Changes, c.Tree.String(), c.Time, res.Verdict.String(), res.Principal, res.Fingerprint, res.Reason})
		if !a.json {
			if err := a.out.printf("%s  %s  %s\n", id[:12], plural(int(c.Changes), "change"), res); err != nil {
				return err
			}
		}
	}
	switch {
	case a.json:
		err = a.printJSON(out)
	case len(out) == 0:
		err = a.out.printf("No checkpoint is signed.\n")
	}
	if err == nil && (!good || len(out) == 0) {
		return errNo
	}
	return err
}
