package repo

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// two gives two directories, and a repository with some history in the first.
func syncEnv(t *testing.T) Options {
	t.Helper()
	home := t.TempDir()
	// Most of these tests look at what came to be, and none of them works in the repository that is pushed to.
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("[receive]\ncurrent = \"detach\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"OXY_NAME": "Ada", "OXY_EMAIL": "ada@example.org", "OXY_CONFIG_DIR": home}
	return Options{Env: func(k string) string { return env[k] }}
}

type site struct {
	t *testing.T
	*Repo
}

func newSite(t *testing.T, name string, opt Options) *site {
	t.Helper()
	r, err := Init(filepath.Join(t.TempDir(), name), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &site{t, r}
}

func (s *site) put(name, text string) {
	s.t.Helper()
	at := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) record(message string) {
	s.t.Helper()
	if _, err := s.Commit(context.Background(), CommitOptions{Message: message}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read(name string) string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *site) clone(opt Options) *site {
	s.t.Helper()
	r, _, err := Clone(context.Background(), s.root, filepath.Join(s.t.TempDir(), "clone"), opt, SyncOptions{Dir: s.root})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { r.Close() })
	return &site{s.t, r}
}

func (s *site) same(o *site) {
	s.t.Helper()
	for _, x := range []*site{s, o} {
		if err := x.store.Refresh(); err != nil {
			s.t.Fatal(err)
		}
	}
	a, err := s.ResolveState("main")
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := o.ResolveState("main")
	if err != nil {
		s.t.Fatal(err)
	}
	if a.ID != b.ID || a.Len != b.Len {
		s.t.Fatalf("main is %x with %d changes here and %x with %d there", a.ID[:6], a.Len, b.ID[:6], b.Len)
	}
	for _, x := range []*site{s, o} {
		res, err := x.Fsck(context.Background(), FsckOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, p := range res.Problems {
			s.t.Errorf("fsck of %s: %s", x.root, p.Text)
		}
	}
}

func (s *site) pull() *PullResult {
	s.t.Helper()
	res, err := s.Pull(context.Background(), SyncOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return res
}

func (s *site) push() (*PushResult, error) {
	return s.Push(context.Background(), SyncOptions{})
}

func TestClonePullPush(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.put("code", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	a.put("dir/notes", "notes\n")
	big := make([]byte, 3<<20)
	for i := range big {
		big[i] = byte(i * i >> 7)
	}
	a.put("big", string(big))
	a.record("Begin")
	a.put("code", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	a.record("Nine in words")

	b := a.clone(opt)
	b.same(a)
	if b.read("code") != a.read("code") || b.read("big") != string(big) {
		t.Fatal("the clone has other files")
	}
	c := a.clone(opt)

	b.put("code", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
	b.record("One in words")
	res, err := b.push()
	if err != nil || res.Sent != 1 || res.Refs[0].Refused != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	b.same(a)

	c.put("code", "1\n2\n3\n4\nfive\n6\n7\n8\nnine\n")
	c.record("Five in words")
	res, err = c.push()
	if err != nil || !res.Refs[0].Pull {
		t.Fatalf("%+v, %v", res, err)
	}
	pulled := c.pull()
	if pulled.Came != 1 || pulled.Move == nil || len(pulled.Move.Conflicts) != 0 {
		t.Fatalf("%+v", pulled)
	}
	if got := c.read("code"); got != "one\n2\n3\n4\nfive\n6\n7\n8\nnine\n" {
		t.Fatalf("%q", got)
	}
	if res, err = c.push(); err != nil || res.Refs[0].Refused != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	c.same(a)
	b.pull()
	b.same(c)
	if again := b.pull(); again.Came != 0 || again.Move != nil {
		t.Fatalf("%+v", again)
	}
}

func TestPullConflicts(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.put("code", "1\n2\n3\n")
	a.record("Begin")
	b := a.clone(opt)
	a.put("code", "1\ntwo\n3\n")
	a.record("Two")
	b.put("code", "1\nzwei\n3\n")
	b.record("Zwei")
	res := b.pull()
	if res.Move == nil || len(res.Move.Conflicts) != 1 {
		t.Fatalf("%+v", res.Move)
	}
	if r, err := b.push(); err != nil || r.Refs[0].Refused != "" {
		t.Fatalf("%+v %v", r, err)
	}
	a.same(b)
	if _, err := b.Undo(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := b.read("code"); got != "1\nzwei\n3\n" {
		t.Fatalf("%q", got)
	}
}

// TestNegotiates pulls where no state of one side is in the log of the other.
func TestNegotiates(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.put("f", "0\n")
	a.record("Begin")
	b := a.clone(opt)
	a.put("a", "a\n")
	a.record("a")
	b.put("b", "b\n")
	b.record("b")
	b.pull() // its log is 0 b a
	for i := range 2 * smallLog {
		a.put("g", string(rune('a'+i%26))+"\n")
		a.record("more")
	}
	if err := b.RemoveRemote(Origin); err != nil {
		t.Fatal(err)
	}
	if err := b.AddRemote(Origin, a.root, ""); err != nil {
		t.Fatal(err)
	}
	res := b.pull()
	if res.Came != 2*smallLog {
		t.Fatalf("%d changes came", res.Came)
	}
	if r, err := b.push(); err != nil || r.Refs[0].Refused != "" || r.Sent != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	a.same(b)
}
