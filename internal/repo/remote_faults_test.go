package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/sync"
)

// spoiled spoils one byte of what passes, or cuts the way there.
type spoiled struct {
	r    io.Reader
	at   int64 // the byte; -1: none
	cut  bool
	seen int64
}

func (f *spoiled) Read(p []byte) (int, error) {
	if f.cut && f.at >= 0 && f.seen >= f.at {
		return 0, io.EOF
	}
	n, err := f.r.Read(p)
	for i := range n {
		if f.seen+int64(i) == f.at {
			if f.cut {
				n = i
				break
			}
			p[i] ^= 0x20
		}
	}
	f.seen += int64(n)
	return n, err
}

// between is a peer with a fault on the way to it and one on the way back.
func between(s *Server, to, back *spoiled, codec sync.Codec) sync.Peer {
	toIn, toOut := io.Pipe()
	fromIn, fromOut := io.Pipe()
	to.r, back.r = toIn, fromIn
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := sync.ServePipe(context.Background(), to, fromOut, s, codec, 1<<30)
		_ = toIn.CloseWithError(cause(err, io.ErrClosedPipe))
		_ = fromOut.CloseWithError(err)
	}()
	return sync.NewPipe(back, toOut, codec, func() error {
		_ = toOut.Close()
		_ = fromIn.Close()
		<-done
		return nil
	})
}

func copyRepo(t *testing.T, from string, opt Options) *site {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(to, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return &site{t, r}
}

func (s *site) mainID() [32]byte {
	s.t.Helper()
	if err := s.store.Refresh(); err != nil {
		s.t.Fatal(err)
	}
	ref, err := s.ResolveState("main")
	if err != nil {
		s.t.Fatal(err)
	}
	return ref.ID
}

func (s *site) sound() {
	s.t.Helper()
	res, err := s.Fsck(context.Background(), FsckOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range res.Problems {
		s.t.Errorf("fsck: %s", p.Text)
	}
}

// TestFaultsOnTheWay cuts what passes, or spoils a byte of it, at many places of a pull and of a push: each side is as it was, or
// done, and sound, and trying again does it.
func TestFaultsOnTheWay(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.put("code", "1\n2\n3\n4\n5\n")
	a.put("large", string(make([]byte, 20_000)))
	a.record("Begin")
	b := a.clone(opt)
	a.put("code", "1\n2\n3\n4\nfive\n")
	a.put("large", string(make([]byte, 30_000)))
	a.record("Five")
	b.put("code", "one\n2\n3\n4\n5\n")
	b.record("One")

	pull := func(c *site, l *link) error {
		_, _, err := c.fetch(context.Background(), l, false, nil)
		if err != nil {
			return err
		}
		return c.pullInto(context.Background(), &PullResult{Bookmark: "main"}, Origin)
	}
	push := func(c *site, l *link) error {
		refs, err := l.list(context.Background())
		if err != nil {
			return err
		}
		p := &pushing{ctx: context.Background(), r: c.Repo, l: l, opt: SyncOptions{Bookmark: "side"}, refs: refs, res: &PushResult{}}
		if err := p.plan(); err != nil {
			return err
		}
		if err := p.send(); err != nil {
			return err
		}
		return p.settle()
	}
	if err := b.SetBookmark("side", must(b.ResolveState("main"))(t), false); err != nil {
		t.Fatal(err)
	}
	for _, act := range []struct {
		name string
		do   func(*site, *link) error
	}{{"pull", pull}, {"push", push}} {
		for _, codec := range []sync.Codec{sync.Raw, sync.Zstd} {
			to, back := &spoiled{at: -1}, &spoiled{at: -1}
			run := func(server, client *site) error {
				s, err := NewServer(server.root, ServeOptions{Options: opt, Gather: true})
				if err != nil {
					t.Fatal(err)
				}
				l := &link{Peer: between(s, to, back, codec), name: Origin, shown: "there"}
				err = act.do(client, l)
				return errors.Join(err, l.Close())
			}
			server, client := copyRepo(t, a.root, opt), copyRepo(t, b.root, opt)
			clientWas := client.mainID()
			if err := run(server, client); err != nil {
				t.Fatal(err)
			}
			clientIs := client.mainID()
			sizes := [2]int64{to.seen, back.seen}
			const places = 7
			for way, size := range sizes {
				for i := range int64(2 * places) {
					name := fmt.Sprintf("%s/%d/way%d/%d", act.name, codec, way, i)
					to, back = &spoiled{at: -1}, &spoiled{at: -1}
					f := [2]*spoiled{to, back}[way]
					f.at, f.cut = size*(i/2)/places, i%2 == 0
					server, client := copyRepo(t, a.root, opt), copyRepo(t, b.root, opt)
					if err := run(server, client); err == nil && i%2 == 0 {
						t.Errorf("%s: a cut was not noticed", name)
					}
					if id := client.mainID(); id != clientWas && id != clientIs {
						t.Errorf("%s: the client is something else", name)
					}
					if i%8 == 0 {
						client.sound()
						server.sound()
					}
					to, back = &spoiled{at: -1}, &spoiled{at: -1}
					if err := run(server, client); err != nil && act.name == "pull" {
						t.Errorf("%s: again: %v", name, err)
					}
					if id := client.mainID(); id != clientIs {
						t.Errorf("%s: again: the client is something else", name)
					}
				}
			}
		}
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestCloneLeavesNothing: a clone that fails, wherever, leaves the place as it was.
func TestCloneLeavesNothing(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.put("code", "1\n2\n3\n")
	a.record("Begin")
	place := t.TempDir()
	there := filepath.Join(place, "there")
	if err := os.Mkdir(there, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(place, "x"), there} {
		if _, _, err := Clone(context.Background(), a.root, dir, opt, SyncOptions{Bookmark: "nowhere"}); err == nil {
			t.Fatal("there is no such bookmark")
		}
	}
	if err := os.RemoveAll(filepath.Join(a.root, DirName, "index")); err != nil {
		t.Fatal(err)
	}
	names, err := os.ReadDir(place)
	if err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	if names, err := os.ReadDir(there); err != nil || len(names) != 0 {
		t.Errorf("%v, %v", names, err)
	}
	// One that is cancelled in the middle.
	ctx, cancel := context.WithCancel(context.Background())
	opt.Progress = canceller(cancel)
	if _, _, err := Clone(ctx, a.root, filepath.Join(place, "x"), opt, SyncOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(place, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// canceller ends the work as soon as something came.
type canceller context.CancelFunc

func (c canceller) Begin(string, int64, bool) {}
func (c canceller) Add(int64)                 { c() }
func (c canceller) End()                      {}
