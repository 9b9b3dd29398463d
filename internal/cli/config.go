package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/store"
)

func configCommand(a *app) *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use:   "config [KEY [VALUE]]",
		Short: "List, read and write settings",
		Long: `Settings of oxy: those of this repository, and with --user those of your own that hold everywhere. A key alone prints
it, a key and a value set it, nothing lists all; get, set, unset and list say the same in words.

  user.name, user.email   who you are, recorded with each change (OXY_NAME and OXY_EMAIL come first; without either,
                          what Git knows is taken)
  ui.color                auto, always or never
  ui.pager, ui.editor     programs (OXY_PAGER and OXY_EDITOR come first)
  sign.commits            true: sign what you record; sign.key: the key's file; sign.allowed, sign.revoked: lists of keys;
                          sign.anyone: who is allowed may sign for others. Of these only your own (--user) count
  http.helper, http.ca    a program that gives what servers want to see, as Git's credential helpers; a file of certificates
                          to trust beside the system's. Only your own count
  remote.NAME.token       what to show to a server over http
  gc.auto                 how many MiB must lie unpacked for oxy to pack by itself, in the background; or off (OXY_GC_AUTO comes first)
  receive.current         a push from elsewhere to the bookmark that is current here: refuse, update (the working files
                          follow) or detach (they stay, and no bookmark is current any more)
  remote.NAME.endpoint    where a bucket's store is, and remote.NAME.region, if its address does not say so
  merge.tool              what oxy resolve --tool runs; merge.tools.NAME is how NAME is run

Programs are named in your own settings only: a repository may come from anybody, and shall run none.

Your own are in OXY_CONFIG_DIR, or where your system keeps settings; oxy config list tells where each is.`,
		Example: `  oxy config --user user.name "Ada Lovelace"
  oxy config user.name
  oxy config list`,
		Args: atMost(2, "a key and a value"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return a.listConfig()
			case 1:
				return a.getConfig(args[0])
			}
			return a.setConfig(args[0], args[1], user)
		},
	}
	c.Flags().BoolVar(&user, "user", false, "set it for all your repositories")
	c.AddCommand(configGet(a), configSet(a), configUnset(a), configList(a))
	return c
}

type jsonSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	From  string `json:"from,omitempty"`

	PassedOver bool `json:"passed_over,omitempty"`
}

func configGet(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "get KEY",
		Short:   "Print a setting",
		Example: `  oxy config get user.email`,
		Args:    exactly(1, "one key"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.getConfig(args[0]) },
	}
}

func (a *app) getConfig(key string) error {
	r, err := a.openSettings()
	if err != nil {
		return err
	}
	value, from, err := r.ConfigGet(key)
	if err != nil {
		return err
	}
	if value == "" && from == "" {
		passed, err := r.ConfigPassedOver()
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(passed, func(s [3]string) bool { return s[0] == key }); i >= 0 {
			return &repo.Error{Text: key + " is not set: what " + passed[i][2] + " says of it is passed over, for it names a program", Next: "Set it with: oxy config --user " + key + " VALUE", No: true}
		}
		return &repo.Error{Text: key + " is not set", Next: "Set it with: oxy config set " + key + " VALUE", No: true}
	}
	if a.json {
		return a.printJSON(jsonSetting{Key: key, Value: value, From: from})
	}
	return a.out.printf("%s\n", value)
}

func configSet(a *app) *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use:     "set KEY VALUE",
		Short:   "Write a setting",
		Example: `  oxy config set --user user.email ada@example.org`,
		Args:    exactly(2, "a key and a value"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.setConfig(args[0], args[1], user) },
	}
	c.Flags().BoolVar(&user, "user", false, "for all your repositories")
	return c
}

func configUnset(a *app) *cobra.Command {
	var user bool
	c := &cobra.Command{
		Use:     "unset KEY",
		Short:   "Remove a setting",
		Example: `  oxy config unset ui.pager`,
		Args:    exactly(1, "one key"),
		RunE:    func(_ *cobra.Command, args []string) error { return a.setConfig(args[0], "", user) },
	}
	c.Flags().BoolVar(&user, "user", false, "the one for all your repositories")
	return c
}

func (a *app) setConfig(key, value string, user bool) error {
	r, err := a.openSettings()
	if err != nil {
		return err
	}
	if err := r.ConfigSet(key, value, user); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(jsonSetting{Key: key, Value: value})
	}
	return nil
}

func configList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Print all settings, and where each is set",
		Example: `  oxy config list`,
		Args:    nothing,
		RunE:    func(*cobra.Command, []string) error { return a.listConfig() },
	}
}

func (a *app) listConfig() error {
	r, err := a.openSettings()
	if err != nil {
		return err
	}
	rows, err := r.ConfigList()
	if err != nil {
		return err
	}
	passed, err := r.ConfigPassedOver()
	if err != nil {
		return err
	}
	list := make([]jsonSetting, 0, len(rows)+len(passed))
	for _, row := range rows {
		list = append(list, jsonSetting{Key: row[0], Value: row[1], From: row[2]})
	}
	for _, row := range passed {
		list = append(list, jsonSetting{Key: row[0], Value: row[1], From: row[2], PassedOver: true})
	}
	if a.json {
		return a.printJSON(list)
	}
	for _, s := range list {
		why := ""
		if s.PassedOver {
			why = "; passed over, programs are named in your own settings only"
		}
		if err := a.out.printf("%s = %s  (%s%s)\n", s.Key, s.Value, s.From, why); err != nil {
			return err
		}
	}
	return nil
}

// openSettings opens the repository, or where there is none the person's own settings.
func (a *app) openSettings() (*repo.Repo, error) {
	r, err := a.open()
	if errors.Is(err, store.ErrNotRepository) {
		return repo.Personal(a.options()), nil
	}
	return r, err
}
