// Deep measures what becomes of commands that concern one change as that change lies deeper: taking it back, undoing it by another,
// rewording it, and the commands after that. With Git beside it where Git has a like.
//
//	OXY_BENCH_OXY  the binary to measure (bin/oxy)
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

const (
	files = 10_000 // in directories of a hundred
	lines = 24     // of each file: six changes in lines that are no neighbours
)

type options struct {
	dir     string
	changes int
	turns   int
	rebase  int
	prepare bool
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "oxy-deep"), "where the repositories are, made if they are not there")
	flag.IntVar(&o.changes, "n", 50_000, "changes, 60 000 at most")
	flag.IntVar(&o.turns, "turns", 7, "turns")
	flag.IntVar(&o.rebase, "rebase", 1000, "how deep Git is asked to take a commit back: it makes all later ones anew")
	flag.BoolVar(&o.prepare, "prepare", false, "make the repositories and be done")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "bench/deep:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	oxyPath := os.Getenv("OXY_BENCH_OXY")
	if oxyPath == "" {
		oxyPath = filepath.Join("bin", "oxy")
	}
	oxyPath, err := filepath.Abs(oxyPath)
	if err != nil {
		return err
	}
	gitPath, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	home := filepath.Join(o.dir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	env := measure.Environment(home)
	b := &bench{options: o, git: measure.Tool{Name: "git", Path: gitPath, Env: env}, oxy: measure.Tool{Name: "oxy", Path: oxyPath, Env: env},
		gitRoot: filepath.Join(o.dir, "git"), oxyRoot: filepath.Join(o.dir, "oxy")}
	if _, err := os.Stat(filepath.Join(b.oxyRoot, ".oxy")); errors.Is(err, fs.ErrNotExist) {
		if err := b.make(); err != nil {
			return err
		}
	}
	if o.prepare {
		return nil
	}
	measure.Machine(os.Stdout, b.oxy, b.git, o.dir)
	return b.measure()
}

type bench struct {
	*options
	git, oxy         measure.Tool
	gitRoot, oxyRoot string
}

// make makes the history in Git, and oxy's from that.
func (b *bench) make() error {
	if err := os.MkdirAll(b.gitRoot, 0o755); err != nil {
		return err
	}
	if _, err := b.git.Run(b.gitRoot, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(b.history(w)) }()
	if _, err := b.git.Feed(b.gitRoot, r, "fast-import", "--quiet"); err != nil {
		return err
	}
	if _, err := b.git.Run(b.gitRoot, "checkout", "-q", "main"); err != nil {
		return err
	}
	_, err := b.oxy.Run(b.dir, "git", "clone", b.gitRoot, b.oxyRoot)
	return err
}

// history tells Git all commits: the first adds all files, each of the others edits a line.
func (b *bench) history(to io.Writer) error {
	w := bufio.NewWriter(to)
	edits := make([]int, files)
	write := func(f int) {
		var text strings.Builder
		for l := range lines {
			if l%4 == 1 && l/4 < edits[f] {
				text.WriteString("edited ")
			}
			fmt.Fprintf(&text, "line %d of file %d\n", l, f)
		}
		fmt.Fprintf(w, "M 644 inline d%d/f%d\ndata %d\n%s\n", f/100, f, text.Len(), text.String())
	}
	for n := range b.changes {
		message := fmt.Sprint("change ", n)
		fmt.Fprintf(w, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata %d\n%s\n", 1_600_000_000+60*n, len(message), message)
		if n == 0 {
			for f := range files {
				write(f)
			}
			continue
		}
		f := n * 7919 % files
		edits[f]++
		write(f)
	}
	return w.Flush()
}

// operation is what is measured; after is done behind it, unmeasured.
type operation struct {
	name     string
	git, oxy []string
	gitAfter []string
	oxyAfter []string
}

func (b *bench) measure() error {
	t := measure.NewTable("How deep", "What", "Git", "oxy", "Git, CPU", "oxy, CPU")
	undo := []string{"undo"}
	reset := []string{"reset", "-q", "--hard", "start"}
	if _, err := b.git.Run(b.gitRoot, "tag", "-f", "start", "main"); err != nil {
		return err
	}
	for _, depth := range []int{1, 50, 1000, 5000, b.changes / 2, b.changes - 2} {
		back := strconv.Itoa(depth)
		ops := []operation{
			{name: "take it back (Git: rebase)", git: []string{"rebase", "-q", "--onto", "main~" + back + "^", "main~" + back}, gitAfter: reset,
				oxy: []string{"unrecord", "@~" + back}},
			{name: "then log -n 20", git: []string{"log", "-n", "20"}, oxy: []string{"log", "-n", "20"}},
			{name: "then status", git: []string{"status"}, oxy: []string{"status"}},
			{name: "then undo", oxy: undo},
			{name: "undo it by another (Git: revert)", git: []string{"revert", "--no-edit", "main~" + back}, gitAfter: reset,
				oxy: []string{"rollback", "@~" + back}, oxyAfter: undo},
			{name: "reword it", oxy: []string{"reword", "@~" + back, "-m", "better words"}, oxyAfter: undo},
		}
		if depth > b.rebase {
			ops[0].git, ops[0].name = nil, "take it back"
		}
		series := make([][2]measure.Series, len(ops))
		err := measure.Alternate(b.turns, func(int) error {
			for i := range ops {
				if err := once(&b.git, b.gitRoot, ops[i].git, ops[i].gitAfter, &series[i][0]); err != nil {
					return err
				}
			}
			return nil
		}, func(int) error {
			for i := range ops {
				if err := once(&b.oxy, b.oxyRoot, ops[i].oxy, ops[i].oxyAfter, &series[i][1]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for i := range ops {
			g, o := &series[i][0], &series[i][1]
			row := []string{back, ops[i].name, "", measure.Time(o.Median()), "", measure.Time(measure.Median(o.CPUs))}
			if len(g.Walls) > 0 {
				row[2], row[4] = measure.Time(g.Median()), measure.Time(measure.Median(g.CPUs))
			}
			t.Row(row...)
		}
	}
	t.Print(os.Stdout)
	return nil
}

func once(t *measure.Tool, root string, args, after []string, s *measure.Series) error {
	if args == nil {
		return nil
	}
	sample, err := t.Run(root, args...)
	if err != nil {
		return err
	}
	s.Add(sample)
	if after != nil {
		_, err = t.Run(root, after...)
	}
	return err
}
