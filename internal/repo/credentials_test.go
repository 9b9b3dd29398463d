package repo

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/sync"
)

func TestNetrc(t *testing.T) {
	const text = `# machine comment.org login no password no
machine example.org
	login ada
	password #sesame # not a secret
macdef init
machine inmacro.org login no password no

machine other.org login bob account x password machine
machine example.org login second password second
default login anybody password anything
`
	for host, want := range map[string]sync.Secret{
		"example.org": {User: "ada", Password: "#sesame"}, "EXAMPLE.org": {User: "ada", Password: "#sesame"}, "other.org": {User: "bob", Password: "machine"},
		"comment.org": {}, "inmacro.org": {}, "nowhere.org": {}, "": {},
	} {
		if got := netrcSecret(text, host); got != want {
			t.Errorf("%s: %+v", host, got)
		}
	}
}

func FuzzNetrc(f *testing.F) {
	f.Add("machine a login b password c", "a")
	f.Add("machine", "")
	f.Fuzz(func(t *testing.T, text, host string) { netrcSecret(text, host) })
}

// TestSecretsGoWhereTheyShall: each way to name a secret, in its order; and none of them is kept where others read.
func TestSecretsGoWhereTheyShall(t *testing.T) {
	var shown []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = append(shown, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	home := t.TempDir()
	env := map[string]string{"OXY_CONFIG_DIR": home, "HOME": home}
	opt := Options{Env: func(k string) string { return env[k] }}
	r, err := Init(filepath.Join(t.TempDir(), "r"), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ask := func(remote string) string {
		t.Helper()
		shown = nil
		if _, err := r.Fetch(context.Background(), SyncOptions{Remote: remote}); err == nil {
			t.Fatal("it was let in")
		}
		return strings.Join(shown, ",")
	}
	if got := ask(server.URL); got != "" {
		t.Errorf("nothing: %q", got)
	}
	check(t, os.WriteFile(filepath.Join(home, ".netrc"), []byte("machine 127.0.0.1 login n password n"), 0o600))
	if got := ask(server.URL); got != "Basic bjpu" {
		t.Errorf("netrc: %q", got)
	}
	check(t, r.AddRemote("o", server.URL, ""))
	check(t, r.ConfigSet("remote.o.token", "setting", false))
	if got := ask("o"); got != "Bearer setting" {
		t.Errorf("setting: %q", got)
	}
	if got := ask(server.URL); got != "Basic bjpu" {
		t.Errorf("another remote's setting: %q", got)
	}
	env["OXY_TOKEN"] = "environment"
	if got := ask("o"); got != "Bearer environment" {
		t.Errorf("environment: %q", got)
	}
	if got := ask(strings.Replace(server.URL, "http://", "http://u:p@", 1)); got != "Basic dTpw" {
		t.Errorf("address: %q", got)
	}
	list := must(r.ConfigList())(t)
	for _, kv := range list {
		if kv[1] == "setting" {
			t.Error("the list of settings shows a token")
		}
	}
	// A repository's own file names no program that is asked, nor whom to trust.
	check(t, os.WriteFile(filepath.Join(r.dir, "config.toml"), []byte("[http]\nhelper = 'touch "+home+"/ran'\nca = '/x'\n"), 0o666))
	r.settings = nil
	delete(env, "OXY_TOKEN")
	check(t, os.Remove(filepath.Join(home, ".netrc")))
	if got := ask(server.URL); got != "" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a program ran")
	}
}

// TestHiddenAddresses: whatever an address is, its password is shown to nobody.
func TestHiddenAddresses(t *testing.T) {
	for _, s := range []string{"https://ada:sesame@example.org/x", "https://sesame@example.org/x", "https://ada:se/sesame@example.org/x", "https://ada:sesame@", "http://ada:sesame@host:port:x/",
		"https://ada:sesame@example.org/x?q", "ftp://ada:sesame@example.org", "ssh://ada:sesame@example.org/x", "https://ada:%zzsesame@h/x", "https://ada:sesame@h/\x01"} {
		_, err := sync.ParseAddress(s)
		if strings.Contains(sync.Hidden(s), "sesame") || err != nil && strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %s, %v", s, sync.Hidden(s), err)
		}
		if got := shownCommand([]string{"clone", s}); strings.Contains(got[1], "sesame") {
			t.Errorf("the log of operations has %s", got)
		}
	}
	if got := sync.Hidden("ssh://ada@example.org/x"); got != "ssh://ada@example.org/x" {
		t.Errorf("%s", got)
	}
}

// TestShelf: a peer's path leads to repositories beneath the directory only, and through no link.
func TestShelf(t *testing.T) {
	opt := syncEnv(t)
	top := t.TempDir()
	for _, name := range []string{"srv/team/project", "outside"} {
		r, err := Init(filepath.Join(top, name), opt)
		if err != nil {
			t.Fatal(err)
		}
		check(t, r.Close())
	}
	check(t, os.MkdirAll(filepath.Join(top, "srv", "empty"), 0o777))
	links := os.Symlink(filepath.Join(top, "outside"), filepath.Join(top, "srv", "link")) == nil
	if links {
		check(t, os.Symlink(filepath.Join(top, "srv", "team"), filepath.Join(top, "srv", "twin")))
		check(t, os.MkdirAll(filepath.Join(top, "srv", "linked"), 0o777))
		check(t, os.Symlink(filepath.Join(top, "outside", DirName), filepath.Join(top, "srv", "linked", DirName)))
	}
	s, err := NewShelf(filepath.Join(top, "srv"), ServeOptions{Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find("team/project"); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"", ".", "..", "../outside", "team", "empty", "link", "twin/project", "linked", "team/../team/project", "team//project", "/team/project", "team/project/", "team/project/.oxy", ".oxy", "nothing", "team/project/code", "C:x", "team\\project", "CON"} {
		if _, err := s.Find(path); err == nil {
			t.Errorf("%q was found", path)
		}
	}
	if _, err := NewShelf(filepath.Join(top, "nothing"), ServeOptions{Options: opt}); err == nil {
		t.Error("no directory")
	}
}
