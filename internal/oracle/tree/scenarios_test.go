package tree

import (
	"flag"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

var update = flag.Bool("update", false, "write what the scenarios show into their file")

// counting hands out 1, 2, 3 as hashes, so that a scenario's first change is the least.
type counting struct{ n int64 }

func (c *counting) Seed(int64)   {}
func (c *counting) Int63() int64 { c.n++; return c.n << (31 + 8) }

// A line of the file is a comment, the title of a scenario, or one of
//
//	name = new TREE             files
//	name = edit SET: TREE       the tree replaced; MOVES among it
//	name = settle SET: TREE     the same, and every conflict decided as TREE has it; no TREE: as it is shown
//	name = rollback SET NAME    the change that NAME recorded undone
//	show SET: TREE              what a person sees, and the conflicts in braces
//	deps NAME: NAMES            what the change depends on
//	refuse SET: TREE            an edit that is no record
//
// where SET is names joined by +, a name standing for the set after its step, or for everything but a change: SET - NAME. TREE is words
// path=content: a text's lines stand between commas, @ begins a link and % a binary, ! ends what may be executed. In a text {} stands for the
// next open block, { for its first line alone; shown is [side; side; base], each side with the hashes of its changes. A line ends with a
// line break, after $ with none, after ^ with that of Windows. A move is old>new, of a directory old/>new.
func TestScenarios(t *testing.T) {
	walk(t, "testdata/scenarios.txt", true)
}

// The page shows what it says.
func TestSpec(t *testing.T) {
	walk(t, "../../../docs/spec/tree.md", false)
}

// walk goes through the lines of a file, or through what is fenced as a scenario in it.
func walk(t *testing.T, file string, in bool) {
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	s := newScenario(t)
	done := 0
	for i, line := range strings.Split(string(page), "\n") {
		got := line
		switch {
		case strings.HasPrefix(line, "== "):
			s = newScenario(t)
		case strings.HasPrefix(line, "```"):
			in = line == "```scenario"
		case strings.HasPrefix(line, "#"), line == "", !in:
		default:
			s.line = i + 1
			got = s.step(line)
			done++
		}
		out = append(out, got)
		if got != line && !*update {
			t.Errorf("%s:%d:\n got %s\nwant %s", file, i+1, got, line)
		}
	}
	if done == 0 {
		t.Errorf("%s: no steps", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func newScenario(t *testing.T) *scenario {
	return &scenario{t: t, w: NewWorld(rand.New(&counting{})), sets: map[string]Set{}, made: map[string]uint32{}}
}

type scenario struct {
	t    *testing.T
	w    *World
	sets map[string]Set
	made map[string]uint32
	line int
}

func (s *scenario) fatal(err any) { s.t.Helper(); s.t.Fatalf("line %d: %v", s.line, err) }

func (s *scenario) set(names string) Set {
	names, without, less := strings.Cut(names, "-")
	u := Set{}
	for _, n := range strings.Split(names, "+") {
		set, ok := s.sets[n]
		if !ok {
			s.fatal("no set " + n)
		}
		u = u.Union(set)
	}
	if less {
		u = u.Minus(Set{s.made[without]: true})
		if !s.w.Closed(u) {
			s.fatal("not closed")
		}
	}
	return u
}

// step does a line and gives it back as it should stand.
func (s *scenario) step(line string) string {
	head, words, given := strings.Cut(line, ":")
	f := strings.Fields(head)
	switch {
	case f[0] == "show":
		return strings.TrimSpace(head + ": " + s.show(s.set(strings.Join(f[1:], ""))))
	case f[0] == "deps":
		return strings.TrimSpace(head + ": " + strings.Join(s.names(s.w.Changes[s.made[f[1]]].Deps), " "))
	case f[0] == "refuse":
		on := s.set(strings.Join(f[1:], ""))
		want, moves := s.tree(on, words)
		if c, err := s.w.Record(on, want, moves, nil); err == nil {
			s.fatal(c)
		}
		return line
	case len(f) < 3 || f[1] != "=":
		s.fatal("no step")
	case f[2] == "new":
		want, _ := s.tree(Set{}, strings.Join(f[3:], " "))
		s.record(f[0], Set{}, want, nil, nil)
	case f[2] == "edit", f[2] == "settle":
		on := s.set(strings.Join(f[3:], ""))
		v := s.w.Look(on)
		want, moves := v.Map(), Moves{}
		if given {
			want, moves = s.tree(on, words)
		}
		var settle []Conflict
		if f[2] == "settle" {
			settle = v.Conflicts()
		}
		s.record(f[0], on, want, moves, settle)
	case f[2] == "rollback":
		on := s.set(strings.Join(f[3:len(f)-1], ""))
		c := s.w.Rollback(on, s.made[f[len(f)-1]])
		s.made[f[0]], s.sets[f[0]] = c.Num, on.With(c.Num)
	default:
		s.fatal("no step")
	}
	return line
}

func (s *scenario) record(name string, on Set, want map[string]Entry, moves Moves, settle []Conflict) {
	c, err := s.w.Record(on, want, moves, settle)
	if err != nil || c == nil {
		s.fatal(fmt.Sprint(c, err))
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

// tree reads a tree that is an edit of what a set shows.
func (s *scenario) tree(on Set, words string) (map[string]Entry, Moves) {
	v := s.w.Look(on)
	want, moves, dirs := map[string]Entry{}, Moves{}, map[string]string{}
	for _, w := range strings.Fields(words) {
		if strings.Contains(w, "=") {
			continue
		}
		p, q, move := strings.Cut(w, ">")
		if !move {
			s.fatal(w)
		} else if d, dir := strings.CutSuffix(p, "/"); dir {
			dirs[d] = q
		} else {
			moves[p] = q
		}
	}
	for p := range v.byPath {
		if q := Under(dirs, p); q != p {
			moves[p] = q
		}
	}
	for _, w := range strings.Fields(words) {
		if p, c, file := strings.Cut(w, "="); file {
			was := p
			for o, n := range moves {
				if n == p {
					was = o
				}
			}
			want[p] = s.entry(v.At(was), c)
		}
	}
	return want, moves
}

func (s *scenario) entry(f *Shown, c string) (e Entry) {
	c, e.Exec = strings.CutSuffix(c, "!")
	switch {
	case strings.HasPrefix(c, "@"):
		e.Kind, e.Content = change.Link, c[1:]
	case strings.HasPrefix(c, "%"):
		e.Kind, e.Content = change.Binary, c[1:]
	default:
		var blocks []string
		if f != nil && f.Text() != nil {
			for _, it := range f.Text().Items {
				if it.Block != nil {
					blocks = append(blocks, s.w.Block(f.File, it))
				}
			}
		}
		for _, l := range strings.Split(c, ",") {
			switch {
			case l == "{}":
				e.Content, blocks = e.Content+blocks[0], blocks[1:]
			case l == "{":
				e.Content += strings.SplitAfter(blocks[0], "\n")[0]
			case strings.HasSuffix(l, "$"):
				e.Content += strings.TrimSuffix(l, "$")
			case l != "":
				e.Content += strings.Replace(l, "^", "\r", 1) + "\n"
			}
		}
	}
	return e
}

func (s *scenario) show(on Set) string {
	v := s.w.Look(on)
	var out []string
	for _, p := range slices.Sorted(maps.Keys(v.byPath)) {
		f := v.At(p)
		e := f.Entry()
		w := map[change.Kind]string{change.Link: "@", change.Binary: "%"}[e.Kind] + e.Content
		if st := f.Text(); st != nil {
			var ls []string
			for _, it := range st.Items {
				if it.Block == nil {
					ls = append(ls, words(it.Lines[0]))
					continue
				}
				var sides []string
				for i, text := range append(it.Block.Texts(), it.Block.Base()) {
					name := "base"
					if i < len(it.Block.Sides) {
						name = it.Block.Sides[i].Name
					}
					sides = append(sides, strings.TrimSpace(name+" "+words(text...)))
				}
				ls = append(ls, "["+strings.Join(sides, "; ")+"]")
			}
			w = strings.Join(ls, ",")
		} else if e.Kind == change.Text {
			w = words(lines(e.Content)...)
		}
		if e.Exec {
			w += "!"
		}
		out = append(out, p+"="+w)
	}
	var ks []string
	for _, k := range v.Conflicts() {
		n := []string{k.Kind}
		if k.Dir {
			n = append(n, "dir")
		}
		for _, x := range k.Files {
			at := v.File(x).Path
			n = append(n, at)
		}
		ks = append(ks, strings.Join(append(n, s.names(k.Changes())...), " "))
	}
	if len(ks) > 0 {
		slices.Sort(ks)
		out = append(out, "{"+strings.Join(ks, "; ")+"}")
	}
	return strings.Join(out, " ")
}

// words is lines as a scenario has them.
func words(text ...string) string {
	var out []string
	for _, l := range text {
		line, whole := strings.CutSuffix(l, "\n")
		if line = strings.Replace(line, "\r", "^", 1); !whole {
			line += "$"
		}
		out = append(out, line)
	}
	return strings.Join(out, ",")
}
