package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/state"
)

// annals is a long history of large texts and pictures that come, are edited in pieces large and small, move, and go.
func annals(t *testing.T, opt Options, seed uint64, changes int) *site {
	a := newSite(t, "annals", opt)
	rng := rand.New(rand.NewPCG(seed, 5))
	large := func() string {
		var b strings.Builder
		for range 150 + rng.IntN(200) {
			fmt.Fprintf(&b, "%d %d %d\n", rng.Uint64(), rng.Uint64(), rng.Uint64())
		}
		return b.String()
	}
	for i := range 4 {
		a.put(fmt.Sprint("text", i), large())
		a.put(fmt.Sprint("pic", i), "\x00"+large())
	}
	a.record("Begin")
	for n := range changes {
		text, pic := fmt.Sprint("text", rng.IntN(4)), fmt.Sprint("pic", rng.IntN(4))
		switch rng.IntN(6) {
		case 0: // a large piece in place of a large piece
			s := a.read(text)
			from := rng.IntN(len(s) / 2)
			from += strings.IndexByte(s[from:], '\n') + 1
			to := from + strings.IndexByte(s[from+len(s)/3:], '\n') + len(s)/3 + 1
			a.put(text, s[:from]+large()+s[min(to, len(s)):])
		case 1: // one line
			s := a.read(text)
			at := strings.IndexByte(s, '\n') + 1
			a.put(text, s[at:]+fmt.Sprintf("line %d\n", n))
		case 2:
			a.put(pic, "\x00"+large())
		case 3:
			a.put("dir/"+fmt.Sprint(n), large())
		case 4: // all of it, and then it is another file's
			check(t, os.Remove(filepath.Join(a.root, text)))
			a.put(text, large())
		case 5:
			check(t, os.Remove(filepath.Join(a.root, pic)))
			a.put("was/"+pic, "\x00"+large())
			a.put(pic, "\x00"+large())
		}
		a.record(fmt.Sprint("Change ", n))
	}
	// What went comes back at the end: what the state before that shows is not all that is needed.
	a.put("back", large())
	a.record("Comes")
	check(t, os.Remove(filepath.Join(a.root, "back")))
	a.record("Goes")
	a.put("small", "small\n")
	a.record("Between")
	_, err := a.Rollback(context.Background(), "main~1", RollbackOptions{})
	check(t, err)
	return a
}

func (s *site) deepClone(opt Options, depth uint64) (*site, *CloneResult) {
	s.t.Helper()
	r, res, err := Clone(context.Background(), s.root, filepath.Join(s.t.TempDir(), "deep"), opt, SyncOptions{Dir: s.root, Depth: depth})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { r.Close() })
	return &site{s.t, r}, res
}

// texts are the files of a state so many changes before the end.
func (s *site) texts(back int) map[string]string {
	s.t.Helper()
	at, err := s.ResolveState(fmt.Sprintf("main~%d", back))
	check(s.t, err)
	tree, err := mended(s.Repo, func() (state.Tree, error) { return s.tree(at.Num) })
	check(s.t, err)
	var paths []string
	check(s.t, tree.Walk("", func(e *state.Entry) error {
		paths = append(paths, e.Path)
		return nil
	}))
	out := map[string]string{}
	for _, path := range paths {
		var b bytes.Buffer
		check(s.t, s.Cat(&b, at, path))
		out[path] = b.String()
	}
	return out
}

// A clone of some depth has every change, and what all states from there on are made of: nothing has to be brought for them. What is older
// is brought, and is the same.
func TestDepthClone(t *testing.T) {
	opt := syncEnv(t)
	for seed, depth := range []uint64{1, 4, 12} {
		const changes = 24
		a := annals(t, opt, uint64(seed), changes)
		p, res := a.deepClone(opt, depth)
		if res.Came != changes+5 || res.Promised == 0 {
			t.Fatalf("%d changes came, %d contents were left out", res.Came, res.Promised)
		}
		p.same(a)
		ops := p.store.NumOps()
		for back := range int(depth) + 1 {
			if d := cmp.Diff(a.texts(back), p.texts(back)); d != "" {
				t.Fatalf("depth %d, %d back: %s", depth, back, d)
			}
		}
		if n := p.lackCount(); n != res.Promised || p.store.NumOps() != ops {
			t.Errorf("depth %d: %d contents are left out after %d operations, at first %d", depth, n, p.store.NumOps()-ops, res.Promised)
		}
		for back := changes; back > int(depth); back -= 5 {
			if d := cmp.Diff(a.texts(back), p.texts(back)); d != "" {
				t.Fatalf("depth %d, %d back: %s", depth, back, d)
			}
		}
		if n := p.lackCount(); n >= res.Promised {
			t.Errorf("depth %d: %d contents are left out, nothing was brought", depth, n)
		}
		if _, err := p.FetchContents(context.Background(), nil); err != nil || p.lackCount() != 0 {
			t.Fatal(err)
		}
		p.clone(opt).same(a)
	}
}

// Work goes on in such a clone: what others record comes, what is recorded goes back, both sides' edits of old lines unite, and a change
// of long ago is taken back. Bookmarks that did not come with it come when they are asked for.
func TestDepthCloneWorks(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := annals(t, opt, 9, 20)
	old, err := a.ResolveState("main~15")
	check(t, err)
	check(t, a.SetBookmark("old", old, false))
	p, res := a.deepClone(opt, 3)
	lines := strings.SplitAfter(a.read("text1"), "\n")
	at := len(lines) / 2
	lines[at] = "theirs\n"
	a.put("text1", strings.Join(lines, ""))
	a.record("Theirs")
	lines = strings.SplitAfter(p.read("text1"), "\n")
	lines[at-3] = "mine\n"
	p.put("text1", strings.Join(lines, ""))
	p.record("Mine")
	p.pull()
	if got := p.read("text1"); !strings.Contains(got, "mine\n") || !strings.Contains(got, "theirs\n") {
		t.Fatal("an edit is missing")
	}
	if n := p.lackCount(); n != res.Promised {
		t.Errorf("%d contents are left out, at first %d", n, res.Promised)
	}
	if res, err := p.push(); err != nil || len(res.Refs) != 1 || res.Refs[0].Refused != "" {
		t.Fatalf("%+v %v", res, err)
	}
	p.same(a)
	if s, err := p.ResolveState("origin/old"); err == nil {
		t.Fatal("a bookmark came that nobody asked for", s, old)
	}
	if _, err := p.Fetch(ctx, SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	s, err := p.ResolveState("origin/old")
	if err != nil || s.ID != old.ID {
		t.Fatalf("%v %v", s, err)
	}
	// Its files were left out, and are brought for it.
	var b, want bytes.Buffer
	check(t, p.Cat(&b, s, "text0"))
	check(t, a.Cat(&want, old, "text0"))
	if b.String() != want.String() {
		t.Error("an old text is another")
	}
	if p.lackCount() == 0 {
		t.Error("everything was brought for it")
	}
}

// What goes on after a cut leaves out what the whole would have left out.
func TestDepthAfterACut(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := annals(t, opt, 3, 10)
	_, res := a.deepClone(opt, 2)
	p := newSite(t, "cut", opt)
	check(t, errors.Join(p.AddRemote(Origin, a.root, a.root), p.setPortion(Origin, &portion{depth: 2})))
	l, err := p.dial(ctx, Origin, p.root, nil)
	check(t, err)
	defer l.Close()
	refs, err := l.list(ctx)
	check(t, err)
	f := &fetching{ctx: ctx, r: p.Repo, l: l, res: &FetchResult{}}
	check(t, f.negotiate(refs[0]))
	if n := p.lackCount(); n != res.Promised || f.res.Came != res.Came {
		t.Errorf("%d contents were left out of %d changes, of the whole %d of %d", n, f.res.Came, res.Promised, res.Came)
	}
}

func TestDepthRefused(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := annals(t, opt, 4, 3)
	p, _ := a.deepClone(opt, 2)
	check(t, p.ConfigSet(depthKey(Origin), "many", false))
	var e *Error
	if _, err := p.Fetch(ctx, SyncOptions{}); !errors.As(err, &e) || !strings.Contains(e.Text, `remote.origin.depth is "many"`) {
		t.Errorf("%v", err)
	}
	if _, _, err := Clone(ctx, "s3://bucket/x", filepath.Join(t.TempDir(), "x"), opt, SyncOptions{Depth: 1}); !errors.As(err, &e) || !strings.Contains(e.Text, "a bucket cannot be cloned in part") {
		t.Errorf("%v", err)
	}
}
