package repo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
)

// Digits of a change's id that a person may give, and that are shown at least.
const (
	minPrefix  = 4
	shownDigit = 8
)

const seeLog = "See them with: oxy log"

func noSuch(what, rev string) error {
	e := &Error{Text: fmt.Sprintf("no %s %s", what, safepath.Quote(rev)), Next: instead(rev)}
	if e.Next == "" {
		e.Next, e.Err = "See what there is with: oxy log, oxy bookmark, oxy tag", ErrNoSuch
	}
	return e
}

// instead answers what people know from other systems; "" when it is nothing of that kind.
func instead(rev string) string {
	switch {
	case strings.HasPrefix(rev, "HEAD"), rev == "tip", rev == ".":
		return "Where the working copy stands is @, and the state before it @~1."
	case strings.Contains(rev, "^"):
		return "The state before REV is REV~1."
	case strings.Contains(rev, ".."):
		return "Ranges are for diff alone: oxy diff A..B"
	}
	return ""
}

// view reads the current view.
func (r *Repo) view() (*store.View, error) {
	v, err := r.store.View()
	if err != nil {
		return nil, storeError(err)
	}
	return v, nil
}

// baseOf is the state that the working copy stands on.
func baseOf(v *store.View) uint32 {
	if v.Base < 0 {
		return NoState
	}
	return uint32(v.Base)
}

// stateRef describes a state by its number.
func (r *Repo) stateRef(n uint32) (StateRef, error) {
	if n == NoState {
		return StateRef{Num: NoState}, nil
	}
	st, err := r.state(n)
	if err != nil {
		return StateRef{}, storeError(err)
	}
	return StateRef{Num: n, ID: st.ID, Len: st.Pos}, nil
}

// Base is the state that the working copy stands on.
func (r *Repo) Base() (StateRef, error) {
	v, err := r.view()
	if err != nil {
		return StateRef{}, err
	}
	return r.stateRef(baseOf(v))
}

// ResolveState finds the state that rev names: a bookmark, a tag, a change (the current bookmark's log up to it), `@` (the
// working copy's base), `REV~N` (N changes earlier) or `NAME:N` (after the first N changes).
func (r *Repo) ResolveState(rev string) (StateRef, error) {
	v, err := r.view()
	if err != nil {
		return StateRef{}, err
	}
	n, err := r.resolve(v, rev)
	if err != nil {
		return StateRef{}, err
	}
	return r.stateRef(n)
}

func (r *Repo) resolve(v *store.View, rev string) (uint32, error) {
	if i := strings.LastIndexByte(rev, '~'); i > 0 {
		back := uint64(1)
		if digits := rev[i+1:]; digits != "" {
			n, err := strconv.ParseUint(digits, 10, 32)
			if err != nil {
				return 0, noSuch("state", rev)
			}
			back = n
		}
		s, err := r.resolve(v, rev[:i])
		if err != nil {
			return 0, err
		}
		ref, err := r.stateRef(s)
		if err != nil {
			return 0, err
		}
		if back > ref.Len {
			return 0, &Error{Text: fmt.Sprintf("%s has only %d changes: there is nothing %d before it", safepath.Quote(rev[:i]), ref.Len, back), Next: seeLog}
		}
		return r.atPosition(s, ref.Len-back)
	}
	if i := strings.LastIndexByte(rev, ':'); i > 0 {
		pos, err := strconv.ParseUint(rev[i+1:], 10, 64)
		if err != nil {
			return 0, noSuch("state", rev)
		}
		s, err := r.resolve(v, rev[:i])
		if err != nil {
			return 0, err
		}
		ref, err := r.stateRef(s)
		if err != nil {
			return 0, err
		}
		if pos > ref.Len {
			return 0, &Error{Text: fmt.Sprintf("%s has only %d changes", safepath.Quote(rev[:i]), ref.Len), Next: seeLog}
		}
		return r.atPosition(s, pos)
	}
	if rev == "@" {
		return baseOf(v), nil
	}
	if s, ok := v.Bookmarks[rev]; ok {
		return s, nil
	}
	if s, ok := v.Tags[rev]; ok {
		return s, nil
	}
	if s, ok := tracked(v, rev); ok {
		return s, nil
	}
	if rev == v.Current { // a bookmark without a change yet
		return NoState, nil
	}
	n, err := r.changeByPrefix(rev)
	if err != nil {
		return 0, err
	}
	return r.stateOf(v, n)
}

// stateOf finds the state right after change n in the log of the working copy's base, or else of a name, a remote's among them.
func (r *Repo) stateOf(v *store.View, n uint32) (uint32, error) {
	base := baseOf(v)
	if set, err := r.setOf(base); err != nil {
		return 0, err
	} else if set.Has(n) {
		return r.after(base, n)
	}
	has, err := r.holders(n)
	if err != nil {
		return 0, err
	}
	// Of several the lowest: a name that follows another's state has it too, further back.
	for _, s := range namedStates(v) {
		if has(s) {
			return r.after(s, n)
		}
	}
	return 0, &Error{Text: "no bookmark or tag has change " + r.store.ChangeID(n).Short(), Next: "It was taken back; find the operation with: oxy op log"}
}

// after finds the state right after change n in a log that has it.
func (r *Repo) after(s, n uint32) (uint32, error) {
	pos := uint64(0)
	err := r.eachStep(s, func(step *logStep) (bool, error) {
		i := slices.Index(step.changes, n)
		if i >= 0 {
			pos = step.pos - uint64(len(step.changes)-1-i)
		}
		return i < 0, nil
	})
	if err != nil {
		return 0, err
	}
	return r.atPosition(s, pos)
}

// ResolveChange finds the change that rev names: a prefix of its id, or the last change of a state.
func (r *Repo) ResolveChange(rev string) (uint32, error) {
	v, err := r.view()
	if err != nil {
		return 0, err
	}
	_, bookmark := v.Bookmarks[rev]
	_, tag := v.Tags[rev]
	if !bookmark && !tag && isHex(rev) {
		return r.changeByPrefix(rev)
	}
	s, err := r.resolve(v, rev)
	if err != nil {
		return 0, err
	}
	if s == NoState {
		return 0, &Error{Text: "there is no change yet", Next: "Record one with: oxy commit -m MESSAGE", No: true}
	}
	n, _, ok, err := r.lastChange(s)
	if err == nil && !ok {
		err = storeError(fmt.Errorf("state %d has no change: %w", s, store.ErrDamaged))
	}
	return n, err
}

func isHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return len(s) >= minPrefix && len(s) <= 2*len(change.ID{})
}

func (r *Repo) changeByPrefix(rev string) (uint32, error) {
	if !isHex(rev) {
		return 0, noSuch("bookmark, tag or change", rev)
	}
	switch found := r.store.FindPrefix(strings.ToLower(rev), 5); len(found) {
	case 0:
		return 0, noSuch("bookmark, tag or change", rev)
	case 1:
		return found[0], nil
	default:
		var ids []string
		for _, n := range found[:min(len(found), 4)] {
			ids = append(ids, r.store.ChangeID(n).String()[:min(len(rev)+4, 64)])
		}
		more := ""
		if len(found) > 4 {
			more = ", …"
		}
		return 0, &Error{Text: fmt.Sprintf("%s could be %s%s", rev, strings.Join(ids, ", "), more), Next: "Give more digits."}
	}
}

// ShortID is the shortest unambiguous prefix of a change's id, at least 8 digits.
func (r *Repo) ShortID(n uint32) string {
	id := r.store.ChangeID(n).String()
	for k := shownDigit; k < len(id); k++ {
		if len(r.store.FindPrefix(id[:k], 2)) < 2 {
			return id[:k]
		}
	}
	return id
}

// Info reads a change without its body.
func (r *Repo) Info(n uint32) (*ChangeInfo, error) {
	meta, part, err := r.store.Front(n)
	if err != nil {
		return nil, storeError(err)
	}
	c, err := change.DecodeMeta(meta)
	if err != nil {
		return nil, storeError(errors.Join(store.ErrDamaged, err))
	}
	return &ChangeInfo{Num: n, ID: r.store.ChangeID(n), Author: c.Author, Time: c.Time, Message: c.Message, Extra: c.Extra, Deps: c.Deps, Undoes: c.Undoes, part: part}, nil
}
