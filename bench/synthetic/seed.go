package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

// row is one line of the seed's table. Its thresholds and figures are the seed's, at 10 000 files and 5 000 changes:
// of its first run (2026-09-28), and after its item O10a, the last time that it measured at that size.
type row struct {
	name              string
	threshold         time.Duration
	seedFirst, seedIn time.Duration
	verb              string // of a command that need not exist yet
	measure           func() (measure.Series, error)
}

const ms = time.Millisecond

// Times are medians: of everyday commands that change nothing of many runs, of those that do of fewer.
const (
	readRuns  = 15
	writeRuns = 5
)

// rows are in the seed's order, which is also the order of measuring.
func (b *bench) rows() []row {
	last := b.history.Changes
	ordinary := b.history.Path(b.history.Target(last - 1))
	remote, clone := filepath.Join(b.dir, "remote"), filepath.Join(b.dir, "clone")
	reading := func(args ...string) func() (measure.Series, error) {
		return func() (measure.Series, error) { return b.repeat(readRuns, args...) }
	}
	once := func(args ...string) func() (measure.Series, error) {
		return func() (measure.Series, error) { return b.repeat(1, args...) }
	}
	var tenFiles tenFiles
	return []row{
		{fmt.Sprintf("commit: import %d files", b.history.Files+1), 60_000 * ms, 1_031 * ms, 0, "", func() (measure.Series, error) {
			return seriesOf(b.imported), nil
		}},
		{fmt.Sprintf("commit: one file (mean of %d)", last-1), 250 * ms, 3_761 * ms, 861 * ms, "", func() (measure.Series, error) {
			return seriesOf(measure.Sample{Wall: measure.Mean(b.commits.Walls), Peak: b.commits.Peak}), nil
		}},
		{"status: clean working copy", 2_000 * ms, 2_977 * ms, 803 * ms, "", reading("status")},
		{"status: 10 files modified", 2_000 * ms, 3_062 * ms, 864 * ms, "", func() (measure.Series, error) {
			err := b.tenFiles(&tenFiles)
			return tenFiles.status, err
		}},
		{"commit: 10 files", 500 * ms, 9_089 * ms, 861 * ms, "", func() (measure.Series, error) {
			return tenFiles.commit, nil
		}},
		{"log: whole bookmark", 2_000 * ms, 408 * ms, 400 * ms, "", reading("log")},
		{"blame: hot file", 2_000 * ms, 2_920 * ms, 809 * ms, "", reading("blame", hotFile)},
		{"blame: ordinary file", 1_000 * ms, 2_927 * ms, 828 * ms, "", reading("blame", ordinary)},
		{"checkpoint", 10_000 * ms, 596 * ms, 0, "", once("checkpoint")},
		{"status after checkpoint", 2_000 * ms, 2_873 * ms, 770 * ms, "", reading("status")},
		{"push: everything to an empty remote", 60_000 * ms, 782 * ms, 742 * ms, "push", func() (measure.Series, error) {
			if _, err := b.run("init", remote); err != nil {
				return measure.Series{}, err
			}
			return b.repeat(1, "push", remote)
		}},
		{"push: up to date", 1_000 * ms, 4 * ms, 0, "push", reading("push", remote)},
		{"clone: everything, with checkout", 60_000 * ms, 3_378 * ms, 1_664 * ms, "clone", once("clone", b.repo, clone)},
		{"fsck", 60_000 * ms, 7_955 * ms, 6_872 * ms, "fsck", once("fsck")},
		{"gc", 60_000 * ms, 9_489 * ms, 9_526 * ms, "gc", once("gc")},
		{"status after gc", 2_000 * ms, 2_829 * ms, 0, "gc", reading("status")},
	}
}

// seedTable measures and prints the seed's table.
func (b *bench) seedTable() error {
	h := b.history
	t := measure.NewTable(fmt.Sprintf("Operation (%d files, %d changes)", h.Files, h.Changes),
		"Time", "Threshold", "", "Peak memory", "Seed, first run", "Seed, after O10a")
	var failed []string
	for _, r := range b.rows() {
		if r.verb != "" && !b.has(r.verb) {
			continue
		}
		b.say("%s", r.name)
		series, err := r.measure()
		if err != nil {
			// A later row is still worth having.
			failed = append(failed, err.Error())
			t.Row(r.name, "failed", measure.Time(r.threshold), "**over**", "", measure.Time(r.seedFirst), measure.Time(r.seedIn))
			continue
		}
		t.Row(r.name, measure.Time(series.Median()), measure.Time(r.threshold), verdict(series.Median() <= r.threshold),
			measure.Memory(series.Peak), measure.Time(r.seedFirst), measure.Time(r.seedIn))
	}
	b.whole = time.Since(b.begun)
	const seedFirst, seedIn = 5*time.Hour + 14*time.Minute, time.Hour + 12*time.Minute
	t.Row("whole run", measure.Time(b.whole), measure.Time(wholeLimit), verdict(b.whole <= wholeLimit),
		measure.Memory(b.peak), measure.Time(seedFirst), measure.Time(seedIn))
	t.Print(os.Stdout)
	if failed != nil {
		return fmt.Errorf("%s", strings.Join(failed, "\n"))
	}
	return nil
}

// tenFiles is what "10 files" rows share: each turn modifies ten, asks for the status and commits.
type tenFiles struct{ status, commit measure.Series }

func (b *bench) tenFiles(t *tenFiles) error {
	for turn := range writeRuns {
		for i := range 10 {
			if err := b.history.Rewrite(b.repo, (turn*1_000+i*97)%b.history.Files, b.history.Changes+1+turn); err != nil {
				return err
			}
		}
		s, err := b.run("status")
		if err != nil {
			return err
		}
		t.status.Add(s)
		if s, err = b.run("commit", "-m", "Ten files"); err != nil {
			return err
		}
		t.commit.Add(s)
	}
	return nil
}

// has reports whether oxy knows a verb: later ones are measured from the day that they exist.
func (b *bench) has(verb string) bool {
	out, err := b.oxy.Output(b.dir, "help", verb)
	return err == nil && strings.Contains(out, "oxy "+verb)
}

func seriesOf(s measure.Sample) measure.Series {
	var series measure.Series
	series.Add(s)
	return series
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "**over**"
}
