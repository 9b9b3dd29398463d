package bridge

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/revlog"
)

// Verified tells what was proved.
type Verified struct {
	Changesets int
	Files      int // file revisions whose nodes were computed
	Trusted    int // nodes of files and manifests that were taken as they are: nothing here makes them
	Faults     []Left
}

// keptReplay is how many bytes of texts and weaves a proof keeps: as many as the files of a large repository have.
const keptReplay = 256 << 20

// Verify makes the files of all imported states again from their changes, and from these Mercurial's own nodes of file revisions,
// manifests and changesets.
func Verify(ctx context.Context, r *repo.Repo, progress repo.Progress) (*Verified, error) {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	p := &replayer{replay: r.NewFileReplay(reading, keptReplay), states: known{}}
	v := &verifier{out: &Verified{}, uses: map[uint32]int{}, manifests: map[uint32]*manifestText{}}
	err := r.EachRecorded(0, func(s uint32, c *change.Change) error {
		m, ok, err := remember(s, c)
		if err != nil || !ok {
			return err
		}
		p.states[m.node] = s
		for _, n := range m.parents {
			if n, ok := p.states[n]; ok {
				p.replay.Expect(n)
				v.uses[n]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	progress.Begin("Verifying", int64(len(p.states)), false)
	defer progress.End()
	// One reads, one makes the files, one proves what was made.
	source, next := make(chan *read, ahead), make(chan *replayed, ahead)
	go readAll(reading, r, source)
	go p.all(reading, source, next)
	for x := range next {
		if err = x.err; err == nil {
			progress.Add(1)
			err = v.changeset(x)
		}
		if err != nil {
			break
		}
	}
	stop()
	for range next { // until the others have ended
	}
	for range source {
	}
	if err == nil {
		err = ctx.Err()
	}
	return v.out, err
}

// verifier proves changeset after changeset. It does not look into the repository, which another goroutine reads meanwhile.
type verifier struct {
	out       *Verified
	uses      map[uint32]int           // how many changesets that come stand upon a state
	manifests map[uint32]*manifestText // of the states that are stood upon
	spare     [][]byte                 // of those that are not any more
	buf       []byte
}

// proving is a changeset under way.
type proving struct {
	v      *verifier
	m      *remembered
	base   [2][]byte // the manifests of the parents
	lines  []line
	faults []error
}

// changeset proves one.
func (v *verifier) changeset(x *replayed) error {
	m := &x.m
	p := proving{v: v, m: m}
	var nodes [2]revlog.Node
	for i, s := range x.parents {
		held := v.manifests[s]
		if held == nil {
			return fmt.Errorf("changeset %s: its parent %s could not be made", m.node, m.parents[i])
		}
		p.base[i], nodes[i] = held.text, held.node
	}
	for i := range x.files {
		if err := p.file(&x.files[i]); err != nil {
			return fmt.Errorf("changeset %s: %w", m.node, err)
		}
	}
	for _, path := range x.lost {
		p.fault(fmt.Errorf("file %q: it is not here", path))
	}
	made, err := p.manifest(nodes)
	if err != nil {
		p.fault(err)
	}
	v.manifests[m.state] = made
	v.let(x.parents, m.state)
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

// let lets go of the manifests that no changeset that comes stands upon.
func (v *verifier) let(parents []uint32, s uint32) {
	unused(v.uses, parents, s, func(n uint32) {
		if held := v.manifests[n]; held != nil {
			v.spare = append(v.spare, held.text[:0])
			delete(v.manifests, n)
		}
	})
}

// unused counts that a changeset was made upon its parents, and calls drop for what no other that comes stands upon.
func unused(uses map[uint32]int, parents []uint32, s uint32, drop func(n uint32)) {
	for _, n := range parents {
		if uses[n]--; uses[n] == 0 {
			drop(n)
		}
	}
	if uses[s] == 0 {
		drop(s)
	}
}

// file finds the file revision at a path that differs from the first parent.
func (p *proving) file(f *replayedFile) error {
	l := line{path: f.path, flag: f.flag}
	if f.gone {
		p.lines = append(p.lines, l)
		return nil
	}
	n1, _, err := lookup(p.base[0], l.path)
	if err != nil {
		return err
	}
	n2, _, err := lookup(p.base[1], l.path)
	if err != nil {
		return err
	}
	r := &f.record
	if f.usual {
		r.p1, r.p2 = usualParents(n1, n2)
	}
	switch r.kind {
	case same:
		if l.node = n1; !f.unchanged {
			p.fault(fmt.Errorf("file %q: its contents are others than its first parent's", l.path))
		}
	case taken:
		switch l.node = n2; {
		case len(p.m.parents) < 2:
			p.fault(fmt.Errorf("file %q: it comes from a second parent, and there is none", l.path))
		case !f.second:
			p.fault(fmt.Errorf("file %q: its contents are others than its second parent's", l.path))
		}
	case trusted:
		l.node = r.p1
		p.v.out.Trusted++
	default:
		if l.node, err = p.made(l.path, r, n1, f.content); err != nil {
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

// made computes the node of a new file revision.
func (p *proving) made(path string, r *record, n1 revlog.Node, b []byte) (revlog.Node, error) {
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

// manifest makes the manifest of the lines and the first parent's. With an error it gives what it could make.
func (p *proving) manifest(parents [2]revlog.Node) (*manifestText, error) {
	v, m := p.v, p.m
	sortLines(p.lines)
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
	if made.node = parents[0]; differs > 0 || len(m.parents) > 1 {
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
