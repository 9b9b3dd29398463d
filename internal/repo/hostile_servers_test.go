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

// liar is a server that answers as it likes.
type liar map[sync.Verb]func(out *sync.Writer) error

func (l liar) Handle(_ context.Context, in *sync.Reader, out *sync.Writer) error {
	q, err := in.Request()
	if err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return l[q.Verb](out)
}

func (l liar) start(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", sync.HTTPType)
		_, _ = sync.Respond(r.Context(), l, r.Body, w, sync.Zstd, 1<<30)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestEndlessServers: a server whose answer has no end, whatever it consists of, is left, and nothing of it is kept.
func TestEndlessServers(t *testing.T) {
	ref := sync.Ref{Kind: sync.Bookmark, Name: "main", State: [32]byte{1}, Len: 3}
	list := func(out *sync.Writer) error { return out.Ref(ref) }
	forever := func(send func(out *sync.Writer) error) func(*sync.Writer) error {
		return func(out *sync.Writer) error {
			for {
				if err := send(out); err != nil {
					return err
				}
			}
		}
	}
	for name, l := range map[string]liar{
		"names":           {sync.List: forever(list)},
		"bookmarks":       {sync.List: list, sync.Fetch: forever(func(out *sync.Writer) error { return out.Update(&sync.Update{Kind: sync.Bookmark, Name: "main"}) })},
		"what is unknown": {sync.List: list, sync.Fetch: forever(func(out *sync.Writer) error { return out.Unknown(ref) })},
		"previews":        {sync.List: list, sync.Fetch: forever(func(out *sync.Writer) error { return out.Preview(sync.Preview{Subject: "x"}) })},
		"ranges": {sync.List: list, sync.Fetch: func(out *sync.Writer) error { return out.Unknown(ref) }, sync.Ranges: func(out *sync.Writer) error {
			return out.Ranges([]sync.Range{{}})
		}, sync.Take: forever(func(out *sync.Writer) error { return out.Unknown(ref) })},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clone")
			_, _, err := Clone(context.Background(), l.start(t), dir, syncEnv(t), SyncOptions{})
			if !errors.Is(err, sync.ErrMalformed) {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(dir); err == nil {
				t.Error("something is left")
			}
		})
	}
}

// TestRemoteNames: what a remote may be called, and what its address may be, before anything is done with either.
func TestRemoteNames(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	for _, name := range []string{"", "-x", "--all", "a/b", "a.b", "..", ".push", "a b", "a\r", "a\n", "a\x1b[31m", "a\u202eb", "$(x)", "`x`", "HEAD", strings.Repeat("a", 5000)} {
		if err := a.AddRemote(name, "../b", a.root); err == nil && name != "$(x)" && name != "`x`" {
			t.Errorf("%q is a remote's name", name)
		}
	}
	for _, address := range []string{"", "-x", "--upload-pack=touch x", "ext::sh -c x", "fd::3", "ssh://-oProxyCommand=x/p", "ssh://host\r/p", "host:p\r", "host:p\n", "https://h/p\x00",
		"ssh://h;touch x/p", "ssh://$(x)/p", "git://h/p", "\u202ehttps://h/p"} {
		if err := a.AddRemote("evil", address, a.root); err == nil {
			t.Errorf("%q is an address", address)
		}
		if _, err := a.Pull(context.Background(), SyncOptions{Remote: address, Dir: a.root, Bookmark: "main"}); err == nil {
			t.Errorf("%q was pulled from", address)
		}
	}
	// What is secret in an address is shown nowhere.
	if err := a.AddRemote("web", "https://ada:sesame@127.0.0.1:1/p", a.root); err != nil {
		t.Fatal(err)
	}
	_, err := a.Pull(context.Background(), SyncOptions{Remote: "web", Dir: a.root, Bookmark: "main"})
	if err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("%v", err)
	}
	for _, m := range must(a.Remotes())(t) {
		if strings.Contains(m.Address, "sesame") {
			t.Errorf("%s", m.Address)
		}
	}
}
