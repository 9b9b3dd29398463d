package bridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/state"
)

// Verified tells what was proved.
type Verified struct {
	Commits, Tags int
	Files         int // contents whose ids were computed
	Faults        []Left
}

// remembered is a commit as the repository has it.
type remembered struct {
	state   uint32
	id      object.ID
	parents []object.ID // all, known or not
	modes   string
	blobs   string
	native  object.Native
	fields  []object.Field
}

// remember reads what a change keeps of the commit that it was; ok is false for one that was none.
func remember(f object.Format, s uint32, c *change.Change) (m remembered, ok bool, err error) {
	id, ok := field(c.Extra, fieldCommit)
	if !ok {
		return m, false, nil
	}
	m = remembered{state: s, native: object.Native{Message: c.Message,
		Person: object.Person{Name: c.Author.Name, Email: c.Author.Email, Sec: c.Time.Sec, Zone: c.Time.Zone}}}
	parents, _ := field(c.Extra, fieldParents)
	if len(id) != f.Size() || len(parents)%f.Size() != 0 {
		return m, false, fmt.Errorf("change with malformed %s or %s", fieldCommit, fieldParents)
	}
	m.id = f.ID([]byte(id))
	for b := []byte(parents); len(b) > 0; b = b[f.Size():] {
		m.parents = append(m.parents, f.ID(b))
	}
	m.modes, _ = field(c.Extra, fieldModes)
	m.blobs, _ = field(c.Extra, fieldBlobs)
	for _, x := range c.Extra {
		m.fields = append(m.fields, object.Field{Key: x.Key, Value: x.Value})
	}
	return m, true, nil
}

// formatOf is that of the commits which a repository holds; SHA1 if none.
func formatOf(r *repo.Repo) (f object.Format, err error) {
	errFound := errors.New("found")
	err = r.EachRecorded(0, func(_ uint32, c *change.Change) error {
		v, ok := field(c.Extra, fieldCommit)
		if !ok {
			return nil
		}
		if len(v) == object.SHA256.Size() {
			f = object.SHA256
		}
		return errFound
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return f, err
}

// Verify makes the trees of states that were imported or exported again from their changes, and from these Git's own ids of trees,
// commits and tags. Of the revisions that are named, perhaps by Git's own ids, it takes the commits that they have, and those that these
// stand upon; with none, all.
func Verify(ctx context.Context, r *repo.Repo, revs []string, progress repo.Progress) (*Verified, error) {
	x, err := newExporter(r, "Verifying", progress)
	if err != nil {
		return nil, err
	}
	v := &Verified{}
	x.fault = func(id object.ID, err error) { v.Faults = append(v.Faults, Left{id.String(), err}) }
	states := slices.Sorted(maps.Values(x.known.states))
	if len(revs) > 0 {
		if states, err = x.within(states, revs); err != nil {
			return nil, err
		}
	}
	todo, _, err := x.todo(states)
	if err != nil {
		return nil, err
	}
	if err := x.commits(ctx, todo, false, nil); err != nil {
		return nil, err
	}
	v.Commits, v.Files = x.out.Commits, x.files
	proved := make(map[object.ID]bool, len(todo))
	for _, s := range todo {
		proved[x.ids[s]] = true
	}
	return v, v.tags(r, x.f, x.hasher, proved)
}

// within keeps of states those whose own changes revisions have.
func (x *exporter) within(states []uint32, revs []string) ([]uint32, error) {
	var all state.Set
	for _, rev := range revs {
		s, err := x.named(rev)
		if err != nil {
			return nil, err
		}
		set, err := x.r.SetOf(s)
		if err != nil {
			return nil, err
		}
		all = all.Union(set)
	}
	var out []uint32
	for _, s := range states {
		step, err := x.r.LogStep(s)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(step.Changes, func(n uint32) bool { return !all.Has(n) }) {
			out = append(out, s)
		}
	}
	return out, nil
}

// named finds the state of a revision, or of a commit by the start of its id.
func (x *exporter) named(rev string) (uint32, error) {
	const short = 7 // digits, as Git itself shows
	var found []uint32
	if len(rev) >= short {
		for id, s := range x.known.states {
			if strings.HasPrefix(string(x.f.AppendHex(nil, id)), strings.ToLower(rev)) {
				found = append(found, s)
			}
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	s, err := x.r.ResolveState(rev)
	if err != nil && len(found) > 1 {
		return 0, &repo.Error{Text: "more than one commit begins with " + rev, Next: "Give more digits."}
	}
	return s.Num, err
}

// tags proves the annotated tags of commits that were looked at.
func (v *Verified) tags(r *repo.Repo, f object.Format, hasher *object.Hasher, proved map[object.ID]bool) error {
	s, err := loadSeen(r, f)
	if err != nil {
		return err
	}
	raws := make(map[object.ID][]byte, len(s.tags))
	for id, h := range s.tags {
		if raws[id], err = r.Content(h); repo.Lost(err) {
			return lostKept("tag "+id.String(), err)
		} else if err != nil {
			return err
		}
	}
	for id, raw := range raws {
		if !tags(f, raws, raw, proved) {
			continue
		}
		if got, err := hasher.Sum(object.TagKind, raw); err != nil || got != id {
			v.Faults = append(v.Faults, Left{id.String(), errors.Join(err, fmt.Errorf("what is here makes tag %s", got))})
			continue
		}
		v.Tags++
	}
	return nil
}

// tags tells whether a tag leads, perhaps by way of others, to a commit that was looked at. One that cannot be read does, so that it is
// found to be damaged.
func tags(f object.Format, raws map[object.ID][]byte, raw []byte, proved map[object.ID]bool) bool {
	for range len(raws) {
		t, err := object.ParseTag(f, raw)
		if err != nil {
			return true
		}
		next, ok := raws[t.Object]
		if !ok {
			return proved[t.Object]
		}
		raw = next
	}
	return true
}
