package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

// side is one of the two tools, its working tree and its command lines. Both sides do the same work in the same order.
type side struct {
	tool  measure.Tool
	root  string
	store string // the repository's directory in root

	first    [][]string // make a repository and commit the tree
	status   []string
	diff     []string
	commit   []string // record everything that changed
	log      []string // the last 100 changes
	blame    []string
	bookmark []string // name the current state "before", and stay
	before   []string // switch to it
	main     []string // and back
	to       func(bookmark string) []string
	unite    []string // the current bookmark with "right"
	pick     []string // the last change of "right" alone
	unrecord []string // an earlier change; nil where there is no such thing
	back     []string // take the last of these back

	commits int                        // changes so far
	took    map[string]*measure.Series // times by operation
}

func gitSide(tool measure.Tool, root string) *side {
	return &side{
		tool: tool, root: root, store: ".git",
		first:    [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "Linux"}},
		status:   []string{"status"},
		diff:     []string{"diff"},
		commit:   []string{"commit", "-q", "-a", "-m", "An edit"},
		log:      []string{"log", "-n", "100"},
		blame:    []string{"blame", blamed},
		bookmark: []string{"branch", "before"},
		before:   []string{"checkout", "-q", "before"},
		main:     []string{"checkout", "-q", "main"},
		to:       func(bookmark string) []string { return []string{"checkout", "-q", bookmark} },
		unite:    []string{"merge", "-q", "--no-edit", "right"},
		pick:     []string{"cherry-pick", "right"},
		back:     []string{"reset", "-q", "--hard", "HEAD@{1}"},
	}
}

func oxySide(tool measure.Tool, root string) *side {
	return &side{
		tool: tool, root: root, store: ".oxy",
		first:    [][]string{{"init"}, {"commit", "-m", "Linux"}},
		status:   []string{"status"},
		diff:     []string{"diff"},
		commit:   []string{"commit", "-m", "An edit"},
		log:      []string{"log", "-n", "100"},
		blame:    []string{"blame", blamed},
		bookmark: []string{"bookmark", "before"},
		before:   []string{"checkout", "before"},
		main:     []string{"checkout", "main"},
		to:       func(bookmark string) []string { return []string{"checkout", bookmark} },
		unite:    []string{"merge", "right"},
		pick:     []string{"pick", "right"},
		unrecord: []string{"unrecord", "left~500"},
		back:     []string{"undo"},
	}
}

// blamed is the longest file that people ask about: 22 800 lines.
const blamed = "MAINTAINERS"

// reset takes the repository away.
func (s *side) reset() error {
	s.commits = 0
	return os.RemoveAll(filepath.Join(s.root, s.store))
}

// begin makes the repository and records the tree.
func (s *side) begin() (measure.Sample, error) {
	sample, err := s.tool.Sequence(s.root, s.first...)
	s.commits = 1
	return sample, err
}

// time runs a command line and notes what it took under an operation's name.
func (s *side) time(op string, args []string) error {
	sample, err := s.tool.Run(s.root, args...)
	if err != nil {
		return err
	}
	s.note(op, sample)
	return nil
}

func (s *side) note(op string, sample measure.Sample) {
	if s.took[op] == nil {
		s.took[op] = &measure.Series{}
	}
	s.took[op].Add(sample)
}

// record commits everything, untimed.
func (s *side) record() error {
	_, err := s.tool.Run(s.root, s.commit...)
	s.commits++
	return err
}

// edit appends a line to each of the files. The same edits on both sides give the same text.
func (s *side) edit(files []string, mark string) error {
	for _, file := range files {
		if err := tree.Append(filepath.Join(s.root, file), fmt.Sprintf("/* %s */\n", mark)); err != nil {
			return err
		}
	}
	return nil
}

// series are the times of an operation, empty where this side has no such thing.
func (s *side) series(op string) *measure.Series {
	if t := s.took[op]; t != nil {
		return t
	}
	return &measure.Series{}
}
