package tree

import (
	"math/rand"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// Story is a random history of three replicas that edit, move and remove files, pull parts of each other, settle
// conflicts, unrecord and roll back. The same seed tells the same story.
type Story struct {
	*World
	Seed     int64
	Replicas [3]Set
	Rand     *rand.Rand
	words    []string // lines of texts
	names    []string // elements of paths
	calm     int      // one in so many edits moves a directory
	length   int      // of texts, at most
	texty    bool     // mostly texts are edited
	settling int      // 1 + the replica that has just pulled a conflict and likely settles it
}

// Kind is what happened.
type Kind int

// What may happen. Nothing: there was nothing to take away, or nothing to pull.
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
	Before, After Set    // of the replica
	Pulled        Set    // what it was united with
	Change        uint32 // what was recorded or taken away; of a rollback that is drawn, what is undone, and once done, the undoing
	Want          map[string]Entry
	Moves         Moves
	Settle        []Conflict
	Err           error // the record was refused
}

// NewStory begins one. With the seed varies what it is made of: few words and names make twins and meetings, many make
// regions and rings.
func NewStory(seed int64) *Story {
	rng := rand.New(rand.NewSource(seed))
	s := &Story{World: NewWorld(rng), Seed: seed, Rand: rng, names: []string{"a", "b", "c", "d"}[:2+seed%3], calm: 2 + int(seed/3%3), length: 5}
	if seed/4%2 == 1 {
		s.texty, s.calm, s.length = true, 12, 5+int(seed/8%3)*4
	}
	s.words = []string{"1\n", "2\n", "3\n", "4\n"}[:2+seed/2%3]
	switch seed / 6 % 4 {
	case 1:
		s.words = append(s.words, "1\r\n", "2\r\n")
	case 2:
		s.words = append(s.words, "1", "2")
	}
	want := map[string]Entry{}
	for range 1 + rng.Intn(5-2*count(s.texty)) {
		if p := s.anyPath(); fits(want, p) {
			want[p] = s.anyEntry()
		}
	}
	c, err := s.Record(Set{}, want, nil, nil)
	if err != nil {
		panic(err)
	}
	for i := range s.Replicas {
		s.Replicas[i] = oracle.Of(c.Num)
	}
	return s
}

// Next is the next step.
func (s *Story) Next() Event {
	e := s.Draw()
	s.Do(&e)
	return e
}

// Draw says what happens next, without doing it.
func (s *Story) Draw() Event {
	e := Event{Replica: s.Rand.Intn(len(s.Replicas))}
	what := s.Rand.Intn(8)
	if s.settling > 0 && s.Rand.Intn(4) > 0 {
		e.Replica, what = s.settling-1, 0
	}
	s.settling = 0
	e.Before = s.Replicas[e.Replica]
	e.After = e.Before
	switch what {
	case 0, 1, 2, 3:
		e.Kind = Edited
		s.edit(&e)
	case 4, 5:
		e.Kind, e.Pulled = Pulled, s.Part(s.Replicas[s.Rand.Intn(len(s.Replicas))], 2+3*s.Rand.Intn(2))
	case 6:
		if free := s.Free(e.Before); len(free) > 0 {
			e.Kind, e.Change = Unrecorded, free[s.Rand.Intn(len(free))]
		}
	case 7:
		if p := e.Before.Sorted()[s.Rand.Intn(len(e.Before))]; p != 0 && s.Live(e.Before)[p] {
			e.Kind, e.Change = RolledBack, p
		}
	}
	return e
}

// Do does what was drawn. Of an edit and a rollback the event then has the change that was recorded.
func (s *Story) Do(e *Event) {
	switch e.Kind {
	case Edited:
		c, err := s.Record(e.Before, e.Want, e.Moves, e.Settle)
		if e.Err = err; c != nil {
			e.Change, e.After = c.Num, e.Before.With(c.Num)
		}
	case Pulled:
		e.After = e.Before.Union(e.Pulled)
		if len(s.Look(e.After).Conflicts()) > 0 {
			s.settling = e.Replica + 1
		}
	case Unrecorded:
		e.After = e.Before.Minus(oracle.Of(e.Change))
	case RolledBack:
		e.Change = s.Rollback(e.Before, e.Change).Num
		e.After = e.Before.With(e.Change)
	}
	s.Replicas[e.Replica] = e.After
}

// edit draws an edited map, or only settles what is open; else the edit itself may decide some of it.
func (s *Story) edit(e *Event) {
	v := s.Look(e.Before)
	for _, k := range v.Conflicts() {
		if s.Rand.Intn(3) > 0 {
			e.Settle = append(e.Settle, k)
		}
	}
	e.Want, e.Moves = v.Map(), Moves{}
	if len(e.Settle) == 0 || s.Rand.Intn(2) == 0 {
		e.Want, e.Moves = s.Scribble(v)
	}
	if other := s.Look(s.Replicas[s.Rand.Intn(len(s.Replicas))]); len(e.Settle) == 0 && s.Rand.Intn(6) == 0 && len(other.Conflicts()) == 0 {
		e.Want, e.Moves = other.Map(), nil // which makes twins
	}
	s.settleTexts(v, e)
}

// settleTexts edits the blocks away that shall be settled, where they still stand.
func (s *Story) settleTexts(v *View, e *Event) {
	for _, k := range e.Settle {
		if k.Kind != "text" {
			continue
		}
		f := v.File(k.Files[0])
		q, moved := e.Moves[f.Path]
		if !moved {
			q = f.Path
		}
		if now, ok := e.Want[q]; ok && now == f.Entry() {
			now.Content = s.scribbleText(f, true)
			e.Want[q] = now
		}
	}
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

// Part is a random closed part of a set, which leaves out one in odds and what builds on it.
func (s *Story) Part(of Set, odds int) Set {
	out := Set{}
	for _, c := range of.Sorted() {
		if s.Rand.Intn(odds) != 0 {
			out = out.Union(s.Changes[c].Past).With(c)
		}
	}
	return out
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
