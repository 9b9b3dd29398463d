package repo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	gosync "sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// gallery has pictures that were altered, large texts that were edited and that were not, and small ones.
func gallery(t *testing.T, opt Options) *site {
	a := newSite(t, "a", opt)
	rng := rand.New(rand.NewPCG(1, 1))
	noise := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		b[0] = 0
		return string(b)
	}
	a.put("README", lines(0, 2000))
	a.put("docs/guide", lines(0, 3000))
	a.put("docs/pic.png", noise(9000))
	a.put("art/one.png", noise(10_000))
	a.put("art/huge.png", noise(3<<20))
	a.put("art/text", lines(0, 4000))
	a.put("art/small", lines(0, 4))
	a.put("art/gone", lines(7, 3000))
	a.put("src/code", lines(0, 5000))
	a.record("Begin")
	first, err := a.Base()
	check(t, err)
	check(t, a.SetBookmark("side", first, false))
	check(t, os.Remove(filepath.Join(a.root, "art/gone")))
	a.put("art/one.png", noise(11_000))
	a.put("src/code", "top\n"+lines(0, 5000))
	a.record("Better")
	a.put("art/two.png", noise(12_000))
	a.put("art/twin.png", a.read("art/two.png"))
	a.put("docs/guide", lines(0, 3001))
	a.record("More")
	ctx := context.Background()
	check(t, checkout("side")(ctx, a.Repo))
	a.put("src/side", "side\n")
	a.record("Beside")
	check(t, checkout("main")(ctx, a.Repo))
	return a
}

// galleryLacks is how many contents of gallery no tree is made of and no path in docs needs: three pictures in four forms, and two texts.
const galleryLacks = 6

func (s *site) partClone(opt Options, dirs ...string) (*site, *CloneResult) {
	s.t.Helper()
	r, res, err := Clone(context.Background(), s.root, filepath.Join(s.t.TempDir(), "part"), opt, SyncOptions{Dir: s.root, Path: dirs})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { r.Close() })
	return &site{s.t, r}, res
}

// lackCount is how many contents are promised and not here, as fsck tells, which finds nothing wrong.
func (s *site) lackCount() int {
	s.t.Helper()
	if err := s.store.Refresh(); err != nil {
		s.t.Fatal(err)
	}
	res, err := s.Fsck(context.Background(), FsckOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range res.Problems {
		s.t.Errorf("fsck of %s: %s", s.root, p.Text)
	}
	return int(res.Promised)
}

func (s *site) cat(path string) ([]byte, error) {
	base, err := s.Base()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = s.Cat(&b, base, path)
	return b.Bytes(), err
}

// A partial clone has every change, proves every state, and lacks what it was told that it would.
func TestPartialClone(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := gallery(t, opt)
	p, res := a.partClone(opt, "docs")
	// Begun, received, settled, checked out: nothing had to be brought, which would be an operation more.
	if n := p.store.NumOps(); n != 4 {
		t.Errorf("%d operations: what was left out was needed", n)
	}
	if res.Promised != galleryLacks || res.Came != 4 {
		t.Errorf("%d contents were left out, %d changes came", res.Promised, res.Came)
	}
	p.same(a)
	if n := p.lackCount(); n != galleryLacks {
		t.Errorf("fsck tells of %d", n)
	}
	want := map[string]bool{"README": true, "docs/guide": true, "docs/pic.png": true}
	for path := range disk(t, p.root) {
		if !want[path] {
			t.Errorf("%s was written", path)
		}
		delete(want, path)
	}
	if len(want) > 0 {
		t.Errorf("not written: %v", want)
	}
	st, err := p.Status(ctx, StatusOptions{})
	check(t, err)
	if st.Sparse == nil || !cmp.Equal(st.Sparse.Dirs, []string{"docs"}) || len(st.Files)+len(st.Untracked)+len(st.Outside) > 0 {
		t.Errorf("%+v", st)
	}

	// One is brought when it is asked for, and stays.
	for range 2 {
		if b, err := p.cat("art/two.png"); err != nil || string(b) != a.read("art/two.png") {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
	}
	if b, err := p.cat("art/huge.png"); err != nil || string(b) != a.read("art/huge.png") {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	if n := p.lackCount(); n != galleryLacks-2 {
		t.Errorf("%d are left", n)
	}
	var e *Error
	if _, err := p.Undo(ctx); !errors.As(err, &e) || !e.No {
		t.Errorf("undo takes back what was brought: %v", err)
	}
	// What takes a directory in brings all at once.
	ops := p.store.NumOps()
	_, err = p.AddSparse(ctx, []string{"art"})
	check(t, err)
	for _, f := range []string{"art/one.png", "art/two.png", "art/text", "art/small"} {
		if p.read(f) != a.read(f) {
			t.Errorf("%s is another", f)
		}
	}
	if n := p.lackCount(); n != 2 || p.store.NumOps() != ops+1 { // what one.png was at first, and what is gone
		t.Errorf("%d are left, after %d operations", n, p.store.NumOps()-ops)
	}
	// And all that is left, after which it is a whole clone like any other.
	n, err := p.FetchContents(ctx, nil)
	if err != nil || n != 2 || p.lackCount() != 0 {
		t.Fatalf("%d: %v", n, err)
	}
	if _, err := p.FetchContents(ctx, nil); !errors.As(err, &e) || !e.No {
		t.Error(err)
	}
	p.clone(opt).same(a)
	a.put("art/three.png", strings.Repeat("\x00three", 3000))
	a.record("Three")
	p.pull()
	p.same(a)
	if n := p.lackCount(); n != 0 {
		t.Errorf("%d are left out of what is a whole clone by now", n)
	}
}

// Who interrupts what brings a content leaves the clone as it was.
func TestInterruptedBringing(t *testing.T) {
	opt := syncEnv(t)
	a := gallery(t, opt)
	stopped := false
	opt.Interrupt = func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		if stopped {
			cancel()
		} else {
			t.Cleanup(cancel)
		}
		return ctx
	}
	p, _ := a.partClone(opt, "docs")
	ops := p.store.NumOps()
	stopped = true
	if _, err := p.cat("art/two.png"); !errors.Is(err, context.Canceled) {
		t.Errorf("it went on: %v", err)
	}
	if n := p.lackCount(); n != galleryLacks || p.store.NumOps() != ops {
		t.Errorf("%d contents are left out after %d operations", n, p.store.NumOps()-ops)
	}
	stopped = false
	if b, err := p.cat("art/two.png"); err != nil || string(b) != a.read("art/two.png") {
		t.Errorf("%d bytes: %v", len(b), err)
	}
}

// Away from the network what is here works, and what is not says so, before anything is touched.
func TestPartialCloneAlone(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := gallery(t, opt)
	p, _ := a.partClone(opt, "docs")
	check(t, os.Rename(a.root, a.root+"-away"))
	before := disk(t, p.root)
	asks := map[string]func() error{
		"cat":        func() error { _, err := p.cat("art/two.png"); return err },
		"cat large":  func() error { _, err := p.cat("art/huge.png"); return err },
		"sparse add": func() error { _, err := p.AddSparse(ctx, []string{"art"}); return err },
		"sparse off": func() error { _, err := p.EndSparse(ctx); return err },
		"contents":   func() error { _, err := p.FetchContents(ctx, nil); return err },
		"blame":      func() error { _, err := p.Blame(ctx, "art/text", BlameOptions{}); return err },
	}
	for name, ask := range asks {
		var e *Error
		if err := ask(); !errors.As(err, &e) || !strings.Contains(e.Text, "this partial clone has not") || !strings.Contains(e.Text, "cannot be had from origin") || !strings.Contains(e.Next, "oxy fetch --contents") {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(before, disk(t, p.root)); d != "" {
			t.Fatalf("%s: %s", name, d)
		}
	}
	s, err := p.Sparse()
	if err != nil || !cmp.Equal(s.Dirs, []string{"docs"}) {
		t.Errorf("%v %v", s, err)
	}
	p.put("docs/guide", lines(1, 3001))
	p.record("On the train")
	if _, err := p.cat("src/code"); err != nil {
		t.Error(err) // a tree is made of it
	}
	if p.lackCount() != galleryLacks {
		t.Error("something else is left out")
	}
	check(t, os.Rename(a.root+"-away", a.root))
	if res, err := p.push(); err != nil || res.Sent != 1 {
		t.Fatalf("%+v %v", res, err)
	}
	p.same(a)
}

// What others do is taken in: an edit of a text that was left out brings that text, a new picture elsewhere stays away, one inside comes.
func TestPartialPull(t *testing.T) {
	opt := syncEnv(t)
	a := gallery(t, opt)
	p, _ := a.partClone(opt, "docs")
	a.put("art/more", lines(9, 4000))
	a.record("Another text")
	p.pull()
	if n := p.lackCount(); n != galleryLacks+1 {
		t.Errorf("%d are left out", n)
	}
	ops := p.store.NumOps()
	a.put("art/text", "edited\n"+lines(0, 4000))
	a.put("art/more", "edited\n"+lines(9, 4000))
	a.put("art/new.png", strings.Repeat("\x00new", 3000))
	a.put("docs/new.png", strings.Repeat("\x00inside", 3000))
	a.record("Others")
	p.pull()
	p.same(a)
	if p.read("docs/new.png") != a.read("docs/new.png") {
		t.Error("what is inside did not come")
	}
	if n := p.lackCount(); n != galleryLacks { // the texts came, the picture is left out
		t.Errorf("%d are left out", n)
	}
	if n := p.store.NumOps() - ops; n != 4 { // received, brought, settled, pulled
		t.Errorf("%d operations", n)
	}
	if b, err := p.cat("art/text"); err != nil || string(b) != a.read("art/text") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	// Both sides edit such a text: the union needs it too.
	a.put("art/text", "edited\n"+lines(0, 2000)+"theirs\n"+lines(2000, 4000))
	a.record("Theirs")
	p.put("docs/guide", "mine\n"+p.read("docs/guide"))
	p.record("Mine")
	p.pull()
	if res, err := p.push(); err != nil || len(res.Refs) != 1 || res.Refs[0].Refused != "" {
		t.Fatalf("%+v %v", res, err)
	}
	p.same(a)
	if n := p.lackCount(); n != galleryLacks {
		t.Errorf("%d are left out", n)
	}
}

// Who asks a partial clone for what it has not is told so, and gets what it has.
func TestPartialCloneServes(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := gallery(t, opt)
	p, _ := a.partClone(opt, "docs")
	b := a.clone(opt)
	dir := filepath.Join(t.TempDir(), "of")
	var e *Error
	if _, _, err := Clone(ctx, p.root, dir, opt, SyncOptions{Dir: p.root}); !errors.As(err, &e) || !strings.Contains(e.Text, "is a partial clone and has not all") || !strings.Contains(e.Text, a.root) {
		t.Errorf("a clone of a partial clone: %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("something is left of it")
	}
	again, res := p.partClone(opt, "docs") // the same may be left out
	again.same(a)
	if res.Promised != galleryLacks {
		t.Errorf("%d are left out", res.Promised)
	}
	if _, err := again.cat("art/two.png"); !errors.As(err, &e) || !strings.Contains(e.Text, "is not there") {
		t.Errorf("what the other lacks too: %v", err)
	}
	p.put("docs/guide", "new\n"+lines(0, 3001))
	p.record("To give")
	if _, err := b.Pull(ctx, SyncOptions{Remote: p.root}); err != nil {
		t.Errorf("what it has: %v", err)
	}
	b.same(p)
	// To a place that has nothing of it, it cannot push.
	empty := newSite(t, "empty", opt)
	if _, err := p.Push(ctx, SyncOptions{Remote: empty.root}); err == nil || !strings.Contains(err.Error(), "not in this partial clone") {
		t.Errorf("a push of what is not here: %v", err)
	}
	if empty.store.Refresh() != nil || empty.store.NumChanges() > 0 {
		t.Error("something of it went")
	}
}

// Packing and dropping keep what is promised; without the list what is missing is damage.
func TestPromisesAreKept(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := gallery(t, opt)
	p, _ := a.partClone(opt, "docs")
	p.put("docs/guide", "new\n")
	p.record("One that goes")
	if _, err := p.Unrecord(ctx, []string{"@"}, UnrecordOptions{}); err != nil {
		t.Fatal(err)
	}
	if res, err := p.GC(ctx, GCOptions{Prune: true}); err != nil || !res.Dropped.Any() {
		t.Fatal(res, err)
	}
	if n := p.lackCount(); n != galleryLacks {
		t.Errorf("%d are promised", n)
	}
	if b, err := p.cat("art/two.png"); err != nil || string(b) != a.read("art/two.png") {
		t.Errorf("%d bytes: %v", len(b), err)
	}
	check(t, p.update("test", func(v *store.View) error {
		delete(v.Kept, keptPromised)
		return nil
	}))
	res, err := p.Fsck(ctx, FsckOptions{})
	check(t, err)
	if len(res.Problems) == 0 || !strings.Contains(res.Problems[0].Text, "missing") || res.Promised != 0 {
		t.Errorf("%+v", res)
	}
}

// A list of promises is what a naive set is.
func TestPromises(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var p promises
	want := map[change.Hash]bool{}
	for range 200 {
		var more []change.Hash
		for range rng.IntN(9) {
			h := change.Hash{byte(rng.IntN(12)), 31: byte(rng.IntN(40))}
			more = append(more, h)
			want[h] = true
		}
		p = p.with(more)
		got := map[change.Hash]bool{}
		for i := range p.len() {
			got[p.at(i)] = true
		}
		if p.len() != len(want) || !maps.Equal(got, want) {
			t.Fatalf("%d of %d", p.len(), len(want))
		}
		if h := (change.Hash{byte(rng.IntN(12)), 31: byte(rng.IntN(40))}); p.has(h) != want[h] {
			t.Fatalf("%v", h)
		}
	}
}

// A remote that does not keep its promise, or gives something else, is told, and nothing of it is believed.
func TestBrokenPromises(t *testing.T) {
	ctx := context.Background()
	opt := syncEnv(t)
	a := gallery(t, opt)
	p, _ := a.partClone(opt, "docs")
	base, err := p.Base()
	check(t, err)
	tree, err := p.tree(base.Num)
	check(t, err)
	e, _, err := tree.Get("art/two.png")
	check(t, err)
	answers := map[string]func(out *sync.Writer) error{
		"nothing": func(out *sync.Writer) error { return nil },
		"another": func(out *sync.Writer) error { return giveContent(out, change.Hash{1}, a.read("art/two.png")) },
		"altered": func(out *sync.Writer) error { return giveContent(out, e.Hash, "x"+a.read("art/two.png")[1:]) },
		"shorter": func(out *sync.Writer) error { return giveContent(out, e.Hash, a.read("art/two.png")[1:]) },
		"twice": func(out *sync.Writer) error {
			return errors.Join(giveContent(out, e.Hash, a.read("art/two.png")), giveContent(out, e.Hash, a.read("art/two.png")))
		},
	}
	ops := p.store.NumOps()
	for name, answer := range answers {
		l := &link{Peer: sync.Local(ctx, faithless(answer), func() error { return nil }), name: Origin, shown: "a liar"}
		if err := p.bringSome(ctx, l, []change.Hash{e.Hash}); err == nil {
			t.Errorf("%s: it is believed", name)
		}
		check(t, l.Close())
		if _, here := p.store.BlobSize(e.Hash); here || p.store.NumOps() != ops {
			t.Errorf("%s: something was kept", name)
		}
	}
	if n := p.lackCount(); n != galleryLacks {
		t.Errorf("%d are promised", n)
	}
}

type faithless func(out *sync.Writer) error

func (l faithless) Handle(_ context.Context, in *sync.Reader, out *sync.Writer) error {
	if _, err := in.Request(); err != nil {
		return err
	}
	return errors.Join(out.Reply(), l(out))
}

func giveContent(out *sync.Writer, h change.Hash, text string) error {
	return out.Content(h, int64(len(text)), func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// A fault or a power cut at any call of a pull into a partial clone: what is missing afterwards is what was promised, and the same
// once more completes it.
func TestFaultsOfAPartialPull(t *testing.T) {
	ctx := context.Background()
	w := partly(t)
	o, err := Open("/origin", memOptions(w.mem))
	check(t, err)
	check(t, vfs.WriteFileAtomic(w.mem, "/origin/d/bin", []byte(binary5000+"theirs"), true))
	check(t, vfs.WriteFileAtomic(w.mem, "/origin/e/x", []byte("theirs\n"), true))
	_, err = o.Commit(ctx, CommitOptions{Message: "theirs", Time: at(900)})
	check(t, err)
	check(t, o.Close())
	pull := func(fsys vfs.FS) error {
		r, err := Open(memRoot, memOptions(fsys))
		if err != nil {
			return err
		}
		_, err = r.Pull(ctx, SyncOptions{})
		_ = r.Close()
		return err
	}
	sound := func(mem *vfs.Mem, lacks ...int) {
		t.Helper()
		with(t, mem, func(r *Repo) error {
			res, err := r.Fsck(ctx, FsckOptions{})
			if err != nil {
				return err
			}
			res.Problems = slices.DeleteFunc(res.Problems, func(p Problem) bool { return p.Derived }) // a cut takes of that what it likes
			if len(res.Problems) > 0 || !slices.Contains(lacks, int(res.Promised)) {
				t.Fatalf("%d promised: %+v", res.Promised, res.Problems)
			}
			return err
		})
	}
	step := 3
	if *thorough {
		step = 1
	}
	for n := 1; ; n += step {
		mem := copyOf(w.mem)
		faulty := vfs.Inject(mem, n, errCut, vfs.FaultStays)
		_ = pull(faulty)
		for _, found := range append(cuts(mem, 1), mem) {
			sound(found, 2, 3)
			check(t, pull(found))
			sound(found, 3)
			// Working files are not synced: only a cut that was none has them for certain.
			if now := memDisk(t, found); found == mem && now["e/x"] != "file theirs\n" || now["d/bin"] != "" {
				t.Fatalf("cut at %d: %q", n, now)
			}
		}
		if !faulty.Fired() {
			break
		}
	}
}

// The page's list is what the code makes and reads.
func TestPartialVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/partial.md")
	check(t, err)
	_, rest, ok := strings.Cut(string(page), "```vector\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the page has no vector")
	}
	list, err := hex.DecodeString(strings.ReplaceAll(text, "\n", ""))
	check(t, err)
	two := []change.Hash{{0xff, 31: 2}, {1}}
	if got := promises(nil).with(two); !bytes.Equal(got, list) {
		t.Fatalf("%x", got)
	}
	if p := promises(list); p.len() != 2 || !p.has(two[0]) || !p.has(change.Hash{1}) || p.has(change.Hash{2}) {
		t.Fatal("it is read otherwise")
	}
}

// Many readers at once that find out that something is missing bring it once, and none of them is disturbed.
func TestManyBringAtOnce(t *testing.T) {
	opt := syncEnv(t)
	a := gallery(t, opt)
	p, _ := a.partClone(opt, "docs")
	base, err := p.Base()
	check(t, err)
	before, err := p.stateBefore(base.Num)
	check(t, err)
	p.put("docs/guide", "edited\n")
	working, err := p.DiffWorking(context.Background(), nil)
	check(t, err)
	set, err := p.DiffStates(StateRef{Num: NoState}, before, nil)
	check(t, err)
	var wg gosync.WaitGroup
	for range 4 {
		for i := range set.Files {
			wg.Go(func() {
				if b, err := set.New(nil, i); err != nil || int64(len(b)) != set.Files[i].New.Size {
					t.Errorf("%s: %d bytes, %v", set.Files[i].Path(), len(b), err)
				}
			})
		}
		wg.Go(func() {
			if b, err := working.New(nil, 0); err != nil || string(b) != "edited\n" {
				t.Errorf("%q %v", b, err)
			}
		})
	}
	wg.Wait()
	if n := p.lackCount(); n != galleryLacks-3 { // two.png came later, one.png has two forms, and gone is gone
		t.Errorf("%d are left", n)
	}
}
