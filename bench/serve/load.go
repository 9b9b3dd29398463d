package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// loading is a load test under way.
type loading struct {
	b     *bench
	s     *server
	opt   repo.Options
	until time.Time
	acked atomic.Int64 // changes whose push was acknowledged

	mu    sync.Mutex
	took  map[string][]time.Duration
	ids   map[string]bool // of the changes that were acknowledged
	lost  int             // pushes that were told to pull first
	wrong []string
}

func (b *bench) load(clients int, lasts time.Duration) error {
	root := filepath.Join(b.dir, "server")
	env := map[string]string{"OXY_NAME": "Load", "OXY_EMAIL": "load@example.org", "OXY_CONFIG_DIR": filepath.Join(b.dir, "config")}
	l := &loading{b: b, opt: repo.Options{Env: func(k string) string { return env[k] }}, took: map[string][]time.Duration{}, ids: map[string]bool{}}
	if _, err := b.oxy.Run(b.dir, "init", root); err != nil {
		return err
	}
	var err error
	if l.s, err = b.serve(root); err != nil {
		return err
	}
	first, err := repo.Init(filepath.Join(b.dir, "first"), l.opt)
	if err != nil {
		return err
	}
	if err := errors.Join(first.AddRemote(repo.Origin, l.s.url, ""), l.edit(first, "begin", 0), l.commitAndPush(first)); err != nil {
		return err
	}
	all := []*repo.Repo{first}
	for i := range clients - 1 {
		r, _, err := repo.Clone(b.ctx, l.s.url, filepath.Join(b.dir, fmt.Sprint("c", i)), l.opt, repo.SyncOptions{})
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	l.took = map[string][]time.Duration{}
	began := time.Now()
	l.until = began.Add(lasts)
	stop := make(chan struct{})
	memory := l.watch(stop)
	var wg sync.WaitGroup
	for i, r := range all {
		wg.Go(func() { l.client(i, r) })
	}
	wg.Wait()
	close(stop)
	end := time.Since(began)
	return errors.Join(l.report(clients, end, <-memory, root), l.s.stop())
}

// watch looks at the server's memory each second.
func (l *loading) watch(stop <-chan struct{}) <-chan [4]int64 {
	out := make(chan [4]int64, 1)
	go func() {
		var seen []int64
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				seen = append(seen, resident(l.s.cmd.Process.Pid))
			case <-stop:
				n := len(seen)
				if n == 0 {
					out <- [4]int64{}
					return
				}
				out <- [4]int64{slices.Max(seen), seen[n/4], seen[n/2], seen[n-1]}
				return
			}
		}
	}()
	return out
}

func (l *loading) client(i int, r *repo.Repo) {
	rng := rand.New(rand.NewPCG(uint64(i), 1))
	for n := 0; time.Now().Before(l.until); n++ {
		err := func() error {
			switch k := rng.IntN(10); {
			case k < 6:
				if err := l.edit(r, fmt.Sprint("file", i), n); err != nil {
					return err
				}
				return l.timed("push", func() error { return l.commitAndPush(r) })
			case k < 9:
				return l.timed("pull", func() error { return l.pull(r) })
			}
			return l.timed("clone", func() error { return l.clone(filepath.Join(l.b.dir, fmt.Sprintf("clone%d-%d", i, n))) })
		}()
		if err != nil {
			l.fault("client %d: %v", i, err)
			return
		}
	}
}

func (l *loading) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

func (l *loading) timed(what string, do func() error) error {
	began := time.Now()
	err := do()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[what] = append(l.took[what], time.Since(began))
	return err
}

func (l *loading) edit(r *repo.Repo, name string, n int) error {
	return os.WriteFile(filepath.Join(r.Root(), name), fmt.Appendf(nil, "line\nwork %d\nline\n", n), 0o666)
}

// commitAndPush records and pushes, and pulls as often as it is told to.
func (l *loading) commitAndPush(r *repo.Repo) error {
	res, err := r.Commit(l.b.ctx, repo.CommitOptions{Message: "Work"})
	if err != nil {
		return err
	}
	for {
		pushed, err := r.Push(l.b.ctx, repo.SyncOptions{})
		if err != nil {
			return err
		}
		switch p := &pushed.Refs[0]; {
		case p.Refused == "":
			l.mu.Lock()
			l.ids[res.ID.String()] = true
			l.mu.Unlock()
			l.acked.Add(1)
			return nil
		case !p.Pull:
			return errors.New(p.Refused)
		}
		l.mu.Lock()
		l.lost++
		l.mu.Unlock()
		if err := l.pull(r); err != nil {
			return err
		}
	}
}

// pull takes what there is: all that was acknowledged before it began.
func (l *loading) pull(r *repo.Repo) error {
	before := l.acked.Load()
	if _, err := r.Pull(l.b.ctx, repo.SyncOptions{}); err != nil {
		return err
	}
	return l.hasAll(r, before)
}

func (l *loading) hasAll(r *repo.Repo, before int64) error {
	s, err := r.ResolveState("main")
	if err != nil {
		return err
	}
	if int64(s.Len) < before {
		l.fault("%d changes were acknowledged before, and %d came", before, s.Len)
	}
	return nil
}

func (l *loading) clone(dir string) error {
	defer os.RemoveAll(dir)
	before := l.acked.Load()
	r, _, err := repo.Clone(l.b.ctx, l.s.url, dir, l.opt, repo.SyncOptions{})
	if err != nil {
		return err
	}
	return errors.Join(l.hasAll(r, before), r.Close())
}

// report holds the server's history to what the clients were told, and prints the figures.
func (l *loading) report(clients int, took time.Duration, memory [4]int64, root string) error {
	figures, err := l.s.figures()
	if err != nil {
		return err
	}
	r, err := repo.Open(root, l.opt)
	if err != nil {
		return err
	}
	defer r.Close()
	main, err := r.ResolveState("main")
	if err != nil {
		return err
	}
	seen := map[string]int{}
	if err := r.Log(repo.LogOptions{State: &main}, func(c *repo.ChangeInfo) error { seen[c.ID.String()]++; return nil }); err != nil {
		return err
	}
	missing, twice, extra := 0, 0, 0
	for id := range l.ids {
		if seen[id] == 0 {
			missing++
		}
	}
	for id, n := range seen {
		if n > 1 {
			twice++
		}
		if !l.ids[id] {
			extra++
		}
	}
	fsck, err := r.Fsck(context.Background(), repo.FsckOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("\n%d clients for %s: %d changes pushed, %d pushes told to pull first\n\n", clients, took.Round(time.Second), len(l.ids), l.lost)
	t := measure.NewTable("", "done", "a second", "median", "19 of 20", "longest")
	for _, what := range []string{"push", "pull", "clone"} {
		d := l.took[what]
		if len(d) == 0 {
			continue
		}
		slices.SortFunc(d, cmp.Compare[time.Duration])
		t.Row(what, fmt.Sprint(len(d)), fmt.Sprintf("%.1f", float64(len(d))/took.Seconds()), measure.Time(d[len(d)/2]), measure.Time(d[len(d)*19/20]), measure.Time(d[len(d)-1]))
	}
	t.Print(os.Stdout)
	fmt.Printf("\nchanges lost %d, twice %d, that nobody was told of %d; problems that fsck finds %d\n", missing, twice, extra, len(fsck.Problems))
	fmt.Printf("the server's memory: %s at most; %s after a quarter, %s after half, %s at the end\n", measure.Bytes(memory[0]), measure.Bytes(memory[1]), measure.Bytes(memory[2]), measure.Bytes(memory[3]))
	fmt.Printf("requests told to come again: %.0f; goroutines at the end: %.0f; bytes in and out: %s, %s\n", figures[`oxy_refused_total{why="busy"}`], figures["oxy_goroutines"],
		measure.Bytes(int64(figures[`oxy_bytes_total{way="in"}`])), measure.Bytes(int64(figures[`oxy_bytes_total{way="out"}`])))
	for _, w := range l.wrong[:min(len(l.wrong), 20)] {
		fmt.Println("wrong:", w)
	}
	if missing+twice+extra+len(fsck.Problems)+len(l.wrong) > 0 {
		return errors.New("something was lost, doubled or refused")
	}
	return nil
}
