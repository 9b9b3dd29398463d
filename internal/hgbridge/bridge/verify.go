package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/revlog"
)

// Verified tells what was proved.
type Verified struct {
	Changesets int
	Files      int // file revisions whose nodes were computed
	Trusted    int // nodes of files and manifests that were taken as they are: nothing here makes them
	Faults     []Left
}

// remembered is a changeset as the repository has it.
type remembered struct {
	state    uint32
	node     revlog.Node
	parents  []revlog.Node
	records  map[string]record
	c        revlog.Changeset // without manifest; RawFiles only if they are kept
	implicit bool             // what it touches is what it differs in
	manifest string           // fieldManifest
	usual    bool             // there is none
	text     string
}

// remember reads what a change keeps of the changeset that it was; ok is false for one that was none.
func remember(s uint32, c *change.Change) (m remembered, ok bool, err error) {
	v, ok := field(c.Extra, fieldNode)
	if !ok {
		return m, false, nil
	}
	nodes, err := parseNodes(v)
	if err != nil || len(nodes) != 1 {
		return m, false, fmt.Errorf("change with malformed %s", fieldNode)
	}
	m = remembered{state: s, node: nodes[0], implicit: true, usual: true}
	m.c = revlog.Changeset{User: []byte(user(c.Author)), Date: []byte(date(c.Time)), Description: []byte(c.Message)}
	for _, f := range c.Extra {
		switch f.Key {
		case fieldParents:
			m.parents, err = parseNodes(f.Value)
			if len(m.parents) > 2 {
				err = errField
			}
		case fieldUser:
			m.c.User = []byte(f.Value)
		case fieldDate:
			m.c.Date = []byte(f.Value)
		case fieldExtra:
			m.c.RawExtra = []byte(f.Value)
		case fieldTouched:
			m.c.RawFiles, m.implicit = []byte(f.Value), false
		case fieldFiles:
			m.records, err = parseRecords(f.Value)
		case fieldManifest:
			m.manifest, m.usual = f.Value, false
		case fieldText:
			m.text = f.Value
		}
		if err != nil {
			return m, false, fmt.Errorf("change with malformed %s: %w", f.Key, err)
		}
	}
	return m, true, nil
}

// Verify makes the files of all imported states again from their changes, and from these Mercurial's own nodes of file revisions,
// manifests and changesets.
func Verify(ctx context.Context, r *repo.Repo, progress repo.Progress) (*Verified, error) {
	v := &verifier{out: &Verified{}, states: known{}, uses: map[uint32]int{}, manifests: map[uint32]*manifestText{}}
	err := r.EachRecorded(0, func(s uint32, c *change.Change) error {
		m, ok, err := remember(s, c)
		if err != nil || !ok {
			return err
		}
		v.states[m.node] = s
		for _, p := range m.parents {
			if n, ok := v.states[p]; ok {
				v.uses[n]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	progress.Begin("Verifying", int64(len(v.states)), false)
	defer progress.End()
	if v.replay, err = r.NewReplay(ctx); err != nil {
		return nil, err
	}
	err = r.EachRecorded(0, func(s uint32, c *change.Change) error {
		m, ok, err := remember(s, c)
		if err != nil || !ok {
			return err
		}
		progress.Add(1)
		return v.changeset(&m)
	})
	return v.out, errors.Join(err, v.replay.Close())
}

// verifier proves changeset after changeset.
type verifier struct {
	out       *Verified
	replay    *repo.Replay
	states    known
	uses      map[uint32]int           // how many changesets that come stand upon a state
	manifests map[uint32]*manifestText // of the states that are stood upon
	spare     [][]byte                 // of those that are not any more
	buf       []byte
}

// proving is a changeset under way.
type proving struct {
	v       *verifier
	m       *remembered
	parents []uint32
	base    [2][]byte // the manifests of the parents
	touched map[string]bool
	lines   []line
	faults  []error
}

// changeset proves one.
func (v *verifier) changeset(m *remembered) error {
	p := proving{v: v, m: m, touched: map[string]bool{}}
	var nodes [2]revlog.Node
	for i, n := range m.parents {
		s, ok := v.states[n]
		if !ok || s >= m.state {
			return fmt.Errorf("changeset %s: its parent %s is not here", m.node, n)
		}
		held := v.manifests[s]
		if held == nil {
			return fmt.Errorf("changeset %s: its parent %s could not be made", m.node, n)
		}
		p.parents, p.base[i], nodes[i] = append(p.parents, s), held.text, held.node
	}
	for path := range m.c.Files() {
		p.touched[string(path)] = true
	}
	err := v.replay.Step(m.state, p.parents, func(old, new *state.Entry, content func() ([]byte, error)) error {
		if new == nil {
			p.lines = append(p.lines, line{path: old.Path})
			return nil
		}
		return p.file(old, new, content)
	})
	if err == nil {
		err = p.rest()
	}
	if err != nil {
		return fmt.Errorf("changeset %s: %w", m.node, err)
	}
	made, err := p.manifest(nodes)
	if err != nil {
		p.fault(err)
	}
	v.manifests[m.state] = made
	v.let(p.parents, m.state)
	if err := p.compare(made.node); err != nil {
		p.fault(err)
	}
	if len(p.faults) == 0 {
		v.out.Changesets++
		return nil
	}
	v.out.Faults = append(v.out.Faults, Left{m.node.String(), errors.Join(p.faults...)})
	return nil
}

func (p *proving) fault(err error) { p.faults = append(p.faults, err) }

// let lets go of what no changeset that comes stands upon.
func (v *verifier) let(parents []uint32, s uint32) {
	drop := func(n uint32) {
		if held := v.manifests[n]; held != nil {
			v.spare = append(v.spare, held.text[:0])
			delete(v.manifests, n)
			v.replay.Forget(n)
		}
	}
	for _, n := range parents {
		if v.uses[n]--; v.uses[n] == 0 {
			drop(n)
		}
	}
	if v.uses[s] == 0 {
		drop(s)
	}
}

// file finds the file revision at a path that differs from the first parent.
func (p *proving) file(old, new *state.Entry, content func() ([]byte, error)) error {
	l := line{path: strings.Clone(new.Path)}
	switch {
	case new.Kind == change.Link:
		l.flag = 'l'
	case new.Exec:
		l.flag = 'x'
	}
	n1, _, err := lookup(p.base[0], l.path)
	if err != nil {
		return err
	}
	n2, _, err := lookup(p.base[1], l.path)
	if err != nil {
		return err
	}
	r, kept := p.m.records[l.path]
	delete(p.m.records, l.path)
	unchanged := old != nil && old.Hash == new.Hash
	if !kept {
		switch {
		case unchanged:
			r.kind = same
		case p.m.implicit || p.touched[l.path] || len(p.parents) < 2:
			r.kind = madeOf
			r.p1, r.p2 = usualParents(n1, n2)
		default:
			r.kind = taken
		}
	}
	switch r.kind {
	case same:
		if l.node = n1; !unchanged {
			p.fault(fmt.Errorf("file %q: its contents are others than its first parent's", l.path))
		}
	case taken:
		l.node = n2
		if err := p.takenFrom(l.path, new); err != nil {
			return err
		}
	case trusted:
		l.node = r.p1
		p.v.out.Trusted++
	default:
		if l.node, err = p.made(l.path, &r, n1, content); err != nil {
			return err
		}
	}
	if l.node == revlog.NullNode {
		p.fault(fmt.Errorf("file %q: no revision is known", l.path))
		l.node[0] = 1 // so that there is a line, and a wrong one
	}
	p.lines = append(p.lines, l)
	return nil
}

// takenFrom makes sure that a path has what the second parent has.
func (p *proving) takenFrom(path string, new *state.Entry) error {
	if len(p.parents) < 2 {
		p.fault(fmt.Errorf("file %q: it comes from a second parent, and there is none", path))
		return nil
	}
	e, there, _, err := p.v.replay.File(p.parents[1], path)
	if err != nil {
		return err
	}
	if !there || e.Hash != new.Hash {
		p.fault(fmt.Errorf("file %q: its contents are others than its second parent's", path))
	}
	return nil
}

// made computes the node of a new file revision.
func (p *proving) made(path string, r *record, n1 revlog.Node, content func() ([]byte, error)) (revlog.Node, error) {
	b, err := content()
	if err != nil {
		return revlog.NullNode, fmt.Errorf("file %q: %w", path, err)
	}
	p.v.out.Files++
	before := string(r.before)
	switch r.kind {
	case madeOf:
		before = plainBefore(b)
	case copied:
		source, _, err := lookup(p.base[0], r.source)
		if err != nil {
			return revlog.NullNode, err
		}
		before = copyBefore(r.source, source)
		r.p1, r.p2 = revlog.NullNode, n1
	}
	if before == "" {
		return revlog.HashText(b, r.p1, r.p2), nil
	}
	p.v.buf = append(append(p.v.buf[:0], before...), b...)
	return revlog.HashText(p.v.buf, r.p1, r.p2), nil
}

// rest finds the file revisions that are new though their contents are not.
func (p *proving) rest() error {
	for path := range p.m.records {
		e, there, content, err := p.v.replay.File(p.m.state, path)
		if err != nil {
			return err
		}
		if !there {
			p.fault(fmt.Errorf("file %q: it is not here", path))
			continue
		}
		if err := p.file(&e, &e, content); err != nil {
			return err
		}
	}
	return nil
}

// manifest makes the manifest of the lines and the first parent's. With an error it gives what it could make.
func (p *proving) manifest(parents [2]revlog.Node) (*manifestText, error) {
	v, m := p.v, p.m
	slices.SortFunc(p.lines, func(a, b line) int { return strings.Compare(a.path, b.path) })
	made := &manifestText{}
	if n := len(v.spare); n > 0 {
		made.text, v.spare = v.spare[n-1], v.spare[:n-1]
	}
	differs := 0
	var err error
	made.text, err = edit(made.text, p.base[0], p.lines, func(path string) {
		if m.implicit {
			if differs > 0 {
				m.c.RawFiles = append(m.c.RawFiles, '\n')
			}
			m.c.RawFiles = append(m.c.RawFiles, path...)
		}
		differs++
	})
	if err != nil {
		return made, err
	}
	if !m.usual {
		nodes, err := parseNodes(m.manifest)
		if err != nil {
			return made, err
		}
		switch len(nodes) {
		case 0:
			if len(made.text) > 0 {
				return made, errors.New("there are files, and the manifest should have none")
			}
		case 1:
			made.node = nodes[0]
			v.out.Trusted++
		case 2:
			made.node = revlog.HashText(made.text, nodes[0], nodes[1])
		default:
			return made, errField
		}
		return made, nil
	}
	if made.node = parents[0]; differs > 0 || len(p.parents) > 1 {
		made.node = revlog.HashText(made.text, parents[0], parents[1])
	}
	return made, nil
}

// compare makes the changeset's node and compares it.
func (p *proving) compare(manifest revlog.Node) error {
	m := p.m
	var parents [2]revlog.Node
	copy(parents[:], m.parents)
	m.c.Manifest = manifest
	var got revlog.Node
	if m.text != "" {
		c, err := revlog.ParseChangeset([]byte(m.text))
		if err != nil {
			return err
		}
		if c.Manifest != manifest {
			return fmt.Errorf("what is here makes manifest %s, and it says %s", manifest, c.Manifest)
		}
		got = revlog.HashText([]byte(m.text), parents[0], parents[1])
	} else {
		var err error
		if got, p.v.buf, err = hgbridge.ChangesetNode(p.v.buf, m.c, parents[0], parents[1]); err != nil {
			return err
		}
	}
	if got != m.node {
		return fmt.Errorf("what is here makes changeset %s, with manifest %s", got, manifest)
	}
	return nil
}
