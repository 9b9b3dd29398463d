package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/pelletier/go-toml/v2"
)

// maxConfig bounds a settings file.
const maxConfig = 1 << 20

// settings are the values of one or more settings files: key to value and the file it was set in. Of what names a program or a key,
// passed holds what the repository's own file says, which counts for nothing.
type settings struct {
	values, passed map[string][2]string
}

// namesProgram tells which settings name programs that oxy runs. A repository may come from anybody, in an archive or on a
// shared disk: if its own settings could name a program, to look at its log would be to run it. The same holds for which key
// signs, for whose signatures are trusted, and for which servers are.
func namesProgram(key string) bool {
	return strings.HasPrefix(key, "sign.") || strings.HasPrefix(key, "http.") || key == "ui.pager" || key == "ui.editor" || key == "merge.tool" || strings.HasPrefix(key, "merge.tools.")
}

// userConfigDir is where a person's own settings and ignore rules lie, or "".
func (r *Repo) userConfigDir() string { return UserConfigDir(r.opt.Env) }

// UserConfigDir is where a person's own settings and ignore rules lie, or "" when the environment does not tell.
func UserConfigDir(env func(string) string) string {
	if d := env("OXY_CONFIG_DIR"); d != "" {
		return d
	}
	if d := env("XDG_CONFIG_HOME"); d != "" {
		return filepath.Join(d, "oxy")
	}
	if d := env("HOME"); d != "" {
		return filepath.Join(d, ".config", "oxy")
	}
	if d := env("AppData"); d != "" {
		return filepath.Join(d, "oxy")
	}
	return ""
}

// Personal gives access to the person's own settings where there is no repository: only the methods for settings work.
func Personal(opt Options) *Repo {
	opt = opt.withDefaults()
	return &Repo{fs: opt.FS, opt: opt}
}

func (r *Repo) configFile(user bool) (string, error) {
	if !user && r.dir == "" {
		return "", &Error{Text: "not in a repository: there are only your own settings here", Next: "Set those with: oxy config --user KEY VALUE"}
	}
	if !user {
		return filepath.Join(r.dir, "config.toml"), nil
	}
	dir := r.userConfigDir()
	if dir == "" {
		return "", &Error{Text: "nothing says where your home is", Next: "Set HOME, or OXY_CONFIG_DIR."}
	}
	return filepath.Join(dir, "config.toml"), nil
}

// load reads both files; the repository's own wins, but where a program is named.
func (r *Repo) load() (*settings, error) {
	if r.settings != nil {
		return r.settings, nil
	}
	s := &settings{values: map[string][2]string{}, passed: map[string][2]string{}}
	for _, user := range [2]bool{true, false} {
		name, err := r.configFile(user)
		if err != nil {
			continue
		}
		tree, err := readConfig(r.fs, name)
		if err != nil {
			return nil, err
		}
		values := map[string][2]string{}
		flatten(values, "", tree, name)
		for k, v := range values {
			if user || !namesProgram(k) {
				s.values[k] = v
			} else {
				s.passed[k] = v
			}
		}
	}
	r.settings = s
	return s, nil
}

func readConfig(fsys vfs.FS, name string) (map[string]any, error) {
	tree := map[string]any{}
	b, err := fsys.ReadFile(name, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return tree, nil
	}
	if err != nil {
		return nil, readError("the settings in "+name, err)
	}
	if err := toml.Unmarshal(b, &tree); err != nil {
		return nil, &Error{Text: fmt.Sprintf("the settings in %s cannot be read: %v", name, err), Next: "Mend the file by hand.", Err: err}
	}
	return tree, nil
}

func flatten(out map[string][2]string, prefix string, tree map[string]any, from string) {
	for k, v := range tree {
		if sub, ok := v.(map[string]any); ok {
			flatten(out, prefix+k+".", sub, from)
			continue
		}
		out[prefix+k] = [2]string{fmt.Sprint(v), from}
	}
}

// ConfigGet gives a setting's value and where it was set: "" when it is set nowhere. Keys are like `user.name`.
func (r *Repo) ConfigGet(key string) (value, from string, err error) {
	s, err := r.load()
	if err != nil {
		return "", "", err
	}
	v := s.values[key]
	return v[0], v[1], nil
}

// ConfigList lists all settings in order: key, value, where each was set.
func (r *Repo) ConfigList() ([][3]string, error) {
	s, err := r.load()
	if err != nil {
		return nil, err
	}
	return listSettings(s.values), nil
}

// ConfigPassedOver lists the settings of the repository's own file that name programs: they count for nothing there.
func (r *Repo) ConfigPassedOver() ([][3]string, error) {
	s, err := r.load()
	if err != nil {
		return nil, err
	}
	return listSettings(s.passed), nil
}

func listSettings(values map[string][2]string) (out [][3]string) {
	for k, v := range values {
		out = append(out, [3]string{k, shownSetting(k, v[0]), v[1]})
	}
	slices.SortFunc(out, func(a, b [3]string) int { return strings.Compare(a[0], b[0]) })
	return out
}

// shownSetting is a setting as a list may show it: without what is secret. Who asks for it by its key gets it whole.
func shownSetting(key, value string) string {
	if strings.HasPrefix(key, "remote.") {
		if strings.HasSuffix(key, ".token") {
			return "(a token)"
		}
		if strings.Contains(value, "://") {
			return sync.Hidden(value)
		}
	}
	return value
}

// ConfigSet sets a setting in the repository's file, or with user in the person's own. An empty value removes it.
func (r *Repo) ConfigSet(key, value string, user bool) error {
	parts := strings.Split(key, ".")
	if len(parts) < 2 || slices.Contains(parts, "") {
		return &Error{Text: fmt.Sprintf("%q is no setting: settings are like user.name", key), Next: "See which there are with: oxy help config"}
	}
	name, err := r.configFile(user)
	if err != nil {
		return err
	}
	if !user && value != "" && namesProgram(key) {
		what, no := key+" names a program", "run one"
		switch {
		case strings.HasPrefix(key, "sign."):
			what, no = key+" says which keys to use and to trust", "choose them"
		case strings.HasPrefix(key, "http."):
			what, no = key+" says whom to trust with what is secret", "choose that"
		}
		return &Error{Text: what + ", and oxy takes those from your own settings alone: no repository shall " + no,
			Next: "Set it for all your repositories with: oxy config --user " + key + " VALUE"}
	}
	if err := r.fs.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return fileError("write the settings", err)
	}
	lock, err := r.fs.Lock(name+".lock", waitForLock)
	if err != nil {
		return fileError("write the settings", err)
	}
	defer lock.Close()
	tree, err := readConfig(r.fs, name)
	if err != nil {
		return err
	}
	if err := setIn(tree, parts, value); err != nil {
		return err
	}
	b, err := toml.Marshal(tree)
	if err != nil {
		return fmt.Errorf("write the settings: %w", err)
	}
	r.settings = nil
	if err := vfs.WriteFileAtomic(r.fs, name, b, true); err != nil {
		return fileError("write the settings", err)
	}
	return nil
}

func setIn(tree map[string]any, parts []string, value string) error {
	for _, p := range parts[:len(parts)-1] {
		next, ok := tree[p].(map[string]any)
		if !ok {
			if _, taken := tree[p]; taken {
				return &Error{Text: fmt.Sprintf("%s is a setting of its own, not a group", p)}
			}
			next = map[string]any{}
			tree[p] = next
		}
		tree = next
	}
	last := parts[len(parts)-1]
	if value == "" {
		delete(tree, last)
		return nil
	}
	if _, group := tree[last].(map[string]any); group {
		return &Error{Text: fmt.Sprintf("%s is a group of settings", strings.Join(parts, "."))}
	}
	tree[last] = value
	return nil
}

// author says who records: as the command says, else OXY_NAME and OXY_EMAIL, else oxy's settings, else Git's environment
// and settings, each of the two by itself.
func (r *Repo) author(opt *CommitOptions) (change.Person, error) {
	if opt.Author != nil {
		return checkPerson(*opt.Author)
	}
	p := change.Person{Name: r.opt.Env("OXY_NAME"), Email: r.opt.Env("OXY_EMAIL")}
	var err error
	from := func(get func(key string) (string, error), name, email string) {
		if err == nil && p.Name == "" {
			p.Name, err = get(name)
		}
		if err == nil && p.Email == "" {
			p.Email, err = get(email)
		}
	}
	from(func(k string) (string, error) { v, _, err := r.ConfigGet(k); return v, err }, "user.name", "user.email")
	from(func(k string) (string, error) { return r.opt.Env(k), nil }, "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL")
	from(func(k string) (string, error) { return gitConfig(r.root, k), nil }, "user.name", "user.email")
	if err != nil {
		return p, err
	}
	if p.Name == "" || p.Email == "" {
		return p, &Error{Text: "oxy does not know who you are, and a change names its author",
			Next: `Tell it once: oxy config --user user.name "Your Name" and oxy config --user user.email you@example.org`}
	}
	return checkPerson(p)
}

func checkPerson(p change.Person) (change.Person, error) {
	if strings.ContainsAny(p.Name, "\n\r\x00<>") || strings.ContainsAny(p.Email, "\n\r\x00<>") {
		return p, &Error{Text: fmt.Sprintf("%q cannot be an author: it has line ends, angle brackets or NUL", p), Next: "Set another one with: oxy config --user user.name NAME"}
	}
	if len(p.Name) > change.MaxName || len(p.Email) > change.MaxName {
		return p, &Error{Text: "the author's name is too long"}
	}
	return p, nil
}

// gitConfig asks the installed Git, which knows where its settings lie and what they include.
func gitConfig(dir, key string) string {
	cmd := exec.Command("git", "config", "--get", key)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
