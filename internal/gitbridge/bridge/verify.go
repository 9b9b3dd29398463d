package bridge

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
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

// Verify makes the trees of all imported states again from their changes, and from these Git's own ids of trees, commits and
// tags.
func Verify(ctx context.Context, r *repo.Repo, progress repo.Progress) (*Verified, error) {
	f, err := formatOf(r)
	if err != nil {
		return nil, err
	}
	v := &verifier{f: f, out: &Verified{}, states: map[object.ID]uint32{}, uses: map[uint32]int{}, trees: map[uint32]tree.Tree{},
		builder: tree.NewBuilder(f, nil), hasher: object.NewHasher(f, detector)}
	if err := v.list(r); err != nil {
		return nil, err
	}
	progress.Begin("Verifying", int64(len(v.states)), false)
	defer progress.End()
	if v.replay, err = r.NewReplay(ctx); err != nil {
		return nil, err
	}
	err = r.EachRecorded(0, func(s uint32, c *change.Change) error {
		m, ok, err := remember(f, s, c)
		if err != nil || !ok {
			return err
		}
		progress.Add(1)
		return v.commit(&m)
	})
	if err = errors.Join(err, v.replay.Close()); err != nil {
		return nil, err
	}
	return v.out, v.tags(r)
}

// verifier proves commit after commit.
type verifier struct {
	f       object.Format
	out     *Verified
	replay  *repo.Replay
	states  map[object.ID]uint32
	uses    map[uint32]int // how many commits that come stand upon a state
	trees   map[uint32]tree.Tree
	builder *tree.Builder
	hasher  *object.Hasher
}

// list finds which commits there are, and which are needed for others.
func (v *verifier) list(r *repo.Repo) error {
	return r.EachRecorded(0, func(s uint32, c *change.Change) error {
		m, ok, err := remember(v.f, s, c)
		if err != nil || !ok {
			return err
		}
		v.states[m.id] = s
		for _, p := range m.parents {
			if n, ok := v.states[p]; ok {
				v.uses[n]++
			}
		}
		return nil
	})
}

// commit proves one commit.
func (v *verifier) commit(m *remembered) error {
	var parents []uint32
	base := v.builder.Empty()
	for _, id := range m.parents {
		n, ok := v.states[id]
		if !ok || n >= m.state {
			continue // it was left out
		}
		if len(parents) == 0 {
			base = v.trees[n]
		}
		parents = append(parents, n)
	}
	d := &differing{f: v.f, hasher: v.hasher, builder: v.builder, base: base}
	var err error
	if d.modes, d.blobs, err = m.odd(v.f); err != nil {
		return v.fault(m.id, err)
	}
	if err := v.replay.Step(m.state, parents, d.add); err != nil {
		return fmt.Errorf("commit %s: %w", m.id, err)
	}
	v.out.Files += d.files
	edits, err := d.edits()
	if err != nil {
		return v.fault(m.id, err)
	}
	made, err := v.builder.Apply(base, edits, nil)
	if err != nil {
		return v.fault(m.id, err)
	}
	v.trees[m.state] = made
	for _, n := range parents {
		if v.uses[n]--; v.uses[n] == 0 {
			delete(v.trees, n)
			v.replay.Forget(n)
		}
	}
	if v.uses[m.state] == 0 {
		delete(v.trees, m.state)
		v.replay.Forget(m.state)
	}
	raw, err := object.JoinCommit(v.f, made.ID(), m.parents, m.native, m.fields)
	if err != nil {
		return v.fault(m.id, err)
	}
	id, err := v.hasher.Sum(object.CommitKind, raw)
	if err != nil {
		return v.fault(m.id, err)
	}
	if id != m.id {
		return v.fault(m.id, fmt.Errorf("what is here makes commit %s, with tree %s", id, made.ID()))
	}
	v.out.Commits++
	return nil
}

func (v *verifier) fault(id object.ID, err error) error {
	v.out.Faults = append(v.out.Faults, Left{id.String(), err})
	return nil
}

// tags proves the annotated tags.
func (v *verifier) tags(r *repo.Repo) error {
	s, err := loadSeen(r, v.f)
	if err != nil {
		return err
	}
	for id, h := range s.tags {
		raw, err := r.Content(h)
		if err != nil {
			return err
		}
		if got, err := v.hasher.Sum(object.TagKind, raw); err != nil || got != id {
			if err := v.fault(id, errors.Join(err, fmt.Errorf("what is here makes tag %s", got))); err != nil {
				return err
			}
			continue
		}
		v.out.Tags++
	}
	return nil
}
