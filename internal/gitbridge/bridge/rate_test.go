//go:build unix

package bridge

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

var rate = flag.Bool("rate", false, "measure imports of commits of one size in small and large trees: a minute")

// What a commit costs depends on what it changes and not on how large the tree is. This is a measurement, for docs/benchmarks.md:
// go test ./internal/gitbridge/bridge -run TestRate -rate -v
func TestRate(t *testing.T) {
	if !*rate {
		t.Skip("-rate measures it")
	}
	const commits = 4000
	for range 3 { // in turns: others may use the machine
		for _, files := range []int{500, 10_000} {
			git := gittest.New(t)
			steadyHistory(git, files, commits)
			r, err := repo.Init(t.TempDir(), repo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			whole := Options{FS: vfs.OS(), Progress: silent{}, Refs: []string{"refs/heads/begin"}}
			if _, err := Import(context.Background(), r, git.Dir, whole); err != nil {
				t.Fatal(err)
			}
			before, began := cpuTime(t), time.Now()
			whole.Refs = []string{"refs/heads/main"}
			rep, err := Import(context.Background(), r, git.Dir, whole)
			if err != nil {
				t.Fatal(err)
			}
			cpu, wall := cpuTime(t)-before, time.Since(began)
			t.Logf("%5d files: %d commits, %d merges: %.0f a second of CPU time, %.0f a second on the clock", files, rep.Commits, rep.Merges,
				float64(rep.Commits)/cpu.Seconds(), float64(rep.Commits)/wall.Seconds())
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// steadyHistory makes a tree of so many files of 100 lines, the branch begin, and upon it commits of which each edits three of 500 of them,
// spread over the tree, the branch main. Every tenth is on a topic beside, which the next one merges.
func steadyHistory(git *gittest.Repo, files, commits int) {
	rng := rand.New(rand.NewPCG(uint64(files), 1))
	texts := make([][]string, files)
	path := func(i int) string { return fmt.Sprintf("d%d/e%d/f%d", i/400, i/20%20, i) }
	var out strings.Builder
	mark := 0
	begin := func(branch string, parents ...int) {
		mark++
		fmt.Fprintf(&out, "commit refs/heads/%s\nmark :%d\ncommitter Bob <bob@example.com> %d +0000\ndata 2\nm\n", branch, mark, 1_000_000_000+mark)
		for i, p := range parents {
			fmt.Fprintf(&out, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p)
		}
	}
	put := func(i int) {
		text := strings.Join(texts[i], "")
		fmt.Fprintf(&out, "M 100644 inline %s\ndata %d\n%s\n", path(i), len(text), text)
	}
	edit := func() (edited []int) {
		for range 3 {
			i := rng.IntN(500) * (files / 500)
			f := slices.Clone(texts[i])
			f[rng.IntN(len(f))] = fmt.Sprintf("again %d\n", rng.IntN(1000))
			texts[i] = f
			edited = append(edited, i)
			put(i)
		}
		return edited
	}
	begin("begin")
	for i := range texts {
		for l := range 100 {
			texts[i] = append(texts[i], fmt.Sprintf("line %d of %d\n", l, i))
		}
		put(i)
	}
	tip := mark
	for n := 0; n < commits; n++ {
		if n%10 != 9 || n+2 >= commits {
			begin("main", tip)
			edit()
			tip = mark
			continue
		}
		begin("topic", tip)
		edited := edit()
		side := mark
		begin("main", tip)
		edited = append(edited, edit()...)
		own := mark
		begin("main", own, side)
		for _, i := range edited {
			put(i)
		}
		tip = mark
		n += 2
	}
	git.In(out.String(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
}
