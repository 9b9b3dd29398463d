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
	proved := 0
	for x := range next {
		if err = x.err; err == nil {
			progress.Add(1)
			err = v.changeset(x)
		}
		if err != nil {
			break
		}
		proved++
		p.replay.Passed(proved)
	}
	stop()
	for range next { // until the others have ended
	}
	for range source {
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		v.hash(nil)
		v.end()
	}
	return v.out, err
}

// verifier proves changeset after changeset. It does not look into the repository, which another goroutine reads meanwhile. A manifest is
// hashed beside the files of the changeset that comes next, so that there are two texts to hash at once.
type verifier struct {
	out       *Verified
	uses      map[uint32]int           // how many changesets that come stand upon a state
	manifests map[uint32]*manifestText // of the states that are stood upon
	spare     [][]byte                 // of those that are not any more
	buf       []byte
	due       *proving // that waits for its manifest's node
}

// proving is a changeset under way.
type proving struct {
	v        *verifier
	m        *remembered
	parents  []uint32         // states
	base     [2]*manifestText // of the parents
	lines    []line
	made     *manifestText
	manifest *revlog.Hashing // what is to be hashed of it, nil for nothing
	faults   []error
}

// changeset proves one, but for its manifest and what hangs on it.
func (v *verifier) changeset(x *replayed) error {
	m := &x.m
	p := &proving{v: v, m: m, parents: x.parents, base: [2]*manifestText{{}, {}}}
	for i, s := range x.parents {
		if p.base[i] = v.manifests[s]; p.base[i] == nil {
			return fmt.Errorf("changeset %s: its parent %s could not be made", m.node, m.parents[i])
		}
	}
	for i := range x.files {
		if err := p.file(&x.files[i]); err != nil {
			return fmt.Errorf("changeset %s: %w", m.node, err)
		}
	}
	for _, path := range x.lost {
		p.fault(fmt.Errorf("file %q: it is not here", path))
	}
	v.hash(p.lines)
	v.end()
	if err := p.edit(); err != nil {
		p.fault(err)
	}
	v.manifests[m.state] = p.made
	v.due = p
	return nil
}

// hash finds the nodes of files that are new, and of the manifest that waits for its own.
func (v *verifier) hash(lines []line) {
	var texts []*revlog.Hashing
	if v.due != nil && v.due.manifest != nil {
		texts = append(texts, v.due.manifest)
	}
	for i := range lines {
		if lines[i].hash != nil {
			texts = append(texts, lines[i].hash)
		}
	}
	revlog.HashTexts(texts)
	for i := range lines {
		if l := &lines[i]; l.hash != nil {
			l.node, l.hash = l.hash.Node, nil
		}
	}
}

// end proves of the changeset that waits what was left.
func (v *verifier) end() {
	p := v.due
	if p == nil {
		return
	}
	v.due = nil
	if p.manifest != nil {
		p.made.node = p.manifest.Node
	}
	if err := p.compare(p.made.node); err != nil {
		p.fault(err)
	}
	v.let(p.parents, p.m.state)
	if len(p.faults) == 0 {
		v.out.Changesets++
		return
	}
	v.out.Faults = append(v.out.Faults, Left{p.m.node.String(), errors.Join(p.faults...)})
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
	n1, _, err := lookup(p.base[0].text, l.path)
	if err != nil {
		return err
	}
	n2, _, err := lookup(p.base[1].text, l.path)
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
		if l.hash, err = p.revision(l.path, r, n1, f.content); err != nil {
			return err
		}
	}
	if l.node == revlog.NullNode && l.hash == nil {
		p.fault(fmt.Errorf("file %q: no revision is known", l.path))
		l.node[0] = 1 // so that there is a line, and a wrong one
	}
	p.lines = append(p.lines, l)
	return nil
}

// revision is what the node of a new file revision is made of.
func (p *proving) revision(path string, r *record, n1 revlog.Node, b []byte) (*revlog.Hashing, error) {
	p.v.out.Files++
	before := string(r.before)
	switch r.kind {
	case madeOf:
		before = plainBefore(b)
	case copied:
		source, _, err := lookup(p.base[0].text, r.source)
		if err != nil {
			return nil, err
		}
		before = copyBefore(r.source, source)
		r.p1, r.p2 = revlog.NullNode, n1
	}
	if before != "" {
		b = append([]byte(before), b...)
	}
	return &revlog.Hashing{Text: b, P1: r.p1, P2: r.p2}, nil
}

// edit makes the manifest of the lines and the first parent's, and says what its node follows from. With an error there is what could be made.
func (p *proving) edit() error {
	v, m := p.v, p.m
	sortLines(p.lines)
	p.made = &manifestText{}
	if n := len(v.spare); n > 0 {
		p.made.text, v.spare = v.spare[n-1], v.spare[:n-1]
	}
	differs := 0
	var err error
	p.made.text, err = edit(p.made.text, p.base[0].text, p.lines, func(path string) {
		if m.implicit {
			if differs > 0 {
				m.c.RawFiles = append(m.c.RawFiles, '\n')
			}
			m.c.RawFiles = append(m.c.RawFiles, path...)
		}
		differs++
	})
	if err != nil {
		return err
	}
	if !m.usual {
		nodes, err := parseNodes(m.manifest)
		if err != nil {
			return err
		}
		switch len(nodes) {
		case 0:
			if len(p.made.text) > 0 {
				return errors.New("there are files, and the manifest should have none")
			}
		case 1:
			p.made.node = nodes[0]
			v.out.Trusted++
		case 2:
			p.manifest = &revlog.Hashing{Text: p.made.text, P1: nodes[0], P2: nodes[1]}
		default:
			return errField
		}
		return nil
	}
	if p.made.node = p.base[0].node; differs > 0 || len(m.parents) > 1 {
		p.manifest = &revlog.Hashing{Text: p.made.text, P1: p.base[0].node, P2: p.base[1].node}
	}
	return nil
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
