package weave

import (
	"flag"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

var update = flag.Bool("update", false, "write what the worked cases show into their page")

// ascending hands out 1, 2, 3 as hashes.
type ascending struct{ n int64 }

func (a *ascending) Seed(int64)   {}
func (a *ascending) Int63() int64 { a.n++; return a.n << (31 + 8) }

// A worked case is a block of the page, of lines such as
//
//	name = new WORDS             a file
//	name = edit SET: WORDS       its text replaced
//	name = settle SET: WORDS     every block of it edited away, the words in its place
//	name = settle first SET: WORDS
//	name = rollback SET NAME     the change that NAME recorded undone
//	show SET                     what a person sees, indented below
//	deps NAME: NAMES             what the change depends on
//
// where SET is names joined by +. A name stands for the set after its step.
func TestWorkedCases(t *testing.T) {
	const file = "../../docs/spec/algebra.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rest, out := string(page), ""
	for n := 0; ; n++ {
		before, block, found := strings.Cut(rest, "```case\n")
		out += before
		if !found {
			if n == 0 {
				t.Error("the page has no cases")
			}
			break
		}
		block, rest, _ = strings.Cut(block, "```")
		w := oracle.NewWorld(rand.New(&ascending{}))
		c := worked{replicas: replicas{t: t, h: history{w}, seen: &coverage{}}, sets: map[string]oracle.Set{}, made: map[string]uint32{}}
		got := ""
		for line := range strings.Lines(block) {
			if !strings.HasPrefix(line, " ") {
				got += c.step(strings.TrimSuffix(line, "\n"))
			}
		}
		if got != block && !*update {
			t.Errorf("the case\n%s\nis\n%s", block, got)
		}
		out += "```case\n" + got + "```"
	}
	if *update {
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// worked is a case in the making.
type worked struct {
	replicas
	sets map[string]oracle.Set
	made map[string]uint32
}

func (c *worked) set(names ...string) oracle.Set {
	u := oracle.Set{}
	for _, n := range names {
		if n == "+" {
			continue
		}
		s, ok := c.sets[n]
		if !ok {
			c.t.Fatalf("no set %q", n)
		}
		u = u.Union(s)
	}
	return u
}

// step does a line and gives it back as it should stand, with what it shows.
func (c *worked) step(line string) string {
	head, words, _ := strings.Cut(line, ":")
	f, text := strings.Fields(head), []string{}
	for _, w := range strings.Fields(words) {
		text = append(text, w+"\n")
	}
	switch {
	case f[0] == "show":
		return line + "\n" + c.show(c.set(f[1:]...))
	case f[0] == "deps":
		var names []string
		for _, d := range c.h.Changes[c.made[f[1]]].Deps {
			names = append(names, c.name(d))
		}
		return head + ": " + strings.Join(names, " ") + "\n"
	case f[2] == "new":
		for _, w := range f[3:] {
			text = append(text, w+"\n")
		}
		c.record(f[0], oracle.Set{}, text)
	case f[2] == "edit":
		c.record(f[0], c.set(f[3:]...), text)
	case f[2] == "settle":
		one := f[3] == "first"
		if one {
			f = slices.Delete(f, 3, 4)
		}
		on := c.set(f[3:]...)
		var want []string
		settled := false
		for _, it := range c.h.Render(on).Items {
			if it.Block == nil || one && settled {
				want = append(want, it.Lines...)
				continue
			}
			want, settled = append(want, text...), true
		}
		c.record(f[0], on, want)
	case f[2] == "rollback":
		on := c.set(f[3 : len(f)-1]...)
		u := c.h.Rollback(on, c.made[f[len(f)-1]])
		c.made[f[0]], c.sets[f[0]] = u.Num, on.With(u.Num)
	default:
		c.t.Fatalf("%q is no step", line)
	}
	return line + "\n"
}

func (c *worked) record(name string, on oracle.Set, want []string) {
	made, err := c.h.Record(on, want)
	if err != nil || made == nil {
		c.t.Fatalf("%s: %v, %v", name, made, err)
	}
	c.made[name], c.sets[name] = made.Num, on.With(made.Num)
}

func (c *worked) name(of uint32) string {
	for n, k := range c.made {
		if k == of {
			return n
		}
	}
	return "?"
}

// show is the product's page of a set, by the weave of all its changes, which is held to the program.
func (c *worked) show(s oracle.Set) string {
	w := New(c.h.patch(0).Source)
	for _, k := range s.Sorted()[1:] {
		var err error
		if w, err = w.Add(c.h.patch(k), c.h); err != nil {
			c.t.Fatal(err)
		}
	}
	c.compare(w, s)
	names := Words{
		Block: func(id HunkID) string { return c.name(id.Change) + "." + string(rune('0'+id.Index)) },
		Side: func(by []uint32) string {
			var out []string
			for _, k := range by {
				out = append(out, c.name(k))
			}
			return strings.Join(out, " + ")
		},
	}
	p, err := c.view(w, s).Page(names, func(x change.Stretch) ([]byte, error) { return []byte(textOf(c.h, []change.Stretch{x})), nil })
	if err != nil {
		c.t.Fatal(err)
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(string(p.Text), "\n"), "\n", "\n    ") + "\n"
}
