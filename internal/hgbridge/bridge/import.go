package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/oxy-vcs/oxy/internal/hgbridge"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// Options say what is imported, and how.
type Options struct {
	FS       vfs.FS
	Secret   bool    // secret changesets too
	Obsolete bool    // obsolete ones too
	Authors  Authors // who users are; the others are taken as written
	Progress repo.Progress
}

// Left is something that was not carried, or not wholly, and why.
type Left struct {
	Name string
	Err  error
}

// Report tells what an import did.
type Report struct {
	Changesets int
	Merges     int
	Settled    int // conflicts that merges opened and settled
	Files      int // that changes touch, summed up
	Bytes      int64
	Bookmarks  int // for bookmarks and heads of branches
	Tags       int
	Secret     int // changesets that were left out, being secret
	Obsolete   int // that were left out, being obsolete
	Seconds    float64
	Size       int64              // of oxy's repository afterwards, bytes
	HgSize     int64              // of Mercurial's store
	Subrepos   []hgbridge.Subrepo // of the heads
	Moved      []string           // bookmarks and tags that were made, moved or removed
	Left       []Left
}

// Import brings the history of the Mercurial repository at a path into r.
func Import(ctx context.Context, r *repo.Repo, path string, opt Options) (rep *Report, err error) {
	began := time.Now()
	hg, err := hgbridge.Open(opt.FS, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &repo.Error{Text: err.Error(), Next: "Name a Mercurial repository: a directory with .hg in it.", Err: err}
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hg.Close()) }()
	in := &importer{hg: hg, opt: opt, rep: &Report{}, uses: map[revlog.Rev]int{}}
	if err := in.scan(); err != nil {
		return nil, err
	}
	if in.known, err = loadKnown(r); err != nil {
		return nil, err
	}
	if in.im, err = r.NewImporter(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.im.Close()) }()
	if err := in.changesets(ctx); err != nil {
		return nil, err
	}
	if err := in.names(r); err != nil {
		return nil, err
	}
	if err := in.im.Finish(importKind); err != nil {
		return nil, err
	}
	s := in.im.Stats
	rep = in.rep
	rep.Changesets, rep.Merges, rep.Settled, rep.Files, rep.Bytes = s.Changes, s.Merges, s.Settled, s.Files, s.Bytes
	if rep.Changesets > 0 {
		if rep.Size, err = r.Size(); err != nil {
			return nil, err
		}
		rep.HgSize = hg.Size()
	}
	rep.Seconds = time.Since(began).Seconds()
	return rep, nil
}

// importKind is how the log of operations names an import.
const importKind = "hg import"

// importer is an import under way.
type importer struct {
	hg    *hgbridge.Repo
	im    *repo.Importer
	opt   Options
	rep   *Report
	sets  []scanned // by revision
	known known
	uses  map[revlog.Rev]int // how many new changesets stand upon one
}

func (in *importer) leave(name string, err error) {
	in.rep.Left = append(in.rep.Left, Left{name, err})
}

// isNew tells whether a changeset is to be imported.
func (in *importer) isNew(rev revlog.Rev) bool {
	s := &in.sets[rev]
	_, there := in.known[s.node]
	return !there && !s.out
}

// ahead is how many changesets may be read before they are recorded. More would hold more in memory and gain nothing.
const ahead = 16

// errStopped ends the reading when the recording failed.
var errStopped = errors.New("stopped")

// changesets records all that are new, while the next ones are read.
func (in *importer) changesets(ctx context.Context) error {
	from, total := revlog.Rev(-1), 0
	for i := range in.sets {
		rev := revlog.Rev(i)
		if !in.isNew(rev) {
			continue
		}
		if total++; from < 0 {
			from = rev
		}
		for _, p := range in.sets[i].parents() {
			in.uses[p]++
		}
	}
	if total == 0 {
		return nil
	}
	todo := make([]bool, len(in.sets))
	for i := range todo {
		todo[i] = in.isNew(revlog.Rev(i))
	}
	in.opt.Progress.Begin("Importing", int64(total), false)
	defer in.opt.Progress.End()
	reading, stop := context.WithCancel(ctx)
	next := make(chan *gathered, ahead)
	go in.read(reading, from, todo, next)
	err := in.record(next)
	stop()
	for range next { // until the reader has ended
	}
	if err != nil {
		return err
	}
	return ctx.Err() // the reader ends without a word when it is told to
}

// read reads the changesets that are to be imported.
func (in *importer) read(ctx context.Context, from revlog.Rev, todo []bool, next chan<- *gathered) {
	defer close(next)
	g := gatherer{hg: in.hg, sets: in.sets, authors: in.opt.Authors, tree: slices.Contains(in.hg.Requirements(), "treemanifest")}
	send := func(x *gathered) error {
		select {
		case next <- x:
			return nil
		case <-ctx.Done():
			return errStopped
		}
	}
	err := in.hg.Changesets(from, func(c *hgbridge.Changeset) error {
		if !todo[c.Rev] {
			return nil
		}
		x, err := g.gather(c)
		if err != nil {
			return fmt.Errorf("changeset %s: %w", c.Node, err)
		}
		return send(x)
	})
	if err = errors.Join(err, g.logs.close()); err != nil && !errors.Is(err, errStopped) {
		send(&gathered{err: err})
	}
}

// record records what was read.
func (in *importer) record(next <-chan *gathered) error {
	for x := range next {
		if x.err != nil {
			return x.err
		}
		s := &in.sets[x.rev]
		for _, p := range s.parents() {
			state, ok := in.known[in.sets[p].node]
			if !ok {
				return fmt.Errorf("changeset %s comes before its parent %s", s.node, in.sets[p].node)
			}
			x.to.Parents = append(x.to.Parents, state)
		}
		in.im.Moves(x.moves)
		state, err := in.im.Put(&x.to)
		if err != nil {
			return fmt.Errorf("changeset %s: %w", s.node, err)
		}
		in.known[s.node] = state
		for _, path := range x.lacks {
			in.leave(fmt.Sprintf("%s in %s", path, s.node), errLacked)
		}
		for i, p := range s.parents() {
			if in.uses[p]--; in.uses[p] == 0 {
				in.im.Forget(x.to.Parents[i])
			}
		}
		if in.uses[x.rev] == 0 {
			in.im.Forget(state)
		}
		in.opt.Progress.Add(1)
		if in.im.Full() {
			if err := in.im.Commit(importKind); err != nil {
				return err
			}
		}
	}
	return nil
}

var errLacked = errors.New("its content is not in Mercurial either (censored, or stored elsewhere): what stands for it is carried")
