package oracle

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
)

// Story is a random history of three replicas that edit, pull parts of each other, resolve, unrecord and roll back.
// The same seed tells the same story.
type Story struct {
	*World
	Seed     int64
	Replicas [3]Set
	Rand     *rand.Rand
	alphabet string
	settling int // 1 + the replica that has just pulled a conflict and likely settles it
}

// Kind is what happened.
type Kind int

// What may happen. Nothing: an edit left the text as it was, or there was nothing to take away.
const (
	Nothing Kind = iota
	Edited
	Pulled
	Unrecorded
	RolledBack
)

// Event is one step of a story.
type Event struct {
	Kind          Kind
	Replica       int
	Before, After Set      // of the replica
	Pulled        Set      // what it was united with
	Change        uint32   // what was recorded or taken away; of a rollback, the undoing
	Want          []string // the edited text
	Err           error    // the record was refused
}

// NewStory begins one. What its texts are made of and how long they are varies with the seed: few words make twins, many
// regions need length.
func NewStory(seed int64) *Story {
	rng := rand.New(rand.NewSource(seed))
	s := &Story{World: NewWorld(rng), Seed: seed, Rand: rng, alphabet: "abcdefgh"[:2+seed%4]}
	size := 2 + rng.Intn(5)
	if seed/8%2 == 1 {
		size = 8 + rng.Intn(5)
	}
	c, _ := s.Record(Set{}, s.words(size))
	for i := range s.Replicas {
		s.Replicas[i] = Of(c.Num)
	}
	return s
}

// Next is the next step.
func (s *Story) Next() Event {
	e := Event{Replica: s.Rand.Intn(len(s.Replicas))}
	what := s.Rand.Intn(8)
	if s.settling > 0 && s.Rand.Intn(3) > 0 {
		e.Replica, what = s.settling-1, 0
	}
	s.settling = 0
	e.Before = s.Replicas[e.Replica]
	e.After = e.Before
	switch what {
	case 0, 1, 2, 3:
		e.Want = s.edited(e.Before)
		c, err := s.Record(e.Before, e.Want)
		if e.Err = err; c != nil {
			e.Change, e.After = c.Num, e.Before.With(c.Num)
		}
		e.Kind = Edited
	case 4, 5:
		e.Pulled = s.part(s.Replicas[s.Rand.Intn(len(s.Replicas))])
		e.Kind, e.After = Pulled, e.Before.Union(e.Pulled)
		if len(s.See(e.After).Open()) > 0 {
			s.settling = e.Replica + 1
		}
	case 6:
		if free := s.Free(e.Before); len(free) > 0 {
			e.Kind, e.Change = Unrecorded, free[s.Rand.Intn(len(free))]
			e.After = e.Before.Minus(Of(e.Change))
		}
	case 7:
		if p := e.Before.Sorted()[s.Rand.Intn(len(e.Before))]; p != 0 && s.Live(e.Before)[p] {
			e.Kind, e.Change = RolledBack, s.Rollback(e.Before, p).Num
			e.After = e.Before.With(e.Change)
		}
	}
	s.Replicas[e.Replica] = e.After
	return e
}

// Free lists the changes of a set that no other depends on, but the first.
func (w *World) Free(s Set) (out []uint32) {
	for _, c := range s.Sorted() {
		needed := c == 0
		for d := range s {
			needed = needed || w.Changes[d].Past[c]
		}
		if !needed {
			out = append(out, c)
		}
	}
	return
}

func (s *Story) words(n int) (out []string) {
	for range n {
		out = append(out, string(s.alphabet[s.Rand.Intn(len(s.alphabet))])+"\n")
	}
	return
}

// part is a random closed part of a set.
func (s *Story) part(of Set) Set {
	out := Set{}
	few := 2 + 2*s.Rand.Intn(2)
	for _, c := range of.Sorted() {
		if s.Rand.Intn(few) != 0 {
			out = out.Union(s.Changes[c].Past).With(c)
		}
	}
	return out
}

// edited is an edited text: often with blocks edited away, sometimes the text of another replica, which makes twins.
func (s *Story) edited(in Set) []string {
	st := s.Render(in)
	want := s.scribble(st, s.Rand.Intn(3) > 0)
	if len(st.Regions) == 0 && s.Rand.Intn(3) == 0 && len(s.Changes) > 1 {
		if other := s.Show(s.Replicas[s.Rand.Intn(len(s.Replicas))]); !slices.ContainsFunc(other, isMark) {
			want = other
		}
	}
	return want
}

// scribble edits what a person sees: outside blocks at random; each block may be edited away.
func (s *Story) scribble(st *State, resolve bool) []string {
	out := []string{}
	at := map[int]bool{}
	for range 1 + s.Rand.Intn(2+len(st.Items)/5) {
		at[s.Rand.Intn(len(st.Items)+1)] = true
	}
	skip := 0
	for i := 0; i <= len(st.Items); i++ {
		if at[i] {
			out = append(out, s.words(s.Rand.Intn(3))...)
			skip = s.Rand.Intn(3)
		}
		if i == len(st.Items) {
			break
		}
		it := st.Items[i]
		switch {
		case it.Block != nil && resolve && s.Rand.Intn(3) > 0:
			out = append(out, s.settle(it)...)
		case it.Block == nil && skip > 0:
			skip--
		default:
			out = append(out, it.Lines...)
		}
	}
	return out
}

// settle is what a person might write in a block's place: other words, all that it holds, or one side.
func (s *Story) settle(it Item) (out []string) {
	switch s.Rand.Intn(4) {
	case 0:
		return s.words(s.Rand.Intn(3))
	case 1:
		return slices.DeleteFunc(slices.Clone(it.Lines), isMark)
	}
	side := it.Block.Sides[s.Rand.Intn(len(it.Block.Sides))]
	for _, x := range it.Block.lines(side.view) {
		out = append(out, s.text[x])
	}
	return
}

// String tells every change of a world, for a failed test.
func (w *World) String() string {
	var b strings.Builder
	for _, c := range w.Changes {
		fmt.Fprintf(&b, "%d #%06x on %v", c.Num, c.Hash, c.Deps)
		if c.Undoes != None {
			fmt.Fprintf(&b, " undoes %d", c.Undoes)
		}
		for _, h := range c.Hunks {
			fmt.Fprintf(&b, " [%v %v del %v restores %v solves %v ins", h.L, h.R, h.Del, h.Restores, h.Solves)
			for _, n := range h.Ins {
				fmt.Fprintf(&b, " %q at %v %v", w.text[n.Line], n.Parent, n.Right)
			}
			b.WriteString("]")
		}
		b.WriteString("\n")
	}
	return b.String()
}
