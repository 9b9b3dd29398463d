package main

import (
	"errors"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/revlog"
)

// samples is how many revisions the task readdata reads.
const samples = 500

// subject is a revlog and the revisions of it that all sides read.
type subject struct {
	file  string
	kind  string // changelog, manifest or file
	own   bool   // made by this program, which may add a nodemap
	opts  *revlog.Options
	revs  []revlog.Rev
	nodes []revlog.Node
	n     int
	size  int64
}

func newSubject(file string, maps bool) (*subject, error) {
	s := &subject{file: file, kind: "file", opts: &revlog.Options{Map: maps}, own: strings.HasPrefix(file, *dir)}
	switch base := filepath.Base(file); {
	case strings.Contains(base, "changelog"):
		s.kind = "changelog"
	case strings.Contains(base, "manifest"):
		s.kind = "manifest"
	}
	l, err := revlog.Open(file, s.opts)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	s.n = l.Len()
	if s.n == 0 {
		return nil, fmt.Errorf("it has no revisions")
	}
	r := rand.New(rand.NewSource(42))
	for _, rev := range r.Perm(s.n)[:min(samples, s.n)] {
		s.revs = append(s.revs, revlog.Rev(rev))
	}
	slices.Sort(s.revs)
	for _, rev := range s.revs {
		node, err := l.Node(rev)
		if err != nil {
			return nil, err
		}
		s.nodes = append(s.nodes, node)
	}
	return s, l.Entries(func(_ revlog.Rev, e *revlog.Entry) error {
		s.size += int64(e.Size)
		return nil
	})
}

func (s *subject) String() string {
	return fmt.Sprintf("%d revisions, %d MB of text", s.n, s.size/1e6)
}

// task is something that all sides do; each is how often it does it.
type task struct {
	name string
	each int
	run  func() error
}

func (s *subject) tasks() []task {
	// with opens the revlog, does what is to be done and closes it.
	with := func(do func(l *revlog.Log, r *revlog.Reader) error) func() error {
		return func() error {
			l, err := revlog.Open(s.file, s.opts)
			if err != nil {
				return err
			}
			r := l.Reader()
			err = do(l, r)
			r.Close()
			l.Close()
			return err
		}
	}
	lasting, err := revlog.Open(s.file, s.opts)
	return []task{
		{"openclose", 1, func() error {
			l, err := revlog.Open(s.file, s.opts)
			if err != nil {
				return err
			}
			return l.Close()
		}},
		{"readindex", 1, with(func(l *revlog.Log, _ *revlog.Reader) error {
			sum := int64(0)
			err := l.EntryBlocks(func(_ revlog.Rev, entries []revlog.Entry) error {
				for i := range entries {
					e := &entries[i]
					sum += e.Offset + int64(e.Stored) + int64(e.Size) + int64(e.Base+e.Link+e.P1+e.P2) + int64(e.Node[0])
				}
				return nil
			})
			if sum == 0 {
				return errors.New("an index of zeros")
			}
			return err
		})},
		{"readtip", 1, with(func(l *revlog.Log, r *revlog.Reader) error {
			_, err := r.Text(l.Tip())
			return err
		})},
		{"readdata", 1, with(func(_ *revlog.Log, r *revlog.Reader) error {
			for _, rev := range s.revs {
				if _, err := r.Text(rev); err != nil {
					return err
				}
			}
			return nil
		})},
		{"lookup", 1, with(func(l *revlog.Log, _ *revlog.Reader) error {
			_, err := l.Rev(s.nodes[len(s.nodes)-1])
			return err
		})},
		{"lookups", len(s.nodes), func() error {
			if err != nil {
				return err
			}
			for _, node := range s.nodes {
				if _, err := lasting.Rev(node); err != nil {
					return err
				}
			}
			return nil
		}},
		{"everything", 1, with(func(l *revlog.Log, r *revlog.Reader) error {
			return r.Texts(0, revlog.Rev(l.Len()), func(revlog.Rev, *revlog.Entry, []byte) error { return nil })
		})},
	}
}
