package bridge

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

func TestCleanNames(t *testing.T) {
	for name, want := range map[string]string{
		"default": "default", "a topic": "a-topic", "@": "hg-@", "HEAD": "hg-HEAD", "-x": "hg--x", "a..b": "a.b", "feature/": "feature",
		".lock": "lock", "x.lock": "x.lock-", "caf\xe9": "caf-", "": "hg-", "..": "hg--", "a:b~c": "a-b-c",
	} {
		if got := clean(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := string(rapid.SliceOfN(rapid.SampledFrom([]byte("ab.-@{/ ~:\xe9\xc3\xa9\n*lock")), 0, 300).Draw(t, "name"))
		got := clean(name)
		if err := safepath.CheckBookmark(got); err != nil {
			t.Errorf("%q becomes %q: %v", name, got, err)
		}
		if safepath.CheckBookmark(name) == nil && got != name || clean(got) != got {
			t.Errorf("%q becomes %q, and that %q", name, got, clean(got))
		}
	})
}

func TestUsers(t *testing.T) {
	for written, want := range map[string]change.Person{
		"Ada <ada@example.org>": {Name: "Ada", Email: "ada@example.org"},
		"ada":                   {Name: "ada"},
		"<ada@example.org>":     {Name: "<ada@example.org>"},
		"A <b> <c>":             {Name: "A <b>", Email: "c"},
		"J\xf6rg <j>":           {Name: "J\xf6rg", Email: "j"},
	} {
		if got := person(written); got != want || user(got) != written {
			t.Errorf("%q is %+v, and then %q", written, got, user(got))
		}
	}
	a, err := ParseAuthors([]byte("# who\n\nada = Ada <ada@example.org>\nB <b>=C\n"))
	if err != nil || len(a) != 2 || a["ada"].Email != "ada@example.org" || a["B <b>"].Name != "C" {
		t.Errorf("%+v: %v", a, err)
	}
	for _, bad := range []string{"ada\n", "=x\n", "x=\n"} {
		if _, err := ParseAuthors([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
