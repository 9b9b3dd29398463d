// Command revlog races package revlog against Mercurial's Python API, and against a reader in C, over any revlogs:
// opening and closing, reading the whole index, reading the tip, reading 500 random revisions in forward order (Greg Ward's
// four tasks of 2010), finding a revision by its node, and reading everything in order. All sides read the same revisions of
// the same files in one run, in turns, and check every text against its hash.
//
//	go run ./bench/revlog                  on inputs of its own, made once in -dir
//	go run ./bench/revlog .hg/store/00manifest.i ...
//
// Of reading everything in order the reader in C only inflates the chunks: that is the limit.
//
// What is told is processor time, since the machine may be shared; the least of three rounds, each of up to 50 iterations.
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

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "revlog:", err)
		os.Exit(1)
	}
}

var (
	dir     = flag.String("dir", filepath.Join(os.TempDir(), "oxy-bench-revlog"), "where inputs are made and kept")
	quick   = flag.Bool("quick", false, "small inputs only")
	rounds  = flag.Int("rounds", 3, "rounds, of which the least counts")
	budget  = flag.Duration("budget", 2*time.Second, "a round of one task on one side ends after this long")
	python  = flag.String("python", "", "the interpreter that has mercurial; found through hg")
	policy  = flag.String("policy", "c", "Mercurial's modules: c, or py without its C extensions")
	mapped  = flag.Bool("hgmap", false, "Mercurial maps its index")
	mapOurs = flag.Bool("map", false, "package revlog maps instead of reading")
	only    = flag.String("tasks", "", "only these, with commas between")
	all     = flag.Bool("sequential", true, "read everything in order too")
)

func run() error {
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		var err error
		if files, err = inputs(*dir, *quick); err != nil {
			return err
		}
	}
	mercurial, err := startPeer(*python)
	if err != nil {
		fmt.Println("without Mercurial:", err)
		mercurial = nil
	} else {
		defer mercurial.close()
	}
	reader, err := buildReader(*dir)
	if err != nil {
		fmt.Println("without the reader in C:", err)
	}
	for _, file := range files {
		if err := race(file, mercurial, reader); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// race runs all tasks on one revlog and prints a table.
func race(file string, mercurial *peer, reader string) error {
	s, err := newSubject(file, *mapOurs)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %s\n\n", strings.TrimPrefix(file, *dir+string(filepath.Separator)), s)
	table := measure.NewTable("Task", "Mercurial", "C", "revlog", "× Mercurial", "× C")
	for _, task := range s.tasks() {
		if task.name == "everything" && !*all || *only != "" && !slices.Contains(strings.Split(*only, ","), task.name) {
			continue
		}
		if mercurial != nil {
			if err := mercurial.open(s, *mapped); err != nil {
				return err
			}
		}
		const none = time.Duration(1 << 62)
		ours, theirs, c := none, none, none
		for range *rounds {
			took, err := repeat(task.run, *budget)
			if err != nil {
				return fmt.Errorf("%s: %w", task.name, err)
			}
			ours = min(ours, took/time.Duration(task.each))
			if mercurial != nil {
				took, err := mercurial.run(task.name, *budget)
				if err != nil {
					return fmt.Errorf("%s in Mercurial: %w", task.name, err)
				}
				theirs = min(theirs, took/time.Duration(task.each))
			}
			if reader != "" {
				took, ok, err := inC(reader, task.name, s, *budget)
				if err != nil {
					return fmt.Errorf("%s in C: %w", task.name, err)
				}
				if ok {
					c = min(c, took)
				}
			}
			if task.name == "everything" && ours > *budget {
				break
			}
		}
		row := []string{task.name, "", "", short(ours), "", ""}
		if theirs != none {
			row[1], row[4] = short(theirs), fmt.Sprintf("%.2f", float64(theirs)/float64(ours))
		}
		if c != none {
			row[2], row[5] = short(c), fmt.Sprintf("%.2f", float64(c)/float64(ours))
		}
		table.Row(row...)
	}
	table.Print(os.Stdout)
	return nil
}

// repeat runs a task up to 50 times, as long as the budget lasts, and returns the mean.
func repeat(task func() error, budget time.Duration) (time.Duration, error) {
	start, begin := cpuTime(), time.Now()
	n := 0
	for n < iterations && (n == 0 || time.Since(begin) < budget) {
		if err := task(); err != nil {
			return 0, err
		}
		n++
	}
	return (cpuTime() - start) / time.Duration(n), nil
}

// iterations is the seed's number of repetitions of a task.
const iterations = 50

func short(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.2f µs", float64(d)/1e3)
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/1e6)
	default:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
}

// buildReader compiles the C program; its path is empty where there is no compiler or library.
func buildReader(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	source, program := filepath.Join(dir, "reader.c"), filepath.Join(dir, "reader")
	if err := os.WriteFile(source, readerSource, 0o666); err != nil {
		return "", err
	}
	out, err := exec.Command("cc", "-O2", source, "-o", program, "-lz", "-lzstd", "-lcrypto").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cc: %v (apt-get install gcc zlib1g-dev libzstd-dev libssl-dev) %s", err, strings.SplitN(string(out), "\n", 2)[0])
	}
	return program, nil
}
