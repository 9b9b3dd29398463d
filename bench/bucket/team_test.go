package bucket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/bucket"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// team is everybody who pushes.
type team struct {
	h     *history
	mu    gosync.Mutex
	rnd   *rand.Rand
	mains [][32]byte // what main was, the newest last
	stats map[string]*stat
	seeds uint64
}

// stat is what one kind of act took, each time.
type stat struct {
	requests, roots, down, up, millis []float64
	failed                            map[string]int
}

func newTeam(h *history) *team {
	return &team{h: h, rnd: rand.New(rand.NewPCG(2, 2)), mains: [][32]byte{h.main}, stats: map[string]*stat{}}
}

func (t *team) roll(n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rnd.IntN(n)
}

// way gives a person's way, and chance.
func (t *team) way() *way {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seeds++
	return &way{s: t.h.s, rnd: rand.New(rand.NewPCG(t.seeds, 3))}
}

// nobody is asked nothing: names are told by what the bucket has.
type nobody struct{}

func (nobody) States() ([][32]byte, error)       { return nil, nil }
func (nobody) IDs([32]byte) ([]change.ID, error) { return nil, errors.New("nobody has it") }
func dial(ctx context.Context, w *way) sync.Peer {
	return bucket.New(w, prefix, nobody{}).Dial(ctx, func() error { return nil })
}
func (t *team) note(what string, w *way, took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats[what]
	if s == nil {
		s = &stat{failed: map[string]int{}}
		t.stats[what] = s
	}
	if err != nil {
		s.failed[err.Error()]++
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.requests = append(s.requests, float64(w.requests))
	s.roots = append(s.roots, float64(w.roots))
	s.down = append(s.down, float64(w.down))
	s.up = append(s.up, float64(w.up))
	s.millis = append(s.millis, float64(took.Milliseconds()))
}

func list(ctx context.Context, p sync.Peer) (refs []sync.Ref, err error) {
	err = p.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.List}) }, func(r *sync.Reader) error {
		if err := r.Reply(); err != nil {
			return err
		}
		refs, err = r.Refs()
		return err
	})
	return refs, err
}

// fetch takes names, told of states that the asker has.
func fetch(ctx context.Context, p sync.Peer, wants []sync.Ref, haves ...[32]byte) (changes int, err error) {
	err = p.Do(ctx, func(w *sync.Writer) error {
		return w.Request(&sync.Request{Verb: sync.Fetch, Wants: wants, Haves: haves})
	}, func(r *sync.Reader) error {
		if err := r.Reply(); err != nil {
			return err
		}
		return r.Pass(nil, nil, func(u *sync.Update) error {
			changes += len(u.Added)
			return nil
		})
	})
	return changes, err
}

func find(refs []sync.Ref, name string) sync.Ref {
	i := slices.IndexFunc(refs, func(r sync.Ref) bool { return r.Name == name })
	if i < 0 {
		return sync.Ref{}
	}
	return refs[i]
}

// pull brings main from what it was to what it is.
func (t *team) pull(what string, known [32]byte) error {
	ctx, w, begin := context.Background(), t.way(), time.Now()
	p := dial(ctx, w)
	defer p.Close()
	refs, err := list(ctx, p)
	if err == nil {
		if main := find(refs, "main"); main.State != known {
			_, err = fetch(ctx, p, []sync.Ref{main}, known)
		}
	}
	t.note(what, w, time.Since(begin), err)
	return err
}

// push gives a few changes to a name, told by main. Of main itself it may have to be pulled first, which takes a while to look at.
func (t *team) push(name string) {
	const look = 2 * time.Second
	for try := 1; try <= 50; try++ {
		done, err := t.pushOnce(name)
		if done || err != nil {
			return
		}
		time.Sleep(look)
	}
}

func (t *team) pushOnce(name string) (done bool, err error) {
	ctx, w, begin := context.Background(), t.way(), time.Now()
	p := dial(ctx, w)
	defer p.Close()
	defer func() {
		what := "push to a bookmark of one's own"
		switch {
		case name == "main" && !done:
			what = "push to main, refused"
		case name == "main":
			what = "push to main"
		}
		if w.packs > 1 {
			what += ", and a merge"
		}
		t.note(what, w, time.Since(begin), err)
	}()
	refs, err := list(ctx, p)
	if err != nil {
		return false, err
	}
	main, at := find(refs, "main"), find(refs, name)
	t.mu.Lock()
	u := &sync.Update{Kind: sync.Bookmark, Name: name, Old: at.State, Base: main.State, State: random32(t.rnd)}
	n := 1 + t.rnd.IntN(4)
	rnd := rand.New(rand.NewPCG(t.rnd.Uint64(), 4))
	t.mu.Unlock()
	var answers []sync.Answer
	err = p.Do(ctx, func(w *sync.Writer) error {
		if err := w.Request(&sync.Request{Verb: sync.Push}); err != nil {
			return err
		}
		for range n {
			id, err := t.h.send(w, rnd)
			if err != nil {
				return err
			}
			u.Added = append(u.Added, id)
		}
		return w.Update(u)
	}, func(r *sync.Reader) error {
		if err := r.Reply(); err != nil {
			return err
		}
		answers, err = r.Answers()
		return err
	})
	if err != nil {
		return false, err
	}
	if answers[0].Done && name == "main" {
		t.mu.Lock()
		t.mains = append(t.mains, u.State)
		t.mu.Unlock()
	}
	return answers[0].Done, nil
}

// work has people push for a while, so many a second, a third of them to main, which they pull before and are a while behind with.
func (t *team) work(people int, rate float64, long time.Duration) {
	var wg gosync.WaitGroup
	end := time.Now().Add(long)
	for time.Now().Before(end) {
		t.mu.Lock()
		gap := time.Duration(t.rnd.ExpFloat64() / rate * float64(time.Second))
		t.mu.Unlock()
		time.Sleep(gap)
		who := t.roll(people)
		name := fmt.Sprintf("people/%06d/topic", who)
		if t.roll(3) == 0 {
			name = "main"
		}
		wg.Go(func() {
			if name == "main" {
				t.mu.Lock()
				known := t.mains[max(0, len(t.mains)-1-t.rnd.IntN(200))]
				t.mu.Unlock()
				_ = t.pull("pull of main, up to 200 pushes behind", known)
			}
			t.push(name)
		})
	}
	wg.Wait()
}

// report prints what everything took, and forgets it. It gives how many pushes went through, and how often one of them wrote the root.
func (t *team) report(tt *testing.T, title string) (done int, swaps float64) {
	root, err := bucket.DecodeRoot(t.h.s.objects[prefix+"/root"].data)
	check(tt, err)
	tt.Logf("%s: %d objects, root of %d bytes with %d packs and %d names", title, len(t.h.s.objects), len(t.h.s.objects[prefix+"/root"].data), len(root.Packs), len(root.Names))
	var names []string
	for name := range t.stats {
		names = append(names, name)
	}
	slices.Sort(names)
	tt.Logf("| %-55s | times | requests | p99 | swaps | p99 | KB down | KB up | seconds | p99 | worst |", "act")
	for _, name := range names {
		s := t.stats[name]
		tt.Logf("| %-55s | %d | %.1f | %.0f | %.1f | %.0f | %.0f | %.0f | %.2f | %.2f | %.1f |", name, len(s.requests), mean(s.requests), quantile(s.requests, 0.99), mean(s.roots), quantile(s.roots, 0.99), mean(s.down)/1e3, mean(s.up)/1e3,
			mean(s.millis)/1e3, quantile(s.millis, 0.99)/1e3, quantile(s.millis, 1)/1e3)
		if strings.HasPrefix(name, "push") && !strings.Contains(name, "refused") {
			done += len(s.roots)
			swaps += mean(s.roots) * float64(len(s.roots))
		}
		for why, n := range s.failed {
			done -= n
			tt.Logf("  failed %d times: %s", n, strings.TrimSpace(why))
		}
	}
	t.stats = map[string]*stat{}
	return done, swaps / float64(max(done, 1))
}

func mean(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

func quantile(v []float64, q float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(int(q*float64(len(s))), len(s)-1)]
}
