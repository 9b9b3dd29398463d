package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/serve"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// refusedPush pushes, and gives why the first name was refused.
func (s *site) refusedPush(opt SyncOptions) string {
	s.t.Helper()
	res, err := s.Push(context.Background(), opt)
	if err != nil {
		return err.Error()
	}
	return res.Refs[0].Refused
}

// TestPushToCurrentBookmark: of a repository where people work a push leaves the current bookmark alone, or takes the files along
// where the repository says so; no edit is lost, and nobody stands on no bookmark unawares.
func TestPushToCurrentBookmark(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	b := a.clone(opt) // of nothing yet
	b.put("code", "1\n2\n3\n")
	b.record("Begin")
	if why := b.refusedPush(SyncOptions{}); why != "" {
		t.Fatalf("nobody works there yet: %s", why)
	}
	if _, err := a.Checkout(context.Background(), "main"); err != nil {
		t.Fatal(err)
	}
	current := func() string {
		t.Helper()
		if err := a.store.Refresh(); err != nil {
			t.Fatal(err)
		}
		return must(a.view())(t).Current
	}
	set := func(how string) {
		t.Helper()
		if err := a.ConfigSet(settingReceive, how, false); err != nil {
			t.Fatal(err)
		}
	}

	set(receiveRefuse)
	b.put("code", "one\n2\n3\n")
	b.record("One")
	was := a.mainID()
	for _, force := range []bool{false, true} {
		if why := b.refusedPush(SyncOptions{Force: force}); !strings.Contains(why, "oxy config receive.current update") {
			t.Errorf("force %v: %s", force, why)
		}
	}
	if current() != "main" || a.mainID() != was || a.read("code") != "1\n2\n3\n" {
		t.Error("a refused push did something")
	}

	set(receiveUpdate)
	if why := b.refusedPush(SyncOptions{}); why != "" {
		t.Fatal(why)
	}
	if current() != "main" || a.read("code") != "one\n2\n3\n" {
		t.Errorf("the files did not follow: %q", a.read("code"))
	}
	a.put("notes", "mine\n") // an edit that is in nobody's way stays
	b.put("code", "one\ntwo\n3\n")
	b.record("Two")
	if why := b.refusedPush(SyncOptions{}); why != "" || a.read("notes") != "mine\n" || a.read("code") != "one\ntwo\n3\n" {
		t.Errorf("%s, %q", why, a.read("code"))
	}
	a.put("code", "one\ntwo\n3 and mine\n") // and one that is keeps the push away
	b.put("code", "one\ntwo\nthree\n")
	b.record("Three")
	if err := b.SetBookmark("side", must(b.ResolveState("main"))(t), false); err != nil {
		t.Fatal(err)
	}
	was = a.mainID()
	res, err := b.Push(context.Background(), SyncOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range res.Refs {
		if (p.Refused != "") != (p.Name == "main") {
			t.Errorf("%s: %s", p.Name, p.Refused)
		}
	}
	if current() != "main" || a.mainID() != was || a.read("code") != "one\ntwo\n3 and mine\n" {
		t.Errorf("an edit was lost: %q", a.read("code"))
	}
	if st := must(a.Status(context.Background(), StatusOptions{}))(t); len(st.Files) != 1 {
		t.Errorf("%+v", st.Files)
	}

	set(receiveDetach)
	if why := b.refusedPush(SyncOptions{}); why != "" || current() != "" || a.read("code") != "one\ntwo\n3 and mine\n" {
		t.Errorf("%s, %q", why, a.read("code"))
	}
	a.same(b)
	set("maybe")
	b.record2("Four")
	if why := b.refusedPush(SyncOptions{}); why != "" {
		t.Errorf("no bookmark is current there: %s", why)
	}
}

func (s *site) record2(message string) {
	s.t.Helper()
	s.put(strings.ToLower(message), message+"\n")
	s.record(message)
}

// rulesOf writes a repository's server.toml.
func (s *site) rulesOf(text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, rulesFile), []byte(text), 0o666); err != nil {
		s.t.Fatal(err)
	}
}

// as serves a repository to whom the way in knows by a name.
func (s *site) servedTo(name string, opt ServeOptions) *link {
	s.t.Helper()
	server, err := NewServer(s.root, opt)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx := sync.WithCaller(context.Background(), sync.Caller{Name: name, From: "test", Push: true})
	l := &link{Peer: sync.Local(ctx, server, func() error { return nil }), name: Origin, shown: "there"}
	s.t.Cleanup(func() { l.Close() })
	return l
}

// pushBy pushes a bookmark over a link, and gives why it was refused.
func (s *site) pushBy(l *link, bookmark string, force bool) string {
	s.t.Helper()
	refs, err := l.list(context.Background())
	if err != nil {
		return err.Error()
	}
	p := &pushing{ctx: context.Background(), r: s.Repo, l: l, opt: SyncOptions{Bookmark: bookmark, Force: force}, refs: refs, res: &PushResult{}}
	if err := p.plan(); err != nil {
		return err.Error()
	}
	if len(p.updates) > 0 {
		if err := p.send(); err != nil {
			return err.Error()
		}
	}
	return p.res.Refs[0].Refused
}

// TestProtectedBookmarks: who may move one, what none may lose, and what must be signed.
func TestProtectedBookmarks(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.record2("Begin")
	b := a.clone(opt)
	serveOpt := ServeOptions{Options: opt}
	keys := filepath.Join(t.TempDir(), "allowed")
	if err := os.WriteFile(keys, []byte("# nobody yet\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	a.rulesOf(fmt.Sprintf(`
[signers]
allowed = %q

[[protect]]
names = ["main", "release/*"]
keep = true

[[protect]]
names = ["release/*"]
move = ["ada"]

[[protect]]
names = ["signed"]
signed = true
`, keys))
	bookmark := func(name string) {
		t.Helper()
		if err := b.SetBookmark(name, must(b.ResolveState("main"))(t), false); err != nil {
			t.Fatal(err)
		}
	}
	b.record2("One")
	bookmark("release/1")
	bookmark("signed")
	bookmark("other")
	for _, c := range []struct{ who, name, why string }{
		{"bob", "main", ""},
		{"bob", "release/1", "not for you to move"},
		{"", "release/1", "not for you to move"},
		{"ada", "release/1", ""},
		{"ada", "signed", "takes signed changes only there"},
		{"bob", "other", ""},
	} {
		if why := b.pushBy(a.servedTo(c.who, serveOpt), c.name, false); (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s to %s: %q", c.who, c.name, why)
		}
	}
	if _, err := b.Unrecord(context.Background(), []string{"@"}, UnrecordOptions{}); err != nil {
		t.Fatal(err)
	}
	if why := b.pushBy(a.servedTo("ada", serveOpt), "main", true); !strings.Contains(why, "may lose no change, and would lose 1") {
		t.Errorf("forced: %q", why)
	}
	// Rules that cannot be used let nothing through, and keep nobody from reading.
	bookmark("fresh")
	for _, bad := range []string{"[[protect]]\nnames = [\"x\"]\nkep = true\n", "[[protect]]\nkeep = true\n", "[[protect]]\nnames = [\"x\"]\nsigned = true\n",
		"[hooks]\npre-receive = [\"check\"]\n", "[hooks]\ntime = \"soon\"\n", "=", "[signers]\nallowed = \"keys\"\n"} {
		a.rulesOf(bad)
		if why := b.pushBy(a.servedTo("ada", serveOpt), "fresh", true); !strings.Contains(why, "has to mend its server.toml") {
			t.Errorf("%q: %q", bad, why)
		}
		if s := must(NewServer(a.root, serveOpt))(t); s.CheckRules() == nil {
			t.Errorf("%q passes", bad)
		}
	}
	b.pull()
	a.sound()
}

// TestHooks: a program looks at a push before anything is moved, and can refuse it; another hears of what was moved. No program
// runs in the hands of who only reads the repository's files, nor comes along with a clone.
func TestHooks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are for a shell")
	}
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.record2("Begin")
	b := a.clone(opt)
	dir := t.TempDir()
	script := func(name, text string) string {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte("#!/bin/sh\n"+text), 0o777); err != nil {
			t.Fatal(err)
		}
		return at
	}
	seen, told := filepath.Join(dir, "seen"), filepath.Join(dir, "told")
	before := script("before", `cat > "`+seen+`"; echo "$OXY_CALLER $OXY_FROM $1" >> "`+seen+`"
if grep -q "^bookmark bad " "`+seen+`"; then echo "no"; echo "such bookmarks" >&2; exit 3; fi`)
	after := script("after", `cat > "`+told+`"; pwd >> "`+told+`"; exit 1`)
	a.rulesOf(fmt.Sprintf("[hooks]\npre-receive = [%q, \"strict\"]\npost-receive = [%q]\ntime = \"30s\"\n", before, after))

	var messages strings.Builder
	run := ServeOptions{Options: opt, Hooks: true, Messages: &messages}
	b.record2("One")
	if why := b.pushBy(a.servedTo("", ServeOptions{Options: opt}), "main", false); !strings.Contains(why, "only its server runs them") {
		t.Errorf("%q", why)
	}
	if _, err := os.Stat(seen); err == nil {
		t.Fatal("a program ran in the hands of who pushed")
	}
	was := a.mainID()
	if why := b.pushBy(a.servedTo("ada", run), "main", false); why != "" {
		t.Fatal(why)
	}
	text := func(name string) string {
		t.Helper()
		s, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(s)
	}
	one := b.store.ChangeID(b.store.NumChanges() - 1)
	line := fmt.Sprintf("bookmark main %x %x\n+ %s\n", was, a.mainID(), one)
	if got := text(seen); got != line+"ada test strict\n" {
		t.Errorf("seen %q", got)
	}
	root, err := filepath.EvalSymlinks(a.root)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(told); got != line+root+"\n" {
		t.Errorf("told %q", got)
	}
	if !strings.Contains(messages.String(), after) {
		t.Errorf("nobody heard that it failed: %q", messages.String())
	}
	// What it refuses is moved by no means, and what it said is told.
	if err := b.SetBookmark("bad", must(b.ResolveState("main"))(t), false); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(told); err != nil {
		t.Fatal(err)
	}
	if why := b.pushBy(a.servedTo("ada", run), "bad", false); why != "no such bookmarks" {
		t.Errorf("%q", why)
	}
	if err := a.store.Refresh(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ResolveState("bad"); err == nil {
		t.Error("it is there")
	}
	if _, err := os.Stat(told); err == nil {
		t.Error("told of what was not moved")
	}
	// One that is not there, and one that does not end.
	for _, program := range []string{filepath.Join(dir, "nothing"), script("sleep", "exec sleep 60")} {
		a.rulesOf(fmt.Sprintf("[hooks]\npre-receive = [%q]\ntime = \"50ms\"\n", program))
		if why := b.pushBy(a.servedTo("ada", run), "bad", false); !strings.Contains(why, "did not end well") || strings.Contains(why, dir) {
			t.Errorf("%q", why)
		}
		if !strings.Contains(messages.String(), program) {
			t.Errorf("%q", messages.String())
		}
	}
	// Neither rules nor programs come along, whichever way.
	c := a.clone(opt)
	if _, err := os.Stat(filepath.Join(c.dir, rulesFile)); err == nil {
		t.Error("the rules came along")
	}
	url := served(t, a, opt, serve.Options{})
	r, _, err := Clone(context.Background(), url, filepath.Join(dir, "c"), opt, SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := os.Stat(filepath.Join(r.dir, rulesFile)); err == nil {
		t.Error("the rules came along")
	}
	a.sound()
}
