// Command hg measures how fast a Mercurial repository comes in and is proved, beside Mercurial's own check of itself. It makes
// one of the given size first, by package revlog, which "hg verify" must accept; or takes one that is there:
//
//	go run ./bench/hg                        12 000 changesets, about 36 000 file revisions
//	go run ./bench/hg -repository PATH
//
// What is told is the clock and processor time, the system's included: on a machine with others at work the second says more.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

var (
	repository = flag.String("repository", "", "a Mercurial repository to take in place of one that is made")
	dir        = flag.String("dir", filepath.Join(os.TempDir(), "oxy-bench-hg"), "where to work; what was made there is taken again")
	changesets = flag.Int("changesets", 12_000, "how many to make")
	files      = flag.Int("files", 2_000, "how many files, about")
	rounds     = flag.Int("rounds", 1, "rounds, of which the least counts")
	oxyPath    = flag.String("oxy", filepath.Join("bin", "oxy"), "the binary to measure")
	hgPath     = flag.String("hg", "hg", "Mercurial")
	only       = flag.String("make", "", "only make a repository, here")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/hg:", err)
		os.Exit(1)
	}
}

func run() error {
	if *only != "" {
		return makeRepository(*only, *changesets, *files)
	}
	home := filepath.Join(*dir, "home")
	if err := os.MkdirAll(home, 0o777); err != nil {
		return err
	}
	binary, err := filepath.Abs(*oxyPath)
	if err != nil {
		return err
	}
	oxy := measure.Tool{Name: "oxy", Path: binary, Env: measure.Environment(home)}
	theirs := *repository
	if theirs == "" {
		theirs = filepath.Join(*dir, fmt.Sprintf("%d-%d", *changesets, *files))
		if _, err := os.Stat(theirs); err != nil {
			fmt.Fprintln(os.Stderr, "making", theirs)
			// In a process of its own: a child's peak of memory is never less than its parent's.
			cmd := exec.Command(os.Args[0], "-make", theirs, "-changesets", fmt.Sprint(*changesets), "-files", fmt.Sprint(*files))
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("make %s: %w", theirs, err)
			}
		}
	}
	if theirs, err = filepath.Abs(theirs); err != nil {
		return err
	}
	hg := measure.Tool{Name: "hg", Env: append(measure.Environment(home), "HGRCPATH=", "HGPLAIN=1")}
	hg.Path, err = exec.LookPath(*hgPath)
	with := err == nil
	if !with {
		fmt.Println("without Mercurial:", err)
	}
	best := map[string]measure.Sample{}
	said := map[string]string{}
	keep := func(name string, s measure.Sample) {
		if b, ok := best[name]; !ok || s.CPU < b.CPU {
			best[name] = s
		}
	}
	ours := filepath.Join(*dir, "ours")
	for range *rounds {
		if err := os.RemoveAll(ours); err != nil {
			return err
		}
		if err := os.Mkdir(ours, 0o777); err != nil {
			return err
		}
		if _, err := oxy.Run(ours, "init"); err != nil {
			return err
		}
		for _, args := range [][]string{{"hg", "import", theirs}, {"hg", "verify"}} {
			out, s, err := oxy.Say(ours, args...)
			if err != nil {
				return err
			}
			name := "oxy " + strings.Join(args[:2], " ")
			said[name], _, _ = strings.Cut(out, "\n")
			keep(name, s)
		}
		if with {
			s, err := hg.Run(theirs, "verify")
			if err != nil {
				return err
			}
			keep("hg verify", s)
		}
	}
	table := measure.NewTable("Command", "Clock", "Processor", "Peak memory")
	for _, name := range []string{"oxy hg import", "oxy hg verify", "hg verify"} {
		if s, ok := best[name]; ok {
			table.Row(name, measure.Time(s.Wall), measure.Time(s.CPU), measure.Memory(s.Peak))
		}
	}
	fmt.Printf("\n%s\n%s\n\n", said["oxy hg import"], said["oxy hg verify"])
	table.Print(os.Stdout)
	if s := best["oxy hg import"]; *repository == "" {
		fmt.Printf("Import: %.0f changesets a second of the clock, %.0f of processor time.\n", rate(*changesets, s.Wall), rate(*changesets, s.CPU))
	}
	if with {
		fmt.Printf("Verify: %.2f times as fast as Mercurial by the clock, %.2f by processor time.\n",
			float64(best["hg verify"].Wall)/float64(best["oxy hg verify"].Wall), float64(best["hg verify"].CPU)/float64(best["oxy hg verify"].CPU))
	}
	return nil
}

func rate(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }
