// Linux measures the everyday commands on the Linux tree of Debian's linux-source-6.1, each run in turns with Git, and
// prints Markdown for docs/benchmarks.md.
//
//	OXY_BENCH_DIR  where to work; 4 GB, kept for the next run (default: oxy-bench in the user's cache)
//	OXY_BENCH_OXY  the binary to measure (bin/oxy)
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

// bench is one run.
type bench struct {
	dir        string
	source     string   // the tree as unpacked
	sides      [2]*side // git, oxy
	pairs      int
	firstPairs int      // of the first commit, which takes longest
	one        []string // the file of one-file edits
	thousand   []string // the files of large edits
	files      int
}

func main() {
	quick := flag.Bool("quick", false, "fewer pairs: under three minutes once the tree is unpacked")
	ops := flag.String("ops", "", "only these groups of operations, by comma: "+strings.Join(groupNames(), ","))
	roundtrip := flag.Bool("roundtrip", false, "instead: commit the tree, wipe it, check it out and compare every byte")
	flag.Parse()
	if err := run(*quick, *ops, *roundtrip); err != nil {
		fmt.Fprintln(os.Stderr, "bench/linux:", err)
		os.Exit(1)
	}
}

func run(quick bool, ops string, roundtrip bool) error {
	chosen, err := chooseGroups(ops)
	if err != nil {
		return err
	}
	b, err := newBench(quick)
	if err != nil {
		return err
	}
	b.say("work in %s", b.dir)
	if b.source, err = source(b.dir, b.say); err != nil {
		return err
	}
	if roundtrip {
		return b.roundtrip()
	}
	measure.Machine(os.Stdout, b.sides[1].tool, b.sides[0].tool, b.dir)
	begun := time.Now()
	if err := b.prepare(); err != nil {
		return err
	}
	for i, g := range chosen {
		b.say("%s", g.name)
		if err := g.measure(b); err != nil {
			return err
		}
		if i == 0 {
			if err := b.choose(); err != nil {
				return err
			}
		}
	}
	b.print(chosen)
	fmt.Printf("%d files; %d pairs, of the first commit %d; the run took %s.\n",
		b.files, b.pairs, b.firstPairs, measure.Time(time.Since(begun)))
	return nil
}

func newBench(quick bool) (*bench, error) {
	b := &bench{pairs: 5, firstPairs: 3}
	if quick {
		b.pairs, b.firstPairs = 3, 1
	}
	oxy := os.Getenv("OXY_BENCH_OXY")
	if oxy == "" {
		oxy = filepath.Join("bin", "oxy")
	}
	oxy, err := filepath.Abs(oxy)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(oxy); err != nil {
		return nil, fmt.Errorf("%w (run make build, or set OXY_BENCH_OXY)", err)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	base := os.Getenv("OXY_BENCH_DIR")
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		base = filepath.Join(cache, "oxy-bench")
	}
	if b.dir, err = filepath.Abs(filepath.Join(base, "linux")); err != nil {
		return nil, err
	}
	home := filepath.Join(b.dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	env := measure.Environment(home)
	b.sides[0] = gitSide(measure.Tool{Name: "git", Path: git, Env: env}, filepath.Join(b.dir, "git"))
	b.sides[1] = oxySide(measure.Tool{Name: "oxy", Path: oxy, Env: env}, filepath.Join(b.dir, "oxy"))
	for _, s := range b.sides {
		s.took = map[string]*measure.Series{}
	}
	return b, nil
}

// chooseGroups picks groups by name. Where the first commit is not among them it is made all the same: nothing can
// be measured without it.
func chooseGroups(list string) ([]group, error) {
	if list == "" {
		return groups, nil
	}
	chosen := []group{{"the first commit, not measured", nil, (*bench).begin}}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no group of operations is called %q: there are %s", name, strings.Join(groupNames(), ", "))
		}
		if name == "first" {
			chosen[0] = groups[i]
			continue
		}
		chosen = append(chosen, groups[i])
	}
	return chosen, nil
}

func groupNames() []string {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.name
	}
	return names
}

// begin gives both sides their first commit, untimed.
func (b *bench) begin() error {
	for _, s := range b.sides {
		if _, err := s.begin(); err != nil {
			return err
		}
	}
	return nil
}

// print prints the table of all operations that were measured.
func (b *bench) print(chosen []group) {
	git, oxy := b.sides[0], b.sides[1]
	t := measure.NewTable("Operation", "Git", "oxy", "Ratio", "Target", "", "Git memory", "oxy memory")
	for _, g := range chosen {
		for _, op := range g.ops {
			x, y := git.series(op.name), oxy.series(op.name)
			if len(x.Walls) == 0 {
				t.Row(op.name, "", measure.Time(y.Median()), "", "", "", "", measure.Memory(y.Peak))
				continue
			}
			ratio := float64(x.Median()) / float64(max(y.Median(), 1))
			t.Row(op.name, measure.Time(x.Median()), measure.Time(y.Median()), fmt.Sprintf("%.2f", ratio),
				fmt.Sprintf("%.1f", op.target), op.verdict(ratio, y.Peak), measure.Memory(x.Peak), measure.Memory(y.Peak))
		}
	}
	t.Print(os.Stdout)
}

// verdict names a miss: too slow, or too much memory.
func (op operation) verdict(ratio float64, peak int64) string {
	switch {
	case ratio < op.target:
		return "**under**"
	case op.memory > 0 && peak > op.memory:
		return "**over 1 GB**"
	}
	return "ok"
}

// say tells the person who waits; standard output is for the tables.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
