package repo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
)

// Bookmarks lists bookmarks by name.
func (r *Repo) Bookmarks() ([]Named, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	names := v.Bookmarks
	if _, ok := names[v.Current]; !ok && v.Current != "" {
		names = maps.Clone(names)
		names[v.Current] = NoState
	}
	return r.named(names, v.Current)
}

// Tags lists tags by name.
func (r *Repo) Tags() ([]Named, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	return r.named(v.Tags, "")
}

func (r *Repo) named(names map[string]uint32, current string) ([]Named, error) {
	out := make([]Named, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s, err := r.stateRef(names[name])
		if err != nil {
			return nil, err
		}
		out = append(out, Named{Name: name, State: s, Current: name == current && current != ""})
	}
	return out, nil
}

// shownName is how much of a name is shown that is far too long.
const shownName = 40

func checkName(what, name string) error {
	err := safepath.CheckBookmark(name)
	if err == nil {
		return nil
	}
	// The reason alone: the error of safepath repeats the name.
	_, why, ok := strings.Cut(err.Error(), safepath.ErrBookmark.Error()+": ")
	if !ok {
		why = err.Error()
	}
	if len(name) > safepath.MaxBookmark {
		name = name[:shownName] + "…"
	}
	return &Error{Text: fmt.Sprintf("%s cannot be a %s's name: %s", safepath.Quote(name), what, why),
		Next: "Letters, digits and signs as in fix/parser-2 are fine.", Err: err}
}

// SetBookmark makes a bookmark at a state, or with move moves one that exists.
func (r *Repo) SetBookmark(name string, s StateRef, move bool) error {
	if err := checkName("bookmark", name); err != nil {
		return err
	}
	return r.update("bookmark", func(v *store.View) error {
		if _, ok := v.Tags[name]; ok {
			return &Error{Text: fmt.Sprintf("there is a tag %s already", safepath.Quote(name)), Next: "Choose another name."}
		}
		_, exists := v.Bookmarks[name]
		if exists = exists || name == v.Current; exists && !move {
			return &Error{Text: fmt.Sprintf("there is a bookmark %s already", safepath.Quote(name)), Next: "Move it with: oxy bookmark --move " + safepath.Quote(name)}
		}
		if name == v.Current && s.Num != baseOf(v) {
			return &Error{Text: fmt.Sprintf("%s is the current bookmark: it moves with what you record", safepath.Quote(name)),
				Next: "To look at another state: oxy checkout REV"}
		}
		if s.Num == NoState {
			return &Error{Text: "there is nothing to keep yet: no change was recorded", Next: "Record one with: oxy commit -m MESSAGE"}
		}
		v.Bookmarks[name] = s.Num
		return nil
	})
}

// RenameBookmark gives a bookmark another name.
func (r *Repo) RenameBookmark(from, to string) error {
	if err := checkName("bookmark", to); err != nil {
		return err
	}
	return r.update("bookmark", func(v *store.View) error {
		s, ok := v.Bookmarks[from]
		if !ok && from != v.Current {
			return noSuch("bookmark", from)
		}
		if _, taken := v.Bookmarks[to]; taken || to == v.Current {
			return &Error{Text: fmt.Sprintf("there is a bookmark %s already", safepath.Quote(to)), Next: "Choose another name."}
		}
		if _, taken := v.Tags[to]; taken {
			return &Error{Text: fmt.Sprintf("there is a tag %s already", safepath.Quote(to)), Next: "Choose another name."}
		}
		if ok {
			delete(v.Bookmarks, from)
			v.Bookmarks[to] = s
		}
		if v.Current == from {
			v.Current = to
		}
		return nil
	})
}

// DeleteBookmark deletes a bookmark that is not current.
func (r *Repo) DeleteBookmark(name string) error {
	return r.update("bookmark", func(v *store.View) error {
		if name == v.Current {
			return &Error{Text: fmt.Sprintf("%s is the current bookmark", safepath.Quote(name)), Next: "Check out another one first."}
		}
		if _, ok := v.Bookmarks[name]; !ok {
			return noSuch("bookmark", name)
		}
		delete(v.Bookmarks, name)
		return nil
	})
}

// SetTag makes a tag at a state, or with move moves one that exists.
func (r *Repo) SetTag(name string, s StateRef, move bool) error {
	if err := checkName("tag", name); err != nil {
		return err
	}
	return r.update("tag", func(v *store.View) error {
		if _, ok := v.Bookmarks[name]; ok || name == v.Current {
			return &Error{Text: fmt.Sprintf("there is a bookmark %s already", safepath.Quote(name)), Next: "Choose another name."}
		}
		if at, ok := v.Tags[name]; ok && !move && at != s.Num {
			return &Error{Text: fmt.Sprintf("there is a tag %s already, at another state", safepath.Quote(name)), Next: "Move it with: oxy tag --move " + safepath.Quote(name)}
		}
		if s.Num == NoState {
			return &Error{Text: "there is nothing to tag yet: no change was recorded", Next: "Record one with: oxy commit -m MESSAGE"}
		}
		v.Tags[name] = s.Num
		return nil
	})
}

// DeleteTag deletes a tag.
func (r *Repo) DeleteTag(name string) error {
	return r.update("tag", func(v *store.View) error {
		if _, ok := v.Tags[name]; !ok {
			return noSuch("tag", name)
		}
		delete(v.Tags, name)
		return nil
	})
}
