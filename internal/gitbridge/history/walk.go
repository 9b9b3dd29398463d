// Package history goes through the commits of a Git repository, parents before children, and reads what each of them
// changes ahead of whoever takes them. It knows nothing of what is made of them.
package history

import (
	"errors"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
)

// What a walk finds, beside what reading and parsing find.
var (
	// ErrTooMany is a history above MaxCommits.
	ErrTooMany = errors.New("history has too many commits")
	// ErrNotCommit is an id where a commit must be and something else is.
	ErrNotCommit = errors.New("object is not a commit")
)

// MaxCommits bounds a history: a walk keeps some 100 bytes a commit.
const MaxCommits = 64 << 20

// Order is a history in the order in which it can be imported: each commit after its parents, and what one branch did
// as far as it goes in one stretch. The order depends on tips and history alone.
type Order struct {
	format  object.Format
	numbers *numbers
	commits []node
	parents []uint32
	order   []uint32
}

// node is a commit as a walk knows it.
type node struct {
	tree  object.ID
	time  int64
	first uint32 // its parents in the order's, from here
	count uint32
	state state
}

type state uint8

const (
	met     state = iota // as a parent or tip
	read                 // its parents may be in the order
	entered              // on the stack
	known                // by the caller
	ordered
	broken
)

// Len is the number of commits in the order.
func (o *Order) Len() int { return len(o.order) }

// ID is the i-th commit.
func (o *Order) ID(i int) object.ID { return o.numbers.id(o.order[i]) }

// Children counts, for each commit of the order, how often others of the order name it as a parent.
func (o *Order) Children() []uint32 {
	at := make([]uint32, len(o.commits))
	out := make([]uint32, len(o.order))
	for i, n := range o.order {
		at[n] = uint32(i)
		c := &o.commits[n]
		for _, p := range o.parents[c.first : c.first+c.count] {
			if o.commits[p].state == ordered {
				out[at[p]]++ // it came before
			}
		}
	}
	return out
}

// Leave takes a commit for one that Walk found bad: pipelines that begin later compare none with it. No pipeline may be open.
func (o *Order) Leave(i int) { o.commits[o.order[i]].state = broken }

// Walk reads the commits that tips lead to and orders them. Where isKnown is not nil, commits of which it is true and
// all before them are left out. Tips are commits; one given twice counts once. bad, when not nil, is asked about each
// commit that cannot be read or parsed: if it returns nil the commit is left out with what only it leads to. Any other
// error ends the walk.
func Walk(r *odb.Reader, f object.Format, tips []object.ID, isKnown func(object.ID) bool, bad func(object.ID, error) error) (*Order, error) {
	w := &walker{
		Order:  &Order{format: f, numbers: newNumbers(f)},
		reader: r, isKnown: isKnown, bad: bad,
	}
	sorted, err := w.sortTips(tips)
	if err != nil {
		return nil, err
	}
	for _, tip := range sorted {
		if err := w.visit(tip); err != nil {
			return nil, err
		}
	}
	w.numbers.table = nil
	return w.Order, nil
}

type walker struct {
	*Order
	reader  *odb.Reader
	isKnown func(object.ID) bool
	bad     func(object.ID, error) error
	scratch []object.ID
	stack   []step
}

// step is a commit on the stack and how many of its parents have been visited.
type step struct{ commit, next uint32 }

// sortTips puts the oldest first, so that a new branch comes last and the order before it stays.
func (w *walker) sortTips(tips []object.ID) ([]uint32, error) {
	var list []uint32
	for _, id := range tips {
		n, err := w.number(id)
		if err != nil {
			return nil, err
		}
		if w.commits[n].state != met {
			continue
		}
		if err := w.read(n); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b uint32) int {
		if x, y := w.commits[a].time, w.commits[b].time; x != y {
			if x < y {
				return -1
			}
			return 1
		}
		x, y := w.numbers.id(a), w.numbers.id(b)
		return slices.Compare(x[:], y[:])
	})
	return list, nil
}

func (w *walker) number(id object.ID) (uint32, error) {
	n, isNew := w.numbers.number(id)
	if isNew {
		if n >= MaxCommits {
			return 0, ErrTooMany
		}
		w.commits = append(w.commits, node{})
	}
	return n, nil
}

// read reads a commit that was only met.
func (w *walker) read(n uint32) error {
	id := w.numbers.id(n)
	c := &w.commits[n]
	if w.isKnown != nil && w.isKnown(id) {
		c.state = known
		return nil
	}
	parsed, err := readCommit(w.reader, w.format, id, w.scratch[:0])
	if err != nil {
		c.state = broken
		if w.bad != nil {
			err = w.bad(id, err)
		}
		return err
	}
	w.scratch = parsed.Parents
	c.tree, c.time, c.state = parsed.Tree, parsed.CommitTime(), read
	c.first, c.count = uint32(len(w.parents)), uint32(len(parsed.Parents))
	for _, p := range parsed.Parents {
		m, err := w.number(p)
		if err != nil {
			return err
		}
		w.parents = append(w.parents, m)
	}
	return nil
}

// readCommit reads and parses; what it returns is valid until the reader's next call.
func readCommit(r *odb.Reader, f object.Format, id object.ID, parents []object.ID) (object.Commit, error) {
	kind, raw, err := r.View(id)
	if err != nil {
		return object.Commit{}, err
	}
	if kind != object.CommitKind {
		return object.Commit{}, fmt.Errorf("%w: %s is a %s", ErrNotCommit, id, kind)
	}
	c, err := object.ParseCommit(f, raw, parents)
	if err != nil {
		return c, fmt.Errorf("commit %s: %w", id, err)
	}
	return c, nil
}

// visit puts a commit in the order after all before it.
func (w *walker) visit(n uint32) error {
	if w.commits[n].state != read {
		return nil
	}
	w.enter(n)
	for len(w.stack) > 0 {
		top := &w.stack[len(w.stack)-1]
		c := &w.commits[top.commit]
		if top.next == c.count {
			c.state = ordered
			w.order = append(w.order, top.commit)
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		p := w.parents[c.first+top.next]
		top.next++
		if w.commits[p].state == met {
			if err := w.read(p); err != nil {
				return err
			}
		}
		if w.commits[p].state == read {
			w.enter(p)
		}
	}
	return nil
}

func (w *walker) enter(n uint32) {
	w.commits[n].state = entered
	w.stack = append(w.stack, step{commit: n})
}
