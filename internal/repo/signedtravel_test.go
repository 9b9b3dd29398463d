package repo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// counting is a server that notes what it is asked. Without tells it knows nothing of signatures, as an older oxy.
type counting struct {
	*Server
	without bool
	asked   []sync.Verb
}

func (c *counting) Handle(ctx context.Context, in *sync.Reader, out *sync.Writer) error {
	q, err := in.Request()
	if err != nil {
		return err
	}
	c.asked = append(c.asked, q.Verb)
	if c.without && q.Verb >= sync.SignedSets {
		return &sync.RefusedError{Text: fmt.Sprintf("there is no request %d", q.Verb)}
	}
	if c.without {
		q.Marked = false
	}
	r, err := c.open()
	if err != nil {
		return err
	}
	defer r.Close()
	switch q.Verb {
	case sync.List:
		err = c.list(r, q, out)
	case sync.SignedSets:
		err = c.signedSets(r, q, out)
	case sync.TakeSigned:
		err = c.giveAsked(r, q, out)
	case sync.GiveSigned:
		err = c.signedGiven(ctx, r, q, out)
	default:
		err = c.fetch(ctx, r, q, out)
	}
	return refusal(err)
}

// travel is a server and a clone of it, in memory.
type travel struct {
	*world
	t      *testing.T
	server *counting
}

const servedRoot = "/served"

func newTravel(t *testing.T) *travel {
	w := &world{mem: newMem()}
	check(t, w.mem.MkdirAll(servedRoot, 0o777))
	opt := memOptions(w.mem)
	opt.Env = func(k string) string { return map[string]string{"OXY_NAME": "Ada", "OXY_EMAIL": "ada@example.org"}[k] }
	r, err := Init(servedRoot, opt)
	check(t, err)
	for i := range 3 {
		check(t, vfs.WriteFileAtomic(w.mem, filepath.Join(servedRoot, "a"), []byte(fmt.Sprint(i, "\n")), true))
		_, err := r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint(i), Time: at(int64(i))})
		check(t, err)
	}
	check(t, r.Close())
	s, err := NewServer(servedRoot, ServeOptions{Options: opt})
	check(t, err)
	c, _, err := Clone(context.Background(), servedRoot, memRoot, opt, SyncOptions{Dir: "/"})
	check(t, err)
	check(t, c.Close())
	for i := range 3 {
		putKey(t, w.mem, fmt.Sprint("/keys/", i), byte(i))
	}
	return &travel{w, t, &counting{Server: s}}
}

func (v *travel) link() *link {
	return &link{Peer: sync.Local(context.Background(), v.server, func() error { return nil }), name: Origin, shown: "there"}
}

// fetch gives what was asked of the server, and how many signatures came.
func (v *travel) fetch() ([]sync.Verb, int) {
	v.t.Helper()
	v.server.asked = nil
	n := 0
	v.with(v.t, func(r *Repo) error {
		l := v.link()
		defer l.Close()
		res, _, err := r.fetch(context.Background(), l, false, nil)
		if err == nil {
			n = res.Signatures
		}
		return err
	})
	return v.server.asked, n
}

func (v *travel) push() ([]sync.Verb, int) {
	v.t.Helper()
	v.server.asked = nil
	n := 0
	v.with(v.t, func(r *Repo) error {
		l := v.link()
		defer l.Close()
		refs, err := l.list(context.Background())
		check(v.t, err)
		p := &pushing{ctx: context.Background(), r: r, l: l, refs: refs, res: &PushResult{}}
		check(v.t, p.plan())
		err = p.giveSigned(false)
		n = p.res.Signatures
		return err
	})
	return v.server.asked, n
}

func (v *travel) sign(root string, key int, revs ...string) {
	v.t.Helper()
	r, err := Open(root, v.server.opt.Options)
	check(v.t, err)
	var nums []uint32
	for _, rev := range revs {
		n, err := r.ResolveChange(rev)
		check(v.t, err)
		nums = append(nums, n)
	}
	_, err = r.Sign(nums, fmt.Sprint("/keys/", key))
	check(v.t, errors.Join(err, r.Close()))
}

func (v *travel) signatures(root string) (n int) {
	v.t.Helper()
	r, err := Open(root, v.server.opt.Options)
	check(v.t, err)
	view, err := r.view()
	check(v.t, err)
	set, err := r.signedIn(view, everything)
	check(v.t, err)
	check(v.t, r.Close())
	return len(set.list)
}

// What is up to date is asked for its names, and for nothing else: whether nobody has a signature, or all have all of them.
func TestNothingNewToSignaturesCostsNothing(t *testing.T) {
	v := newTravel(t)
	only := []sync.Verb{sync.List}
	same := func(what string, asked []sync.Verb, n, want int) {
		t.Helper()
		if !slices.Equal(asked, only) || n != want {
			t.Errorf("%s: %v was asked, %d signatures went", what, asked, n)
		}
	}
	asked, n := v.fetch()
	same("a fetch without any", asked, n, 0)
	asked, n = v.push()
	same("a push without any", asked, n, 0)

	v.sign(servedRoot, 0, "main", "main~1")
	if asked, n := v.fetch(); !slices.Equal(asked, []sync.Verb{sync.List, sync.SignedSets, sync.TakeSigned}) || n != 2 {
		t.Errorf("a fetch of new ones: %v, %d", asked, n)
	}
	asked, n = v.fetch()
	same("a second fetch", asked, n, 0)
	if asked, n := v.push(); !slices.Equal(asked, []sync.Verb{sync.List, sync.SignedSets}) || n != 0 {
		t.Errorf("a push of what came from there: %v, %d", asked, n)
	}
	asked, n = v.push()
	same("a second push", asked, n, 0)

	v.sign(memRoot, 1, "main")
	if asked, n := v.push(); !slices.Equal(asked, []sync.Verb{sync.List, sync.SignedSets, sync.GiveSigned}) || n != 1 {
		t.Errorf("a push of a new one: %v, %d", asked, n)
	}
	asked, n = v.push()
	same("a push after it", asked, n, 0)
	v.fetch() // one's own came to what is here and there
	asked, n = v.fetch()
	same("a fetch after it", asked, n, 0)
	if a, b := v.signatures(servedRoot), v.signatures(memRoot); a != 3 || b != 3 {
		t.Errorf("%d signatures there and %d here", a, b)
	}
}

// One that does not know of signatures is asked for none and given none, and an older one is told of none.
func TestOlderPeersAndSignatures(t *testing.T) {
	v := newTravel(t)
	v.server.without = true
	v.sign(servedRoot, 0, "main")
	v.sign(memRoot, 1, "main")
	for range 2 {
		if asked, n := v.fetch(); !slices.Equal(asked, []sync.Verb{sync.List}) || n != 0 {
			t.Errorf("fetch: %v, %d", asked, n)
		}
		if asked, n := v.push(); !slices.Equal(asked, []sync.Verb{sync.List}) || n != 0 {
			t.Errorf("push: %v, %d", asked, n)
		}
	}
	v.server.without = false
	l := v.link()
	defer l.Close()
	err := l.Do(context.Background(), func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.List}) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		said, err := in.Listing()
		if said.Mark != nil || len(said.Refs) == 0 {
			t.Errorf("who did not ask was told %+v", said)
		}
		return err
	})
	check(t, err)
}

// What others send is believed in nothing: it is of a change that is here, a signature of that one, and within bounds, or is not kept.
func TestSignaturesOfOthersAreJudged(t *testing.T) {
	v := newTravel(t)
	v.with(t, func(r *Repo) error {
		first, second := r.store.ChangeID(0), r.store.ChangeID(1)
		s, err := r.openSigner("/keys/0")
		check(t, err)
		good, err := sign.Change(s, first)
		check(t, err)
		base, err := r.Base()
		check(t, err)
		c := &sign.Checkpoint{State: base.ID, Changes: base.Len, Time: 5}
		vouched, err := sign.SignCheckpoint(s, c)
		check(t, err)
		longer := &sign.Checkpoint{State: base.ID, Changes: base.Len + 1, Time: 5}
		wrong, err := sign.SignCheckpoint(s, longer)
		check(t, err)
		nowhere := &sign.Checkpoint{State: [32]byte{1}, Changes: 2}
		for _, one := range []struct {
			what  string
			s     sync.Signed
			added int
			has   bool
		}{
			{"of another change", sync.Signed{Change: second, Entry: good}, 0, true},
			{"of no change here", sync.Signed{Change: change.ID{7}, Entry: good}, 0, false},
			{"none at all", sync.Signed{Change: first, Entry: sign.Entry{Kind: sign.SSH, Bytes: []byte("SSHSIG")}}, 0, true},
			{"of an unknown kind", sync.Signed{Change: first, Entry: sign.Entry{Kind: 9, Bytes: []byte("new")}}, 1, true},
			{"good", sync.Signed{Change: first, Entry: good}, 1, true},
			{"good, again", sync.Signed{Change: first, Entry: good}, 0, true},
			{"a change's, of a checkpoint", sync.Signed{Checkpoint: c, Entry: good}, 0, true},
			{"a checkpoint's, of a change", sync.Signed{Change: first, Entry: vouched}, 0, true},
			{"of a state that is not here", sync.Signed{Checkpoint: nowhere, Entry: vouched}, 0, false},
			{"of a checkpoint with another length", sync.Signed{Checkpoint: longer, Entry: wrong}, 0, true},
			{"of a checkpoint", sync.Signed{Checkpoint: c, Entry: vouched}, 1, true},
			{"of a checkpoint, again", sync.Signed{Checkpoint: c, Entry: vouched}, 0, true},
		} {
			took, err := r.keepSigned([]sync.Signed{one.s}, "fetch")
			check(t, err)
			if took.added != one.added || took.has[0] != one.has {
				t.Errorf("%s: %+v", one.what, took)
			}
		}
		return nil
	})
	if n := v.signatures(memRoot); n != 3 {
		t.Errorf("%d are kept", n)
	}
}

// Anybody can make up as many as they like: a change takes 32, and a repository 256 checkpoints of others.
func TestSignaturesOfOthersAreBounded(t *testing.T) {
	v := newTravel(t)
	v.with(t, func(r *Repo) error {
		first := r.store.ChangeID(0)
		var list []sync.Signed
		for i := range 40 {
			list = append(list, sync.Signed{Change: first, Entry: sign.Entry{Kind: 9, Bytes: []byte{byte(i)}}})
		}
		base, err := r.Base()
		check(t, err)
		for i := range 300 {
			list = append(list, sync.Signed{Checkpoint: &sign.Checkpoint{State: base.ID, Changes: base.Len, Time: int64(i)}, Entry: sign.Entry{Kind: 9, Bytes: []byte{1}}})
		}
		took, err := r.keepSigned(list, "fetch")
		check(t, err)
		if took.added != 32+256 || !took.whole() {
			t.Errorf("%d were taken", took.added)
		}
		// One's own goes before what is full of others'.
		_, _, err = r.SignCheckpoint("/keys/0")
		return err
	})
	v.with(t, func(r *Repo) error {
		res, err := r.Fsck(context.Background(), FsckOptions{})
		check(t, err)
		if len(res.Problems) > 0 {
			t.Errorf("%v", res.Problems[0])
		}
		return nil
	})
}

// A server that answers what was not asked is believed nothing.
func TestSignaturesThatNobodyAskedFor(t *testing.T) {
	v := newTravel(t)
	v.sign(servedRoot, 0, "main")
	l := &link{Peer: sync.Local(context.Background(), v.server, func() error { return nil }), shown: "there"}
	defer l.Close()
	r, err := Open(servedRoot, v.server.opt.Options)
	check(t, err)
	defer r.Close()
	view, err := r.view()
	check(t, err)
	set, err := r.signedIn(view, everything)
	check(t, err)
	if _, err := l.askSigned(context.Background(), []change.ID{set.list[0].ID()}); err != nil {
		t.Fatal(err)
	}
	liar := &link{Peer: sync.Local(context.Background(), lying{set.list}, func() error { return nil }), shown: "there"}
	defer liar.Close()
	if _, err := liar.askSigned(context.Background(), []change.ID{{1}}); !errors.Is(err, sync.ErrMalformed) {
		t.Errorf("%v", err)
	}
}

// lying gives signatures whatever is asked.
type lying struct{ list []sync.Signed }

func (l lying) Handle(_ context.Context, in *sync.Reader, out *sync.Writer) error {
	if _, err := in.Request(); err != nil {
		return err
	}
	if err := out.Reply(); err != nil {
		return err
	}
	for i := range l.list {
		if err := out.Signed(&l.list[i]); err != nil {
			return err
		}
	}
	return nil
}

// Who may only read gives nothing, and what no name has is not told.
func TestSignaturesAreGivenByWhoMayPush(t *testing.T) {
	v := newTravel(t)
	v.sign(memRoot, 1, "main")
	ctx := sync.WithCaller(context.Background(), sync.Caller{Name: "eve"})
	l := &link{Peer: sync.Local(ctx, v.server, func() error { return nil }), shown: "there"}
	defer l.Close()
	if _, err := l.giveSome(ctx, []sync.Signed{{Change: change.ID{1}, Entry: sign.Entry{Kind: 9, Bytes: []byte{1}}}}); err == nil || !strings.Contains(err.Error(), "may not push") {
		t.Errorf("%v", err)
	}
	if n := v.signatures(servedRoot); n != 0 {
		t.Errorf("%d were taken", n)
	}
	v.sign(servedRoot, 0, "main")
	r, err := Open(servedRoot, v.server.opt.Options)
	check(t, err)
	_, err = r.Unrecord(context.Background(), []string{"main"}, UnrecordOptions{})
	check(t, errors.Join(err, r.Close()))
	if _, n := v.fetch(); n != 0 {
		t.Errorf("%d signatures came of what no name there has", n)
	}
}

// Undo takes back one's own signing, and not what came of others since; undoing what was done before those came leaves them too.
func TestUndoLeavesSignaturesOfOthers(t *testing.T) {
	v := newTravel(t)
	v.sign(servedRoot, 0, "main~1")
	v.sign(memRoot, 1, "main")
	v.fetch()
	count := func(want int) {
		t.Helper()
		if n := v.signatures(memRoot); n != want {
			t.Errorf("%d signatures, %d were to be there", n, want)
		}
	}
	count(2)
	undo := func() { v.with(t, func(r *Repo) error { _, err := r.Undo(context.Background()); return err }) }
	undo()
	count(1)
	v.with(t, func(r *Repo) error { _, err := r.Redo(context.Background()); return err })
	count(2)
	undo()
	put(t, v.mem, "a", "more\n")
	v.commit(t, "more")
	v.sign(servedRoot, 0, "main~2")
	v.fetch()
	count(2)
	undo()
	count(2)
}

// A checkpoint's state may be one that a clone passed through with many others at once.
func TestCheckpointsInTheMiddleOfAStep(t *testing.T) {
	v := newTravel(t)
	check(t, v.mem.RemoveAll(memRoot))
	served, err := Open(servedRoot, v.server.opt.Options)
	check(t, err)
	check(t, checkout("main~1")(context.Background(), served))
	_, _, err = served.SignCheckpoint("/keys/0")
	check(t, err)
	err = checkout("main")(context.Background(), served)
	check(t, errors.Join(err, served.Close()))
	r, err := Init(memRoot, v.server.opt.Options)
	check(t, err)
	r.maxSteps = 1
	l := v.link()
	_, _, err = r.fetch(context.Background(), l, false, nil)
	check(t, errors.Join(err, l.Close()))
	list, err := r.SignedCheckpoints()
	check(t, err)
	if len(list) != 1 || list[0].Changes != 2 {
		t.Fatalf("%v", list)
	}
	s, err := r.openSigner("/keys/0")
	check(t, err)
	allowed, err := sign.ParseAllowed(append([]byte("ada@example.org "), ssh.MarshalAuthorizedKey(s.Key())...), time.UTC)
	check(t, err)
	res, err := r.VerifyCheckpoint(&list[0], &sign.Policy{Allowed: allowed})
	check(t, err)
	if res.Verdict != sign.Good {
		t.Errorf("%v", res)
	}
	found, err := r.Fsck(context.Background(), FsckOptions{})
	check(t, err)
	if len(found.Problems) > 0 {
		t.Errorf("%v", found.Problems[0])
	}
	check(t, r.Close())
}

// takeOthers takes two signatures of others and a checkpoint, as a fetch does.
func takeOthers(_ context.Context, r *Repo) error {
	base, err := r.Base()
	if err != nil {
		return err
	}
	list := []sync.Signed{{Checkpoint: &sign.Checkpoint{State: base.ID, Changes: base.Len, Time: 9}, Entry: sign.Entry{Kind: 9, Bytes: []byte("c")}}}
	for n := range uint32(2) {
		list = append(list, sync.Signed{Change: r.store.ChangeID(n), Entry: sign.Entry{Kind: 9, Bytes: []byte{byte(n)}}})
	}
	took, err := r.keepSigned(list, "fetch")
	if err == nil && took.added == 0 {
		err = errors.New("nothing was taken")
	}
	return err
}
