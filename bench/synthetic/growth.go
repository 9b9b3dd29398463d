package main

import (
	"fmt"
	"os"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

// growthLimit is how much slower an operation may get from a tenth of the history to the whole of it.
const growthLimit = 1.10

// growthRuns gives medians that repeat within a few hundredths on a machine that others use too.
const growthRuns = 41

// side is one of the two repositories that growth compares, and its times by operation.
type side struct {
	root  string
	times map[string]*measure.Series
}

// growth compares operations on a short and on a long history. The two are copies made alike, and run in turns, so
// that whatever the machine does meanwhile strikes both; the real commits near both points are shown beside that.
func (b *bench) growth() error {
	b.say("growth")
	sides := []*side{{root: b.early}, {root: b.late}}
	// Copied files have new inodes: the first commands put the manifest right.
	for _, s := range sides {
		s.times = map[string]*measure.Series{}
		for turn := range 3 {
			if err := b.growthTurn(s, -1-turn); err != nil {
				return err
			}
		}
		s.times = map[string]*measure.Series{}
	}
	turn := func(s *side) func(int) error { return func(i int) error { return b.growthTurn(s, i) } }
	if err := measure.Alternate(growthRuns, turn(sides[0]), turn(sides[1])); err != nil {
		return err
	}

	early, last := b.earlyAt(), b.history.Changes
	t := measure.NewTable(fmt.Sprintf("Growth (medians of %d, in turns)", growthRuns),
		fmt.Sprintf("At change %d", early), fmt.Sprintf("At change %d", last), "Ratio", "", "Ratio of first quartiles")
	compare := func(name string, short, long []time.Duration, judge bool) {
		ratio := float64(measure.Median(long)) / float64(max(measure.Median(short), 1))
		word := ""
		if judge {
			word = verdict(ratio <= growthLimit)
		}
		t.Row(name, measure.Time(measure.Median(short)), measure.Time(measure.Median(long)), fmt.Sprintf("%.2f", ratio), word,
			fmt.Sprintf("%.2f", float64(measure.Quartile(long))/float64(max(measure.Quartile(short), 1))))
	}
	for _, name := range growthOps {
		compare(name, sides[0].times[name].Walls, sides[1].times[name].Walls, true)
	}
	window, all := max(1, early/5), b.commits.Walls
	compare(fmt.Sprintf("the run's own commits, %d around and before", window),
		all[early-2-window/2:][:window], all[len(all)-window:], false)
	t.Print(os.Stdout)
	return nil
}

// growthOps are the operations in the table's order.
var growthOps = []string{
	"status, clean", "diff, one file", "commit, one file", "log -n 10", "blame, ordinary file",
	"checkout, one change back", "checkout, forth",
}

// growthTurn does one of everything on one side, and leaves it clean. Files are taken as they come: some with edits
// behind them, some without, as the history has it.
func (b *bench) growthTurn(s *side, turn int) error {
	timed := func(name string, args ...string) error {
		sample, err := b.oxy.Run(s.root, args...)
		if err != nil {
			return err
		}
		if s.times[name] == nil {
			s.times[name] = &measure.Series{}
		}
		s.times[name].Add(sample)
		return nil
	}
	file := (100 + turn) * 7_919 % b.history.Files
	if err := timed("status, clean", "status"); err != nil {
		return err
	}
	if err := b.history.Rewrite(s.root, file, b.history.Changes*2+turn); err != nil {
		return err
	}
	steps := [][]string{
		{"diff, one file", "diff"},
		{"commit, one file", "commit", "-m", "Growth"},
		{"log -n 10", "log", "-n", "10"},
		{"blame, ordinary file", "blame", b.history.Path(file)},
		{"checkout, one change back", "checkout", "@~1"},
		{"checkout, forth", "checkout", "main"},
	}
	for _, step := range steps {
		if err := timed(step[0], step[1:]...); err != nil {
			return err
		}
	}
	return nil
}
