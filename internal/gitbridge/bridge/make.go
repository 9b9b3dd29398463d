package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// exporter is an export under way.
type exporter struct {
	r     *repo.Repo
	f     object.Format
	db    *odb.DB
	opt   ExportOptions
	out   *Exported
	pack  *odb.PackWriter
	known *known
	ids   map[uint32]object.ID // of states

	nodes   map[uint32]*node
	uses    map[uint32]int
	trees   map[uint32]tree.Tree
	builder *tree.Builder
	hasher  *object.Hasher
	replay  *repo.Replay         // nil where Git has what new commits stand on
	stepped chan *stepped        // of a proof: states that the replay made ahead; it alone uses the replay then
	fresh   map[object.ID]uint32 // new commits
	load    func(id object.ID) ([]byte, error)
	fault   func(id object.ID, err error) // nil: a commit that is not what it was ends all
	doing   string
	files   int
}

func newExporter(r *repo.Repo, doing string, progress repo.Progress) (*exporter, error) {
	x := &exporter{r: r, opt: ExportOptions{Progress: progress}, out: &Exported{}, nodes: map[uint32]*node{}, uses: map[uint32]int{},
		trees: map[uint32]tree.Tree{}, ids: map[uint32]object.ID{}, fresh: map[object.ID]uint32{}, doing: doing}
	var err error
	if x.f, err = formatOf(r); err != nil {
		return nil, err
	}
	if x.known, err = loadKnown(r, x.f); err != nil {
		return nil, err
	}
	for id, s := range x.known.states {
		x.ids[s] = id
	}
	return x, nil
}

// commits makes one commit after the other. fault, if any, is told of those that do not come out as they were.
func (x *exporter) commits(ctx context.Context, todo []uint32, onOld bool, reader *odb.Reader) (err error) {
	x.builder = tree.NewBuilder(x.f, x.load)
	x.hasher = object.NewHasher(x.f, detector)
	if !onOld {
		if x.replay, err = x.r.NewReplay(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, x.replay.Close()) }()
	}
	x.opt.Progress.Begin(x.doing, int64(len(todo)), false)
	defer x.opt.Progress.End()
	next := func(s uint32, n *node) error { return x.commit(s, n, reader) }
	if x.onlyProves(todo) {
		todo = x.branchwise(todo)
		stop := x.stepAhead(ctx, todo)
		defer stop()
		next = func(s uint32, n *node) error { return x.prove(ctx, s, n) }
	}
	for _, s := range todo {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := x.nodes[s]
		err := next(s, n)
		if bad := (*mismatch)(nil); errors.As(err, &bad) && x.fault != nil {
			x.fault(n.id, err)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("commit of state %d: %w", s, err)
		}
		x.done(s, n)
		x.opt.Progress.Add(1)
	}
	return nil
}

// treeOf is the tree of a commit that was written before, or that Git has.
func (x *exporter) treeOf(s uint32, reader *odb.Reader) (tree.Tree, error) {
	if t, ok := x.trees[s]; ok {
		return t, nil
	}
	kind, raw, err := reader.Read(x.ids[s], nil)
	if err != nil {
		return tree.Tree{}, err
	}
	if kind != object.CommitKind {
		return tree.Tree{}, fmt.Errorf("%s is a %s", x.ids[s], kind)
	}
	c, err := object.ParseCommit(x.f, raw, nil)
	if err != nil {
		return tree.Tree{}, err
	}
	return x.builder.Open(c.Tree)
}

// commit writes one commit with what it adds.
func (x *exporter) commit(s uint32, n *node, reader *odb.Reader) error {
	base := x.builder.Empty()
	first := uint32(repo.NoState)
	if len(n.parents) > 0 {
		first = n.parents[0]
		var err error
		if base, err = x.treeOf(first, reader); err != nil {
			return err
		}
	}
	m, err := x.metaOf(s, n)
	if err != nil {
		return err
	}
	d := &differing{f: x.f, hasher: x.hasher, builder: x.builder, base: base, give: x.blob}
	if err := m.odd(d); err != nil {
		return err
	}
	switch {
	case x.replay == nil:
		err = x.r.EachDifference(first, s, d.add)
	case n.isGit:
		err = x.replay.Step(s, n.parents, d.add)
	default:
		err = x.grow(first, s, d)
	}
	if err != nil {
		return err
	}
	return x.make(s, n, &m, d)
}

// make makes a commit upon its first parent's tree and what differs from that.
func (x *exporter) make(s uint32, n *node, m *remembered, d *differing) error {
	x.files += d.files
	edits, err := d.edits()
	if err != nil {
		return err
	}
	made, err := x.builder.Apply(d.base, edits, func(id object.ID, raw []byte) error {
		return x.add(id, object.TreeKind, raw)
	})
	if err != nil {
		return err
	}
	if made.ID() == x.builder.Empty().ID() {
		if err := x.add(made.ID(), object.TreeKind, nil); err != nil {
			return err
		}
	}
	x.trees[s] = made
	raw, err := x.raw(s, n, m, made.ID())
	if err != nil {
		return err
	}
	id, err := x.hasher.Sum(object.CommitKind, raw)
	if err != nil {
		return err
	}
	if n.known && id != n.id {
		return &mismatch{fmt.Errorf("what is here makes commit %s, with tree %s", id, made.ID())}
	}
	if err := x.add(id, object.CommitKind, raw); err != nil {
		return err
	}
	if !n.known {
		n.id, x.ids[s] = id, id
		x.fresh[id] = s
		x.out.New++
	}
	x.out.Commits++
	return nil
}

// mismatch is a commit that does not come out as it was.
type mismatch struct{ error }

// done lets go of what no commit that comes stands upon.
func (x *exporter) done(s uint32, n *node) {
	for _, p := range n.parents {
		if x.uses[p]--; x.uses[p] == 0 {
			x.forget(p)
		}
	}
	if x.uses[s] == 0 {
		x.forget(s)
	}
}

// has tells whether Git has an object. Where nothing is written, as to verify, it has none.
func (x *exporter) has(id object.ID) bool { return x.db != nil && x.db.Has(id) }

// add writes an object unless Git has it.
func (x *exporter) add(id object.ID, kind object.Kind, content []byte) error {
	if x.pack == nil || x.db.Has(id) {
		return nil
	}
	return x.pack.AddAs(id, kind, content)
}

// grow makes a state's tree again, and those between.
func (x *exporter) grow(first, s uint32, d *differing) error {
	var between []uint32
	for at := s; at != first; {
		between = append(between, at)
		step, err := x.r.LogStep(at)
		if err != nil {
			return err
		}
		at = step.Before
	}
	for _, n := range slices.Backward(between) {
		if err := x.replay.StepLog(n); err != nil {
			return err
		}
	}
	err := x.replay.Difference(first, s, d.add)
	for _, n := range between[1:] {
		if x.nodes[n] == nil {
			x.replay.Forget(n)
		}
	}
	return err
}

func (x *exporter) forget(s uint32) {
	delete(x.trees, s)
	if x.replay != nil && x.stepped == nil {
		x.replay.Forget(s)
	}
}

// raw is the commit's bytes.
func (x *exporter) raw(s uint32, n *node, m *remembered, id object.ID) ([]byte, error) {
	if n.isGit {
		return object.JoinCommit(x.f, id, m.parents, m.native, m.fields)
	}
	step, err := x.r.LogStep(s)
	if err != nil {
		return nil, err
	}
	if len(step.Changes) == 0 {
		return nil, fmt.Errorf("it has no change of its own")
	}
	c, err := x.r.Meta(step.Changes[len(step.Changes)-1])
	if err != nil {
		return nil, err
	}
	var parents []object.ID
	for _, p := range n.parents {
		parents = append(parents, x.ids[p])
	}
	native := nativeOf(c)
	if n.merge {
		first, _, _ := strings.Cut(c.Message, "\n")
		native.Message = "Merge: " + first
	}
	return object.JoinCommit(x.f, id, parents, native, nil)
}

func nativeOf(c *change.Change) object.Native {
	return object.Native{Message: c.Message, Person: object.Person{Name: c.Author.Name, Email: c.Author.Email, Sec: c.Time.Sec, Zone: c.Time.Zone}}
}

// blob writes a content.
func (x *exporter) blob(side tree.Side, content []byte) error {
	if side.Mode == object.ModeSubmodule {
		return nil
	}
	return x.add(side.ID, object.BlobKind, content)
}

// tagObjects writes the annotated tags that Git lacks.
