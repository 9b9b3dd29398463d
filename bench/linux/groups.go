package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

// operation is a row of the table: how many times as fast as Git oxy must be, and how much memory it may take.
type operation struct {
	name   string
	target float64
	memory int64 // bytes; 0: no limit
}

// group is a set of operations that are measured together, since one's end is the next one's beginning.
type group struct {
	name    string
	ops     []operation
	measure func(*bench) error
}

var groups = []group{
	{"first", []operation{{"init and commit the tip", 5, 1_000_000_000}}, (*bench).firstCommit},
	{"clean", []operation{{"status, clean", 3, 0}}, (*bench).cleanStatus},
	{"one", []operation{{"status, one file", 3, 0}, {"diff, one file", 1.4, 0}, {"commit, one file", 1.8, 0}},
		func(b *bench) error { return b.edits(", one file", b.one) }},
	{"thousand", []operation{{"status, 1 000 files", 2.5, 0}, {"diff, 1 000 files", 3, 0}, {"commit, 1 000 files", 2, 0}},
		func(b *bench) error { return b.edits(", 1 000 files", b.thousand) }},
	{"switch", []operation{{"switch to a state one file away", 10, 0}}, (*bench).switches},
	{"log", []operation{{"log -n 100", 1, 0}}, (*bench).logs},
	{"merge", []operation{{opUnite, 3, 0}, {opPick, 0, 0}, {opUnrecord, 0, 0}}, (*bench).merges},
	{"blame", []operation{{"blame " + blamed, 8, 0}}, (*bench).blames},
}

// turns runs what is done on one side for every pair.
func (b *bench) turns(pairs int, do func(s *side, turn int) error) error {
	one := func(s *side) func(int) error { return func(turn int) error { return do(s, turn) } }
	return measure.Alternate(pairs, one(b.sides[0]), one(b.sides[1]))
}

func (b *bench) firstCommit() error {
	return b.turns(b.firstPairs, func(s *side, _ int) error {
		if err := s.reset(); err != nil {
			return err
		}
		measure.Settle()
		sample, err := s.begin()
		if err != nil {
			return err
		}
		s.note("init and commit the tip", sample)
		return nil
	})
}

func (b *bench) cleanStatus() error {
	return b.turns(b.pairs, func(s *side, _ int) error { return s.time("status, clean", s.status) })
}

// edits changes files anew in every turn, and asks for status and diff before it commits.
func (b *bench) edits(suffix string, files []string) error {
	return b.turns(b.pairs, func(s *side, turn int) error {
		if err := s.edit(files, fmt.Sprintf("edit %d%s", turn, suffix)); err != nil {
			return err
		}
		for _, step := range []struct {
			op   string
			args []string
		}{{"status", s.status}, {"diff", s.diff}, {"commit", s.commit}} {
			if err := s.time(step.op+suffix, step.args); err != nil {
				return err
			}
		}
		s.commits++
		return nil
	})
}

// switches goes to a bookmark one file back and returns; both ways count.
func (b *bench) switches() error {
	for _, s := range b.sides {
		if _, err := s.tool.Run(s.root, s.bookmark...); err != nil {
			return err
		}
		if err := s.edit(b.one, "one file away"); err != nil {
			return err
		}
		if err := s.record(); err != nil {
			return err
		}
	}
	return b.turns(b.pairs, func(s *side, _ int) error {
		for _, way := range [][]string{s.before, s.main} {
			if err := s.time("switch to a state one file away", way); err != nil {
				return err
			}
		}
		return nil
	})
}

// logged is how many changes "log -n 100" prints.
const logged = 100

func (b *bench) logs() error {
	for _, s := range b.sides {
		for s.commits < logged {
			if err := s.edit(b.one, fmt.Sprintf("change %d", s.commits)); err != nil {
				return err
			}
			if err := s.record(); err != nil {
				return err
			}
		}
	}
	// It takes milliseconds: more runs cost nothing, and few of them would measure the scheduler.
	return b.turns(b.pairs*4, func(s *side, _ int) error { return s.time("log -n 100", s.log) })
}

func (b *bench) blames() error {
	return b.turns(b.pairs, func(s *side, _ int) error { return s.time("blame "+blamed, s.blame) })
}

// One in so many files is edited, until there are a thousand.
const (
	editEvery = 78
	editMany  = 1_000
)

// choose picks the files to edit, of those that Git holds: regular ones, spread over the tree.
func (b *bench) choose() error {
	git := b.sides[0]
	list, err := git.tool.Output(git.root, "ls-files", "-z")
	if err != nil {
		return err
	}
	i := 0
	for path := range strings.SplitSeq(list, "\x00") {
		if info, err := os.Lstat(filepath.Join(git.root, path)); path == "" || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if i%editEvery == editEvery/2 && len(b.thousand) < editMany {
			b.thousand = append(b.thousand, strings.Clone(path))
		}
		i++
	}
	b.one = []string{"kernel/sched/core.c"}
	b.files = i
	return nil
}
