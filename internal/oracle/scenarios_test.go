package oracle

import (
	"flag"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the scenarios show into their file")

// counting hands out 1, 2, 3 as hashes, so that a scenario's first change is the least.
type counting struct{ n int64 }

func (c *counting) Seed(int64)   {}
func (c *counting) Int63() int64 { c.n++; return c.n << (31 + 8) }

// A line of the file is a comment, the title of a scenario, or one of
//
//	name = new WORDS            a file
//	name = edit SET: WORDS      its text replaced
//	name = settle SET: WORDS    every block of it edited away, the words in its place
//	name = rollback SET NAME    the change that NAME recorded undone
//	show SET: WORDS             what a person sees
//	deps NAME: NAMES            what the change depends on
//
// where SET is names joined by +. A name stands for the set after its step.
func TestScenarios(t *testing.T) {
	const file = "testdata/scenarios.txt"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	var s *scenario
	for i, line := range strings.Split(string(page), "\n") {
		got := line
		switch {
		case strings.HasPrefix(line, "== "):
			s = &scenario{t: t, w: NewWorld(rand.New(&counting{})), sets: map[string]Set{}, made: map[string]uint32{}}
		case strings.HasPrefix(line, "#"), line == "":
		default:
			s.line = i + 1
			got = s.step(line)
		}
		out = append(out, got)
		if got != line && !*update {
			t.Errorf("%s:%d:\n got %s\nwant %s", file, i+1, got, line)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

type scenario struct {
	t    *testing.T
	w    *World
	sets map[string]Set
	made map[string]uint32
	line int
}

func (s *scenario) set(names string) Set {
	u := Set{}
	for _, n := range strings.Split(names, "+") {
		set, ok := s.sets[strings.TrimSpace(n)]
		if !ok {
			s.t.Fatalf("line %d: no set %q", s.line, n)
		}
		u = u.Union(set)
	}
	return u
}

// step does a line and gives it back as it should stand.
func (s *scenario) step(line string) string {
	head, words, _ := strings.Cut(line, ":")
	text := strings.Fields(words)
	f := strings.Fields(head)
	switch {
	case f[0] == "show":
		return strings.TrimSpace(head + ": " + strings.Join(s.w.Show(s.set(strings.Join(f[1:], ""))), " "))
	case f[0] == "deps":
		return strings.TrimSpace(head + ": " + strings.Join(s.names(s.w.Changes[s.made[f[1]]].Deps), " "))
	case len(f) < 3 || f[1] != "=":
		s.t.Fatalf("line %d: %q is no step", s.line, line)
	case f[2] == "new":
		s.record(f[0], Set{}, f[3:])
	case f[2] == "edit":
		s.record(f[0], s.set(strings.Join(f[3:], "")), text)
	case f[2] == "settle":
		on := s.set(strings.Join(f[3:], ""))
		var want []string
		for _, it := range s.w.Render(on).Items {
			if it.Block != nil {
				want = append(want, text...)
			} else {
				want = append(want, it.Lines...)
			}
		}
		s.record(f[0], on, want)
	case f[2] == "rollback":
		on := s.set(strings.Join(f[3:len(f)-1], ""))
		c := s.w.Rollback(on, s.made[f[len(f)-1]])
		s.made[f[0]], s.sets[f[0]] = c.Num, on.With(c.Num)
	default:
		s.t.Fatalf("line %d: %q is no step", s.line, line)
	}
	return line
}

func (s *scenario) record(name string, on Set, want []string) {
	c, err := s.w.Record(on, want)
	if err != nil || c == nil {
		s.t.Fatalf("line %d: %v, %v", s.line, c, err)
	}
	s.made[name], s.sets[name] = c.Num, on.With(c.Num)
}

func (s *scenario) names(cs []uint32) (out []string) {
	for name, c := range s.made {
		if slices.Contains(cs, c) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return
}
