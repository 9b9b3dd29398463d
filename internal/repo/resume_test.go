package repo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	gosync "sync"
	"testing"

	"github.com/oxy-vcs/oxy/internal/serve"
)

// long is a repository with so many changes of 4 KB each that hardly compress.
func long(t *testing.T, opt Options, changes int) *site {
	t.Helper()
	a := newSite(t, "a", opt)
	rng := rand.New(rand.NewPCG(7, 7))
	b := make([]byte, 4000)
	for i := range changes {
		for k := range b {
			b[k] = byte('!' + rng.IntN(90))
		}
		a.put(fmt.Sprintf("f%d", i%20), string(b)+"\n")
		a.record(fmt.Sprintf("Change %d", i))
	}
	return a
}

// TestTransfersGoOn cuts a clone, a pull and a push in the middle: the same once more goes on from there, and does not bring again
// what came.
func TestTransfersGoOn(t *testing.T) {
	opt := syncEnv(t)
	const changes = smallLog + 44
	a := long(t, opt, changes)
	ctx := context.Background()
	whole := int64(0) // bytes of the transfer without a cut
	for _, share := range []int64{0, 30, 60, 90} {
		server := copyRepo(t, a.root, opt)
		n := wire(t, served(t, server, opt, serve.Options{}))
		dir := filepath.Join(t.TempDir(), "clone")
		if share > 0 {
			n.begin(wireFault{how: "cut", way: 1, at: whole * share / 100})
			_, _, err := Clone(ctx, n.url, dir, opt, SyncOptions{})
			if err == nil {
				t.Fatal("not noticed")
			}
			said := &Error{}
			if !errors.As(err, &said) || !strings.Contains(said.Next, "run the same command once more") {
				t.Fatalf("%v", err)
			}
			if _, _, err := Clone(ctx, n.url+"/other", dir, opt, SyncOptions{}); err == nil || !strings.Contains(err.Error(), "that is not finished") {
				t.Errorf("another one into it: %v", err)
			}
		}
		first := n.seen[1]
		n.begin(wireFault{})
		r, res, err := Clone(ctx, n.url, dir, opt, SyncOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b := &site{t, r}
		t.Cleanup(func() { r.Close() })
		b.same(server)
		if st := must(b.Status(ctx, StatusOptions{}))(t); len(st.Files)+len(st.Untracked) > 0 || b.read("f3") != server.read("f3") {
			t.Error("the files are others")
		}
		if b.isUnfinished(unfinishedClone) || b.isUnfinished(unfinishedFetch) {
			t.Error("it is not finished")
		}
		if share == 0 {
			whole = n.seen[1]
			continue
		}
		// What came before comes as ids only, 32 bytes each, and a window of what was compressed and under way is lost.
		if more := n.seen[1]; more > whole-first+changes*40+200_000 {
			t.Errorf("cut at %d %%: %d bytes of %d came, and then %d", share, first, whole, more)
		}
		if res.Came >= changes {
			t.Errorf("cut at %d %%: %d changes came again", share, res.Came)
		}
	}
}

// TestPushGoesOn is the same of a push.
func TestPushGoesOn(t *testing.T) {
	opt := syncEnv(t)
	const changes = smallLog + 44
	a := long(t, opt, changes)
	whole := int64(0)
	for _, share := range []int64{0, 50, 90} {
		first := int64(0)
		server := newSite(t, "server", opt)
		client := copyRepo(t, a.root, opt)
		n := wire(t, served(t, server, opt, serve.Options{}))
		if err := client.AddRemote(Origin, n.url, ""); err != nil {
			t.Fatal(err)
		}
		if share > 0 {
			n.begin(wireFault{how: "cut", way: 0, at: whole * share / 100})
			if _, err := client.push(); err == nil {
				t.Fatal("not noticed")
			}
			first = n.seen[0]
			// The server hears of the cut when it hears of it.
			for range 1000 {
				if err := server.store.Refresh(); err != nil {
					t.Fatal(err)
				}
				if server.store.NumChanges() > 0 {
					break
				}
				_, _ = client.Fetch(context.Background(), SyncOptions{})
			}
			if _, err := server.ResolveState("main"); err == nil && server.store.NumStates() > 0 {
				t.Error("half a push is seen")
			}
		}
		n.begin(wireFault{})
		res, err := client.push()
		if err != nil || res.Refs[0].Refused != "" {
			t.Fatalf("%+v, %v", res, err)
		}
		client.same(server)
		if client.isUnfinished(unfinishedPush) {
			t.Error("it is not finished")
		}
		if share == 0 {
			whole = n.seen[0]
			continue
		}
		if more := n.seen[0]; res.Sent >= changes || more > whole-first+changes*40+200_000 {
			t.Errorf("cut at %d %%: %d bytes of %d went, and then %d for %d changes", share, first, whole, more, res.Sent)
		}
	}
}

// atBytes does something once so many bytes came.
type atBytes struct {
	mu   gosync.Mutex
	left int64
	do   func()
}

func (a *atBytes) Begin(string, int64, bool) {}
func (a *atBytes) End()                      {}
func (a *atBytes) Add(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if before := a.left; before > 0 {
		if a.left -= n; a.left <= 0 {
			a.do()
		}
	}
}

// TestKilledCloneGoesOn copies what is on the disk in the middle of a clone, as a kill would leave it: a clone goes on there.
func TestKilledCloneGoesOn(t *testing.T) {
	opt := syncEnv(t)
	const changes = smallLog + 44
	a := long(t, opt, changes)
	url := served(t, a, opt, serve.Options{})
	dir, killed := filepath.Join(t.TempDir(), "clone"), filepath.Join(t.TempDir(), "killed")
	slow := opt
	slow.Batch = 100_000
	slow.Progress = &atBytes{left: 600_000, do: func() {
		if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
			t.Error(err)
		}
	}}
	r, _, err := Clone(context.Background(), url, dir, slow, SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, res, err := Clone(context.Background(), url, killed, opt, SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	(&site{t, k}).same(a)
	if res.Came == 0 || res.Came > changes*3/4 {
		t.Errorf("%d of %d changes came again", res.Came, changes)
	}
}
