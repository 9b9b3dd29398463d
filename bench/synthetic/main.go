// Synthetic repeats the benchmark that the project began from: a tree of small files and a long history of one-file
// commits, made with the real binary, then the everyday operations on it. It prints Markdown for docs/benchmarks.md.
//
//	OXY_BENCH_DIR      where to work; kept afterwards (default: a fresh directory in the user's cache, removed again)
//	OXY_BENCH_FILES    number of files (10 000)
//	OXY_BENCH_CHANGES  number of changes (5 000)
//	OXY_BENCH_OXY      the binary to measure (bin/oxy)
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

// bench is one run.
type bench struct {
	oxy, git measure.Tool
	dir      string // holds everything below
	repo     string // the repository that grows
	early    string // a copy of it from when a tenth of the history was there
	late     string // and one from when all of it was, before anything packed it
	history  History
	begun    time.Time
	whole    time.Duration // from init to the last row of the seed's table, as the seed counts it
	disk     *measure.Disk
	imported measure.Sample
	commits  measure.Series // the one-file commits, in order; the first made change 2
	store    int64          // bytes in .oxy when the history was complete
	peak     int64          // highest of all commands
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/synthetic:", err)
		os.Exit(1)
	}
}

func run() error {
	b, err := newBench()
	if err != nil {
		return err
	}
	defer b.close()
	b.say("work in %s", b.dir)
	measure.Machine(os.Stdout, b.oxy, b.git, b.dir)
	b.begun = time.Now()
	for _, step := range []func() error{b.buildHistory, b.seedTable, b.demands, b.growth} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func newBench() (*bench, error) {
	b := &bench{}
	var err error
	if b.history.Files, err = number("OXY_BENCH_FILES", 10_000); err != nil {
		return nil, err
	}
	if b.history.Changes, err = number("OXY_BENCH_CHANGES", 5_000); err != nil {
		return nil, err
	}
	oxy := os.Getenv("OXY_BENCH_OXY")
	if oxy == "" {
		oxy = filepath.Join("bin", "oxy")
	}
	if oxy, err = filepath.Abs(oxy); err != nil {
		return nil, err
	}
	if _, err := os.Stat(oxy); err != nil {
		return nil, fmt.Errorf("%w (run make build, or set OXY_BENCH_OXY)", err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	if b.dir, err = workDir(); err != nil {
		return nil, err
	}
	b.repo, b.early, b.late = filepath.Join(b.dir, "repo"), filepath.Join(b.dir, "early"), filepath.Join(b.dir, "late")
	home := filepath.Join(b.dir, "home")
	for _, dir := range []string{b.repo, home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
	}
	b.oxy = measure.Tool{Name: "oxy", Path: oxy, Env: measure.Environment(home)}
	b.git = measure.Tool{Name: "git", Path: git, Env: measure.Environment(home)}
	b.disk, err = measure.NewDisk(b.dir)
	return b, err
}

// workDir makes an empty directory: "synthetic" in the one that the caller named, else a new one in the cache. Not
// the temporary directory: it is often in memory, which hides the cost of a sync.
func workDir() (string, error) {
	if dir := os.Getenv("OXY_BENCH_DIR"); dir != "" {
		abs, err := filepath.Abs(filepath.Join(dir, "synthetic"))
		if err != nil {
			return "", err
		}
		if err := os.RemoveAll(abs); err != nil {
			return "", err
		}
		return abs, os.MkdirAll(abs, 0o755)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	base := filepath.Join(cache, "oxy-bench")
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(base, "synthetic-")
}

func (b *bench) close() {
	b.disk.Close()
	if os.Getenv("OXY_BENCH_DIR") == "" {
		os.RemoveAll(b.dir)
	}
}

// buildHistory makes the repository, one process a commit, as a person would.
func (b *bench) buildHistory() error {
	h := b.history
	if _, err := b.run("init"); err != nil {
		return err
	}
	if err := h.Import(b.repo); err != nil {
		return err
	}
	var err error
	if b.imported, err = b.run("commit", "-m", message(1)); err != nil {
		return err
	}
	for change := 2; change <= h.Changes; change++ {
		if err := h.Edit(b.repo, change); err != nil {
			return err
		}
		s, err := b.run("commit", "-m", message(change))
		if err != nil {
			return err
		}
		b.commits.Add(s)
		if change%probeEvery == 0 {
			if err := b.disk.Probe(); err != nil {
				return err
			}
		}
		if change == b.earlyAt() {
			pause := time.Now()
			if err := tree.Mirror(b.repo, b.early); err != nil {
				return err
			}
			b.begun = b.begun.Add(time.Since(pause)) // the copy is no part of the seed's run
		}
		if change%sayEvery == 0 {
			b.say("%d changes, the last in %s", change, measure.Time(s.Wall))
		}
	}
	pause := time.Now()
	if err := tree.Mirror(b.repo, b.late); err != nil {
		return err
	}
	b.begun = b.begun.Add(time.Since(pause))
	b.store, err = storeSize(b.repo)
	return err
}

// storeSize is what a repository keeps of its history, in bytes: all but the manifest of the working copy, as Git's side is
// without an index.
func storeSize(repo string) (int64, error) {
	whole, _, err := tree.Size(filepath.Join(repo, ".oxy"))
	if err != nil {
		return 0, err
	}
	working, _, err := tree.Size(filepath.Join(repo, ".oxy", "wc"))
	return whole - working, err
}

const (
	probeEvery = 25 // commits between two measurements of the disk's sync
	sayEvery   = 500
)

// earlyAt is the change near which growth is measured first: 500 of 5 000.
func (b *bench) earlyAt() int { return max(2, b.history.Changes/10) }

// run runs oxy in the repository and notes the highest memory of all runs.
func (b *bench) run(args ...string) (measure.Sample, error) {
	s, err := b.oxy.Run(b.repo, args...)
	b.peak = max(b.peak, s.Peak)
	return s, err
}

// repeat runs one command n times.
func (b *bench) repeat(n int, args ...string) (measure.Series, error) {
	var series measure.Series
	for range n {
		s, err := b.run(args...)
		if err != nil {
			return series, err
		}
		series.Add(s)
	}
	return series, nil
}

// say tells the person who waits; standard output is for the tables.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}

// number reads a positive count from the environment.
func number(name string, otherwise int) (int, error) {
	text := os.Getenv(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 20 || n > 10_000_000 {
		return 0, fmt.Errorf("%s=%s: want a number from 20 to 10 000 000", name, text)
	}
	return n, nil
}
