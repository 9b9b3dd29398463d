package bridge

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

type counter struct {
	t    *testing.T
	n    int64
	last time.Time
}

func (c *counter) Begin(what string, total int64, _ bool) {
	c.t.Log(what, total)
	c.n, c.last = 0, time.Now()
}

func (c *counter) Add(n int64) {
	if c.n += n; c.n%2048 == 0 {
		c.t.Logf("%d: %.0f a second", c.n, 2048/time.Since(c.last).Seconds())
		c.last = time.Now()
		if p := os.Getenv("OXY_GIT_HEAP"); p != "" && c.n%16384 == 0 {
			f, err := os.Create(fmt.Sprintf("%s.%d", p, c.n))
			if err == nil {
				err = pprof.WriteHeapProfile(f)
				f.Close()
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			c.t.Log(err, m.HeapInuse>>20, m.HeapAlloc>>20, m.Sys>>20)
		}
	}
}
func (c *counter) End() {}

// TestRealHistory imports and proves the repository that OXY_GIT_HISTORY names, for profiles: go test -v -cpuprofile.
func TestRealHistory(t *testing.T) {
	at := os.Getenv("OXY_GIT_HISTORY")
	if at == "" {
		t.Skip("OXY_GIT_HISTORY names none")
	}
	ctx := context.Background()
	if limit, err := time.ParseDuration(os.Getenv("OXY_GIT_LIMIT")); err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	r, err := repo.Init(t.TempDir(), repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var globs []string
	if g := os.Getenv("OXY_GIT_REFS"); g != "" {
		globs = []string{g}
	}
	rep, err := Import(ctx, r, at, Options{FS: vfs.OS(), SkipBad: true, Progress: &counter{t: t}, Refs: globs})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", rep)
	t.Log("ids", idsOf(t, r))
	v, err := Verify(ctx, r, nil, &counter{t: t})
	if err != nil || len(v.Faults) > 0 {
		t.Fatal(v, err)
	}
	t.Logf("%+v", v)
}

// TestRealProof proves the repository of oxy's that OXY_GIT_PROVE names, for profiles.
func TestRealProof(t *testing.T) {
	at := os.Getenv("OXY_GIT_PROVE")
	if at == "" {
		t.Skip("OXY_GIT_PROVE names none")
	}
	r, err := repo.Open(at, repo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := Verify(context.Background(), r, nil, &counter{t: t})
	if err != nil || len(v.Faults) > 0 {
		t.Fatal(v, err)
	}
	t.Logf("%+v", v)
}
