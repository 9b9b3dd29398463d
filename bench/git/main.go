// Command git measures how a Git repository comes in, is proved and read, beside Git itself on the same history:
//
//	go run ./bench/git -repository PATH [-path FILE]...
//
// Import runs beside "git fast-export | git fast-import" of the same branches and tags, in turns; the store after "oxy gc" stands beside a pack of
// just these; of each -path, blame and log run beside Git's. What is told is the clock and processor time, the system's included: on a machine
// with others at work the second says more. Of a repository that lacks blobs a copy is
// made in which a few bytes stand in their place, by other commits then.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

var (
	repository = flag.String("repository", "", "the Git repository")
	dir        = flag.String("dir", filepath.Join(os.TempDir(), "oxy-bench-git"), "where to work; emptied before")
	rounds     = flag.Int("rounds", 1, "rounds of importing, of which the median counts")
	oxyPath    = flag.String("oxy", filepath.Join("bin", "oxy"), "the binary to measure")
	peer       = flag.Bool("peer", true, "run Git's own pipe too")
	at         = flag.String("at", "HEAD", "the revision whose files are blamed and logged")
	paths      []string
)

func main() {
	flag.Func("path", "a file to blame and to list the changes of; can be given again", func(s string) error {
		paths = append(paths, s)
		return nil
	})
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/git:", err)
		os.Exit(1)
	}
}

// bench is a comparison under way.
type bench struct {
	oxy, git   measure.Tool
	home       string
	from       string // the Git repository, or a copy of it that lacks nothing
	ours, pipe string
	series     map[string]*measure.Series
	said       map[string]string
}

func run() error {
	if *repository == "" {
		return fmt.Errorf("say which: -repository PATH")
	}
	if err := os.RemoveAll(*dir); err != nil {
		return err
	}
	b := &bench{home: filepath.Join(*dir, "home"), ours: filepath.Join(*dir, "ours"), pipe: filepath.Join(*dir, "pipe.git"),
		series: map[string]*measure.Series{}, said: map[string]string{}}
	if err := os.MkdirAll(b.home, 0o777); err != nil {
		return err
	}
	binary, err := filepath.Abs(*oxyPath)
	if err != nil {
		return err
	}
	b.oxy = measure.Tool{Name: "oxy", Path: binary, Env: measure.Environment(b.home)}
	b.git = measure.Tool{Name: "git", Env: measure.Environment(b.home)}
	if b.git.Path, err = exec.LookPath("git"); err != nil {
		return err
	}
	if b.from, err = filepath.Abs(*repository); err != nil {
		return err
	}
	if err := b.complete(); err != nil {
		return err
	}
	measure.Machine(os.Stdout, b.oxy, b.git, *dir)
	commits, err := b.git.Output(b.from, "rev-list", "--count", "--branches", "--tags")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(commits))
	if err != nil {
		return err
	}
	sides := []func(int) error{func(int) error { return b.imported() }}
	if *peer {
		sides = append(sides, func(int) error { return b.piped() })
	}
	if err := measure.Alternate(*rounds, sides...); err != nil {
		return err
	}
	if err := b.more(); err != nil {
		return err
	}
	b.print(n)
	if err := b.sizes(); err != nil {
		return err
	}
	return b.reading()
}

func (b *bench) add(name string, s measure.Sample) {
	if b.series[name] == nil {
		b.series[name] = &measure.Series{}
	}
	b.series[name].Add(s)
}

// imported takes the history in anew.
func (b *bench) imported() error {
	if err := os.RemoveAll(b.ours); err != nil {
		return err
	}
	if err := os.Mkdir(b.ours, 0o777); err != nil {
		return err
	}
	if _, err := b.oxy.Run(b.ours, "init"); err != nil {
		return err
	}
	measure.Settle()
	out, s, err := b.oxy.Say(b.ours, "git", "import", b.from)
	b.said["import"] = out
	b.add("oxy git import", s)
	return err
}

// piped has Git do it: durable, as it is by itself.
func (b *bench) piped() error {
	if err := os.RemoveAll(b.pipe); err != nil {
		return err
	}
	if _, err := b.git.Run(*dir, "init", "-q", "--bare", b.pipe); err != nil {
		return err
	}
	measure.Settle()
	shell := measure.Tool{Name: "sh", Path: "/bin/sh", Env: b.git.Env}
	// A stream that says it is done when it is: without, the second would take the half of one that failed.
	s, err := shell.Run(*dir, "-ec", `git -C "$0" fast-export --use-done-feature --signed-tags=verbatim --reencode=no --branches --tags |
	git -C "$1" fast-import --quiet`, b.from, b.pipe)
	b.add("git fast-export | git fast-import", s)
	return err
}

// more is what follows an import.
func (b *bench) more() error {
	for _, args := range [][]string{{"git", "import", b.from}, {"git", "verify", "--all"}, {"gc"}} {
		name := "oxy " + strings.Join(args[:min(2, len(args))], " ")
		if args[len(args)-1] == "gc" {
			name = "oxy gc"
		} else if args[1] == "import" {
			name += ", nothing new"
		}
		out, s, err := b.oxy.Say(b.ours, args...)
		if err != nil {
			return err
		}
		b.said[name] = out
		b.add(name, s)
	}
	return nil
}

func (b *bench) print(commits int) {
	fmt.Printf("\n%s\n%s\n", b.said["import"], b.said["oxy git verify"])
	table := measure.NewTable("Command", "Clock", "Processor", "Peak memory")
	var names []string
	for name := range b.series {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(b.series[y].Median(), b.series[x].Median()), cmp.Compare(x, y))
	})
	for _, name := range names {
		s := b.series[name]
		table.Row(name, measure.Time(s.Median()), measure.Time(measure.Median(s.CPUs)), measure.Memory(s.Peak))
	}
	table.Print(os.Stdout)
	took := b.series["oxy git import"].Median()
	fmt.Printf("Import: %.0f commits a second of the clock.\n", float64(commits)/took.Seconds())
	if s := b.series["git fast-export | git fast-import"]; s != nil {
		fmt.Printf("Import: %.2f times as fast as Git's pipe by the clock.\n", float64(s.Median())/float64(took))
	}
}

// sizes compares the store after gc with a pack of the same branches and tags, made of the deltas that Git has.
func (b *bench) sizes() error {
	store, _, err := tree.Size(filepath.Join(b.ours, ".oxy"))
	if err != nil {
		return err
	}
	refs, err := b.git.Output(b.from, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/tags")
	if err != nil {
		return err
	}
	pack := exec.Command(b.git.Path, "pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q")
	pack.Dir, pack.Env, pack.Stdin = b.from, b.git.Env, strings.NewReader(refs)
	var size counter
	pack.Stdout, pack.Stderr = &size, os.Stderr
	if err := pack.Run(); err != nil {
		return err
	}
	fmt.Printf("Store after gc: %s; Git's pack of the same: %s; %.2f.\n", measure.Bytes(store), measure.Bytes(int64(size)), float64(store)/float64(size))
	return nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// readTurns is how often each reading runs; the median counts.
const readTurns = 5

// reading compares blame and log of files.
func (b *bench) reading() error {
	if len(paths) == 0 {
		return nil
	}
	out, err := b.git.Output(b.from, "rev-parse", *at)
	if err != nil {
		return err
	}
	rev, ours := strings.TrimSpace(out), *at
	if ours == "HEAD" { // the name of its branch, which is a bookmark here
		if ours, err = b.git.Output(b.from, "symbolic-ref", "--short", "HEAD"); err != nil {
			return err
		}
		ours = strings.TrimSpace(ours)
	}
	if _, err := b.oxy.Run(b.ours, "checkout", ours); err != nil {
		return err
	}
	table := measure.NewTable("File", "git blame", "oxy blame", "times", "git log", "oxy log", "times")
	for _, path := range paths {
		cells := []string{path}
		for _, pair := range [][2][]string{
			{{"blame", rev, "--", path}, {"blame", path}},
			{{"log", rev, "--", path}, {"log", path}},
		} {
			var theirs, own measure.Series
			err := measure.Alternate(readTurns,
				func(int) error {
					s, err := b.git.Run(b.from, pair[0]...)
					theirs.Add(s)
					return err
				},
				func(int) error {
					s, err := b.oxy.Run(b.ours, pair[1]...)
					own.Add(s)
					return err
				})
			if err != nil {
				return err
			}
			t, o := measure.Median(theirs.CPUs), measure.Median(own.CPUs)
			cells = append(cells, measure.Time(t), measure.Time(o), fmt.Sprintf("%.1f", float64(t)/float64(max(o, time.Microsecond))))
		}
		table.Row(cells...)
	}
	fmt.Println("\nProcessor time:")
	table.Print(os.Stdout)
	return nil
}
