package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// family is a library and a program that has it as a subrepo, side by side.
func family(t *testing.T) (lib, app *site, opt Options) {
	t.Helper()
	opt = syncEnv(t)
	dir := t.TempDir()
	var both [2]*site
	for i, name := range []string{"lib", "app"} {
		r, err := Init(filepath.Join(dir, name), opt)
		check(t, err)
		t.Cleanup(func() { r.Close() })
		both[i] = &site{t, r}
	}
	lib, app = both[0], both[1]
	check(t, lib.ConfigSet("receive.current", "update", false))
	lib.put("lib.c", "one\n")
	lib.record("One")
	app.put("main.c", "main\n")
	app.record("Main")
	return lib, app, opt
}

func (s *site) addSubrepo(address, at string) {
	s.t.Helper()
	if _, _, err := s.AddSubrepo(context.Background(), address, at, SubrepoOptions{Dir: s.root}); err != nil {
		s.t.Fatal(err)
	}
}

// follows does what a command does after it moved the working copy.
func (s *site) follows(from StateRef) []SubrepoDone {
	s.t.Helper()
	to, err := s.Base()
	check(s.t, err)
	done, err := s.FollowSubrepos(context.Background(), from, to, SubrepoOptions{})
	check(s.t, err)
	return done
}

func (s *site) base() StateRef {
	s.t.Helper()
	b, err := s.Base()
	check(s.t, err)
	return b
}

func (s *site) inside(at string) *site {
	s.t.Helper()
	in, err := s.inner(at)
	check(s.t, err)
	if in == nil {
		s.t.Fatalf("%s is not there", at)
	}
	s.t.Cleanup(func() { in.Close() })
	return &site{s.t, in}
}

func (s *site) clean() {
	s.t.Helper()
	st, err := s.Status(context.Background(), StatusOptions{})
	check(s.t, err)
	if len(st.Files)+len(st.Untracked)+len(st.Nested) > 0 {
		s.t.Fatalf("%s", statusText(st))
	}
	for i := range st.Subrepos {
		if !st.Subrepos[i].Clean() {
			s.t.Fatalf("%+v", st.Subrepos[i])
		}
	}
}

// A program with a library, from the first clone to the library's going.
func TestSubrepo(t *testing.T) {
	ctx := context.Background()
	lib, app, opt := family(t)
	app.addSubrepo("../lib", "vendor/lib")
	if got := app.read("vendor/lib/lib.c"); got != "one\n" {
		t.Fatalf("%q", got)
	}
	app.clean()
	if _, err := app.Commit(ctx, CommitOptions{Message: "again"}); err == nil {
		t.Fatal("a subrepo was recorded again")
	}

	// Who clones gets it along, at the pinned state.
	ada := app.clone(opt)
	if done := ada.follows(StateRef{Num: NoState}); len(done) != 1 || done[0].Err != nil || !done[0].Cloned {
		t.Fatalf("%+v", done)
	}
	ada.clean()
	if got := ada.read("vendor/lib/lib.c"); got != "one\n" {
		t.Fatalf("%q", got)
	}

	// The library goes on; nothing follows until somebody says so.
	for i := range 5 {
		lib.put("lib.c", fmt.Sprintf("one\n%d\n", i))
		lib.record("More")
	}
	app.clean()
	if _, err := app.PinHere(ctx, SubrepoOptions{}); err == nil {
		t.Fatal("nothing moved")
	}
	if _, err := app.PinNewest(ctx, SubrepoOptions{}); err != nil {
		t.Fatal(err)
	}
	app.clean()
	if got := app.read("vendor/lib/lib.c"); got != "one\n4\n" {
		t.Fatalf("%q", got)
	}
	from := ada.base()
	ada.pull()
	if done := ada.follows(from); len(done) != 1 || done[0].Err != nil || !done[0].Moved {
		t.Fatalf("%+v", done)
	}
	ada.clean()
	if in := ada.inside("vendor/lib"); in.read("lib.c") != "one\n4\n" {
		t.Fatalf("%q", in.read("lib.c"))
	}

	// Back to before, and the library goes back too; on, and a person's edit in it stays and is told of.
	from = ada.base()
	_, err := ada.Checkout(ctx, "main~1")
	check(t, err)
	if done := ada.follows(from); len(done) != 1 || done[0].Err != nil {
		t.Fatalf("%+v", done)
	}
	if got := ada.read("vendor/lib/lib.c"); got != "one\n" {
		t.Fatalf("%q", got)
	}
	ada.put("vendor/lib/lib.c", "edited\n")
	from = ada.base()
	_, err = ada.Checkout(ctx, "main")
	check(t, err)
	if done := ada.follows(from); len(done) != 1 || done[0].Err == nil {
		t.Fatalf("%+v", done)
	}
	if got := ada.read("vendor/lib/lib.c"); got != "edited\n" {
		t.Fatalf("%q", got)
	}
	in := ada.inside("vendor/lib")
	_, err = in.Discard(ctx, nil, nil)
	check(t, err)
	if done, err := ada.UpdateSubrepos(ctx, SubrepoOptions{}); err != nil || len(done) != 1 || done[0].Err != nil {
		t.Fatalf("%+v, %v", done, err)
	}
	ada.clean()

	// Work inside: only what was pushed can be pinned.
	ada.put("vendor/lib/lib.c", "ada\n")
	in = ada.inside("vendor/lib")
	in.record("Ada's")
	if _, err := ada.PinHere(ctx, SubrepoOptions{}); err == nil || !strings.Contains(err.Error(), "others could not get it") {
		t.Fatal(err)
	}
	if _, err := in.push(); err != nil {
		t.Fatal(err)
	}
	_, err = ada.PinHere(ctx, SubrepoOptions{})
	check(t, err)
	ada.clean()

	// What is a subrepo is not moved or removed as a file, and its directory stays when it goes.
	if err := ada.Move(ctx, "vendor", "third"); err == nil {
		t.Fatal("it was moved")
	}
	if _, err := ada.Remove(ctx, []string{"vendor"}, true); err == nil {
		t.Fatal("it was removed")
	}
	if _, err := ada.RemoveSubrepos(ctx, SubrepoOptions{Paths: []string{"vendor/lib"}}); err != nil {
		t.Fatal(err)
	}
	if got := ada.read("vendor/lib/lib.c"); got != "ada\n" {
		t.Fatalf("%q", got)
	}
	st, err := ada.Status(ctx, StatusOptions{})
	check(t, err)
	if len(st.Subrepos) > 0 || len(st.Files) > 0 || len(st.Nested)+len(st.Untracked) != 1 {
		t.Fatalf("%s", statusText(st))
	}
	ada.addSubrepo("", "vendor/lib") // it is still there
	ada.clean()
	ada.sound()
	in.sound()
}

// A pin far back in a log that came at once has no state of its own until it is asked for.
func TestPinOfAnOldState(t *testing.T) {
	lib, app, opt := family(t)
	app.addSubrepo("../lib", "lib")
	pin := must(app.pinned(nil))(t)[0].Pin
	for i := range 3 {
		lib.put(fmt.Sprint(i), "x\n")
		lib.record("More")
	}
	c := app.clone(opt)
	if done := c.follows(StateRef{Num: NoState}); len(done) != 1 || done[0].Err != nil || done[0].State.ID != pin.State {
		t.Fatalf("%+v", done)
	}
	c.clean()
	if in := c.inside("lib"); in.has("0") {
		t.Fatal("it stands beyond its pin")
	}
	// One that is in no log.
	pin.State[5]++
	if _, err := c.recordPins(context.Background(), []pinEdit{{"lib", pin}}, "Forged", SubrepoOptions{}); err != nil {
		t.Fatal(err)
	}
	done, err := c.UpdateSubrepos(context.Background(), SubrepoOptions{})
	check(t, err)
	if said := (*Error)(nil); len(done) != 1 || !errors.As(done[0].Err, &said) || said.Next == "" {
		t.Fatalf("%+v", done)
	}
}

func (s *site) has(name string) bool {
	_, err := os.Lstat(filepath.Join(s.root, name))
	return err == nil
}

// Two people pin different states at once: a conflict like any other, and one of them stays.
func TestPinsInConflict(t *testing.T) {
	ctx := context.Background()
	lib, app, opt := family(t)
	app.addSubrepo("../lib", "lib")
	bob := app.clone(opt)
	bob.follows(StateRef{Num: NoState})
	lib.put("lib.c", "two\n")
	lib.record("Two")
	_, err := app.PinNewest(ctx, SubrepoOptions{})
	check(t, err)
	lib.put("lib.c", "three\n")
	lib.record("Three")
	_, err = bob.PinNewest(ctx, SubrepoOptions{})
	check(t, err)
	from := bob.base()
	if res := bob.pull(); len(res.Move.Conflicts) != 1 {
		t.Fatalf("%+v", res.Move)
	}
	bob.follows(from)
	st, err := bob.Status(ctx, StatusOptions{})
	check(t, err)
	if len(st.Conflicts) != 1 || len(st.Subrepos) != 1 {
		t.Fatalf("%+v", st)
	}
	// The shown one is taken by a word, another one by standing there.
	for _, b := range []*site{bob, copyRepo(t, bob.root, opt)} {
		shown := must(b.pinned(nil))(t)[0].Pin.State
		took := 0
		for side := range 2 {
			if _, err := b.Resolve(ctx, ResolveOptions{Paths: []string{"lib"}, Take: []string{fmt.Sprint(side + 1)}}); err == nil {
				took++
			} else if said := (*Error)(nil); !errors.As(err, &said) || !strings.Contains(said.Next, "--here") {
				t.Fatal(err)
			}
		}
		if took != 1 {
			t.Fatalf("%d sides can be taken", took)
		}
		if b == bob {
			_, err = b.Commit(ctx, CommitOptions{Message: "The one shown"})
		} else {
			_, err = b.Undo(ctx)
			check(t, err)
			in := b.inside("lib")
			for _, name := range []string{"main", "main~1"} {
				if in.base().ID == shown {
					_, err = in.Checkout(ctx, name)
					check(t, err)
				}
			}
			_, err = b.PinHere(ctx, SubrepoOptions{})
		}
		check(t, err)
		if st, err = b.Status(ctx, StatusOptions{}); err != nil || len(st.Conflicts) > 0 {
			t.Fatalf("%+v, %v", st.Conflicts, err)
		}
		if (must(b.pinned(nil))(t)[0].Pin.State == shown) != (b == bob) {
			t.Fatal("another pin stays")
		}
	}
}

// Subrepos in subrepos come along, and what stands in the way is told of and left alone.
func TestSubreposInside(t *testing.T) {
	lib, app, opt := family(t)
	deep, err := Init(filepath.Join(filepath.Dir(lib.root), "deep"), opt)
	check(t, err)
	defer deep.Close()
	d := &site{t, deep}
	d.put("deep.c", "deep\n")
	d.record("Deep")
	lib.addSubrepo("../deep", "deep")
	app.addSubrepo("../lib", "lib")
	c := app.clone(opt)
	done := c.follows(StateRef{Num: NoState})
	if len(done) != 2 || done[1].Path != "lib/deep" || done[1].Err != nil {
		t.Fatalf("%+v", done)
	}
	if got := c.read("lib/deep/deep.c"); got != "deep\n" {
		t.Fatalf("%q", got)
	}
	c.clean()

	other := app.clone(opt)
	check(t, os.WriteFile(filepath.Join(other.root, "lib", "mine"), []byte("mine\n"), 0o666))
	if done := other.follows(StateRef{Num: NoState}); len(done) != 1 || done[0].Err == nil {
		t.Fatalf("%+v", done)
	}
	if got := other.read("lib/mine"); got != "mine\n" {
		t.Fatalf("%q", got)
	}
	// A link that was planted where the subrepo goes, or on the way to it.
	check(t, os.RemoveAll(filepath.Join(other.root, "lib")))
	outside := t.TempDir()
	check(t, os.Symlink(outside, filepath.Join(other.root, "lib")))
	if done := other.follows(StateRef{Num: NoState}); len(done) != 1 || done[0].Err == nil {
		t.Fatalf("%+v", done)
	}
	if names, err := os.ReadDir(outside); err != nil || len(names) > 0 {
		t.Fatalf("%v, %v", names, err)
	}
}

// A stranger's pin gets no token, and no path of this machine.
func TestTokenStaysAtItsHost(t *testing.T) {
	_, app, opt := family(t)
	env := opt.Env
	opt.Env = func(key string) string {
		if key == "OXY_TOKEN" {
			return "secret"
		}
		return env(key)
	}
	app.opt.Env = opt.Env
	check(t, app.ConfigSet("remote.origin.url", "https://host/team/app", false))
	for from, want := range map[string]string{"../lib": "secret", "https://host/x": "secret", "https://evil/x": "", "http://host/x": "", "ssh://host/x": "", "https://host:444/x": ""} {
		p := somePin()
		p.From = from
		_, o, err := app.meant(p)
		check(t, err)
		if got := o.Env("OXY_TOKEN"); got != want {
			t.Errorf("%s: %q", from, got)
		}
	}
	if _, err := app.asPinned("/srv/lib", app.root); err == nil {
		t.Error("a path was pinned beside a host")
	}
	if from, err := app.asPinned("../lib", app.root); err != nil || from != "../lib" {
		t.Errorf("%s, %v", from, err)
	}
}

// libBeside is a library with two changes beside the working copy, and in it as a repository that nobody pinned yet.
func libBeside(t testing.TB, w *world) {
	t.Helper()
	opt := memOptions(w.mem)
	record := func(r *Repo, text string, sec int64) {
		check(t, vfs.WriteFileAtomic(w.mem, "/lib/x", []byte(text), true))
		_, err := r.Commit(context.Background(), CommitOptions{Message: text, Time: at(sec)})
		check(t, err)
	}
	lib, err := Init("/lib", opt)
	check(t, err)
	record(lib, "one", 500)
	w.with(t, func(r *Repo) error {
		check(t, r.makeRoom("sub"))
		in, _, err := Clone(context.Background(), "/lib", memRoot+"/sub", opt, SyncOptions{Dir: "/"})
		check(t, err)
		return in.Close()
	})
	record(lib, "two", 501)
	check(t, lib.Close())
	syncFiles(t, w.mem)
}

func addSub(ctx context.Context, r *Repo) error {
	_, _, err := r.AddSubrepo(ctx, "", "sub", SubrepoOptions{Dir: memRoot})
	return err
}

// withSub has it pinned to its first state. It stands at its second.
func withSub(t testing.TB, w *world) {
	t.Helper()
	libBeside(t, w)
	w.with(t, func(r *Repo) error {
		check(t, addSub(context.Background(), r))
		in, err := r.inner("sub")
		check(t, err)
		_, err = in.Pull(context.Background(), SyncOptions{Dir: memRoot})
		check(t, err)
		return in.Close()
	})
	w.moments = append(w.moments, moment{baseHere(t, w), memDisk(t, w.mem)})
	syncFiles(t, w.mem)
}

func baseHere(t testing.TB, w *world) (s StateRef) {
	w.with(t, func(r *Repo) (err error) { s, err = r.Base(); return err })
	return s
}
