// Rounds measures what a resolution is worth over time: a supplier and we edit the same lines, we take the supplier's work in and
// settle the conflict, again and again. With Git beside it. Each round should cost what the first cost.
//
//	OXY_BENCH_OXY  the binary to measure (bin/oxy)
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

// lines of the file; the one in the middle is edited by both.
const lines = 200

func main() {
	rounds := flag.Int("n", 50, "rounds")
	flag.Parse()
	if err := run(*rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench/rounds:", err)
		os.Exit(1)
	}
}

// side is one of the two tools in a directory of its own.
type side struct {
	tool  measure.Tool
	root  string
	setup [][]string
	to    func(bookmark string) []string
	save  func(message string) []string
	merge []string
	walls []time.Duration // of the merges and the commits of the resolutions
}

func run(rounds int) error {
	dir, err := os.MkdirTemp("", "oxy-rounds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	oxy := os.Getenv("OXY_BENCH_OXY")
	if oxy == "" {
		oxy = filepath.Join("bin", "oxy")
	}
	if oxy, err = filepath.Abs(oxy); err != nil {
		return err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	env := measure.Environment(dir)
	sides := []*side{
		{tool: measure.Tool{Name: "git", Path: git, Env: env}, root: filepath.Join(dir, "git"),
			setup: [][]string{{"init", "-q"}, {"add", "f"}, {"commit", "-q", "-m", "base"}, {"branch", "supplier"}},
			to:    func(b string) []string { return []string{"checkout", "-q", b} },
			save:  func(m string) []string { return []string{"commit", "-q", "-a", "-m", m} },
			merge: []string{"merge", "-q", "--no-edit", "supplier"}},
		{tool: measure.Tool{Name: "oxy", Path: oxy, Env: env}, root: filepath.Join(dir, "oxy"),
			setup: [][]string{{"init"}, {"commit", "-m", "base"}, {"bookmark", "supplier"}},
			to:    func(b string) []string { return []string{"checkout", b} },
			save:  func(m string) []string { return []string{"commit", "-m", m} },
			merge: []string{"merge", "supplier"}},
	}
	measure.Machine(os.Stdout, sides[1].tool, sides[0].tool, dir)
	for _, s := range sides {
		if err := os.MkdirAll(s.root, 0o755); err != nil {
			return err
		}
		if err := s.write("base"); err != nil {
			return err
		}
		for _, args := range s.setup {
			if _, err := s.tool.Run(s.root, args...); err != nil {
				return err
			}
		}
	}
	for i := range rounds {
		for _, s := range sides {
			if err := s.round(i); err != nil {
				return fmt.Errorf("round %d of %s: %w", i+1, s.tool.Name, err)
			}
		}
	}
	t := measure.NewTable("Merge and commit of the resolution, median", "Git", "oxy")
	tenth := max(1, rounds/5)
	for _, span := range [][2]int{{0, tenth}, {rounds/2 - tenth/2, rounds/2 + tenth/2 + 1}, {rounds - tenth, rounds}} {
		t.Row(fmt.Sprintf("rounds %d to %d", span[0]+1, span[1]), measure.Time(measure.Median(sides[0].walls[span[0]:span[1]])),
			measure.Time(measure.Median(sides[1].walls[span[0]:span[1]])))
	}
	t.Print(os.Stdout)
	return nil
}

// write makes the file with a text in the middle.
func (s *side) write(middle string) error {
	all := make([]string, lines)
	for i := range all {
		all[i] = fmt.Sprint("line ", i)
	}
	all[lines/2] = middle
	return os.WriteFile(filepath.Join(s.root, "f"), []byte(strings.Join(all, "\n")+"\n"), 0o644)
}

// round: they edit, we edit, we take theirs in and settle it.
func (s *side) round(n int) error {
	for _, who := range []string{"supplier", "main"} {
		if _, err := s.tool.Run(s.root, s.to(who)...); err != nil {
			return err
		}
		if err := s.write(fmt.Sprint(who, " ", n)); err != nil {
			return err
		}
		if _, err := s.tool.Run(s.root, s.save(fmt.Sprint(who, " ", n))...); err != nil {
			return err
		}
	}
	begun := time.Now()
	_, conflict := s.tool.Run(s.root, s.merge...) // Git tells of the conflict by an error
	took := time.Since(begun)
	text, err := os.ReadFile(filepath.Join(s.root, "f"))
	if err != nil {
		return err
	}
	if !strings.Contains(string(text), "<<<<<<<") {
		return fmt.Errorf("no conflict to settle: %w", conflict)
	}
	if err := s.write(fmt.Sprint("settled ", n)); err != nil {
		return err
	}
	sample, err := s.tool.Run(s.root, s.save(fmt.Sprint("settled ", n))...)
	s.walls = append(s.walls, took+sample.Wall)
	return err
}
