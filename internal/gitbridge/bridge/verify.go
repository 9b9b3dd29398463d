package bridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/repo"
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

// Verify makes the trees of all states that were imported or exported again from their changes, and from these Git's own ids of
// trees, commits and tags.
func Verify(ctx context.Context, r *repo.Repo, progress repo.Progress) (*Verified, error) {
	x, err := newExporter(r, "Verifying", progress)
	if err != nil {
		return nil, err
	}
	v := &Verified{}
	x.fault = func(id object.ID, err error) { v.Faults = append(v.Faults, Left{id.String(), err}) }
	todo, _, err := x.todo(slices.Sorted(maps.Values(x.known.states)))
	if err != nil {
		return nil, err
	}
	if err := x.commits(ctx, todo, false, nil); err != nil {
		return nil, err
	}
	v.Commits, v.Files = x.out.Commits, x.files
	return v, v.tags(r, x.f, x.hasher)
}

// tags proves the annotated tags.
func (v *Verified) tags(r *repo.Repo, f object.Format, hasher *object.Hasher) error {
	s, err := loadSeen(r, f)
	if err != nil {
		return err
	}
	for id, h := range s.tags {
		raw, err := r.Content(h)
		if err != nil {
			return err
		}
		if got, err := hasher.Sum(object.TagKind, raw); err != nil || got != id {
			v.Faults = append(v.Faults, Left{id.String(), errors.Join(err, fmt.Errorf("what is here makes tag %s", got))})
			continue
		}
		v.Tags++
	}
	return nil
}
