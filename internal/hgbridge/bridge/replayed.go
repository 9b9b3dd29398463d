package bridge

import (
	"context"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/revlog"
)

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

// replayed is a changeset whose files were made again.
type replayed struct {
	m       remembered
	parents []uint32 // its parents' states
	files   []replayedFile
	lost    []string // paths that records speak of, and nothing is there
	err     error    // in place of all else
}

// replayedFile is what a changeset has at a path where it differs from its first parent, or that a record speaks of.
type replayedFile struct {
	path      string
	flag      byte
	gone      bool
	unchanged bool // the contents are the first parent's
	record    record
	usual     bool   // no record says so: its parents are as one would think
	second    bool   // of a revision taken from the second parent: the contents are what is there
	content   []byte // of a new revision; not changed any more
}

// read is a changeset with the change that it became.
type read struct {
	m   remembered
	c   *repo.Recorded
	err error // in place of all else
}

// replayer makes the files of changeset after changeset again.
type replayer struct {
	replay *repo.FileReplay
	states known
}

// readAll reads all changesets, in order, and ends the channel.
func readAll(ctx context.Context, r *repo.Repo, next chan<- *read) {
	defer close(next)
	send := func(x *read) error {
		select {
		case next <- x:
			return nil
		case <-ctx.Done():
			return errStopped
		}
	}
	err := r.EachWhole(ctx, func(c *repo.Recorded) error {
		m, ok, err := remember(c.State, c.Change)
		if err != nil || !ok {
			return err
		}
		return send(&read{m: m, c: c})
	})
	if err != nil && ctx.Err() == nil {
		send(&read{err: err})
	}
}

// all makes the files of what was read, in order, and ends the channel.
func (p *replayer) all(ctx context.Context, from <-chan *read, next chan<- *replayed) {
	defer close(next)
	for c := range from {
		x := &replayed{m: c.m, err: c.err}
		if x.err == nil {
			if err := p.changeset(x, c.c); err != nil {
				x.err = fmt.Errorf("changeset %s: %w", x.m.node, err)
			}
		}
		select {
		case next <- x:
		case <-ctx.Done():
			return
		}
		if x.err != nil {
			return
		}
	}
}

// changeset makes one.
func (p *replayer) changeset(x *replayed, c *repo.Recorded) error {
	m := &x.m
	for _, n := range m.parents {
		s, ok := p.states[n]
		if !ok || s >= m.state {
			return fmt.Errorf("its parent %s is not here", n)
		}
		x.parents = append(x.parents, s)
	}
	touched := map[string]bool{}
	if !m.implicit {
		for path := range m.c.Files() {
			touched[string(path)] = true
		}
	}
	err := p.replay.Step(c, x.parents, func(old, new *repo.ReplayedFile) error {
		if new == nil {
			x.files = append(x.files, replayedFile{path: old.Path, gone: true})
			return nil
		}
		return p.file(x, touched, old, new)
	})
	if err != nil {
		return err
	}
	// File revisions that are new though their contents are not.
	for path := range m.records {
		f, err := p.replay.File(m.state, path)
		if err != nil {
			return err
		}
		if f == nil {
			x.lost = append(x.lost, path)
			continue
		}
		if err := p.file(x, touched, f, f); err != nil {
			return err
		}
	}
	return nil
}

// file takes in what a changeset has at a path, with what its revision follows from.
func (p *replayer) file(x *replayed, touched map[string]bool, old, new *repo.ReplayedFile) (err error) {
	f := replayedFile{path: new.Path}
	if old != nil {
		if f.unchanged, err = new.Holds(old); err != nil {
			return err
		}
	}
	switch {
	case new.Kind == change.Link:
		f.flag = 'l'
	case new.Exec:
		f.flag = 'x'
	}
	kept := false
	f.record, kept = x.m.records[f.path]
	delete(x.m.records, f.path)
	if !kept {
		switch {
		case f.unchanged:
			f.record.kind = same
		case x.m.implicit || touched[f.path] || len(x.parents) < 2:
			f.record.kind, f.usual = madeOf, true
		default:
			f.record.kind = taken
		}
	}
	switch f.record.kind {
	case same, trusted:
	case taken:
		if len(x.parents) < 2 {
			break
		}
		theirs, err := p.replay.File(x.parents[1], f.path)
		if err != nil {
			return err
		}
		if theirs != nil {
			if f.second, err = new.Holds(theirs); err != nil {
				return err
			}
		}
	default:
		if f.content, err = new.Content(); err != nil {
			return err
		}
	}
	x.files = append(x.files, f)
	return nil
}
