package repo

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
)

// maxSideDigits is how long the number of a side may be: a longer one is the beginning of a change's id.
const maxSideDigits = minPrefix - 1

// holder is what a word for a side names, if it is no number.
type holder struct {
	n     uint32
	set   state.Set
	state bool
}

// side gives the number of the side, from 1, that a word names: by its number, or by what only that side has.
func (s *resolving) side(c *Conflict, word string) (int, error) {
	next := fmt.Sprintf("Take a side by its number. See them with: oxy conflicts %s", safepath.Quote(c.Path))
	if n, err := strconv.Atoi(word); err == nil && len(word) <= maxSideDigits {
		if n < 1 || n > len(c.Sides) {
			return 0, &Error{Text: fmt.Sprintf("conflict %s has no side %d: it has %d", c.ID, n, len(c.Sides)), Next: next}
		}
		return n, nil
	}
	who, err := s.holder(word)
	if err != nil {
		return 0, err
	}
	found := 0
	for i := range c.Sides {
		if !s.holds(&who, &c.Sides[i]) {
			continue
		}
		if found > 0 {
			return 0, &Error{Text: fmt.Sprintf("%s has more than one side of conflict %s in %s", safepath.Quote(word), c.ID, safepath.Quote(c.Path)), Next: next}
		}
		found = i + 1
	}
	if found == 0 {
		return 0, &Error{Text: fmt.Sprintf("no side of conflict %s in %s has %s", c.ID, safepath.Quote(c.Path), safepath.Quote(word)), Next: next}
	}
	return found, nil
}

// holds tells whether a state has all changes of a side, or a side has a change.
func (s *resolving) holds(who *holder, side *ConflictSide) bool {
	if who.state {
		return len(side.Changes) > 0 && !slices.ContainsFunc(side.Changes, func(n uint32) bool { return !who.set.Has(n) })
	}
	h := s.r.newReach()
	return slices.ContainsFunc(side.Changes, func(n uint32) bool { return h.Reaches(n, who.n) })
}

func (s *resolving) holder(word string) (holder, error) {
	if who, ok := s.holders[word]; ok {
		return who, nil
	}
	_, bookmark := s.t.view.Bookmarks[word]
	_, tag := s.t.view.Tags[word]
	var who holder
	var err error
	if !bookmark && !tag && isHex(word) {
		who.n, err = s.r.changeByPrefix(word)
	} else if who.n, err = s.r.resolve(s.t.view, word); err == nil {
		who.state = true
		who.set, err = s.r.setOf(who.n)
	}
	s.holders[word] = who
	return who, err
}
