package history

import (
	"bytes"
	"errors"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
)

const (
	// roomBytes is what is allocated at once for small contents, and used again: zeroing gigabytes is not free.
	roomBytes = 256 << 10
	// minRoom is what is left of a room when the next begins.
	minRoom = 16 << 10
	// maxRooms bounds the rooms that lie ready.
	maxRooms = 64
	// rowBytes is what a row weighs beside its path, sides and content, and sideBytes a side.
	rowBytes  = 96
	sideBytes = 36
)

// errStopped ends a worker's walk when the pipeline is closed.
var errStopped = errors.New("stopped")

// worker reads batches of commits.
type worker struct {
	p       *Pipeline
	history *odb.Reader // of commits and trees, which large blobs would push out of the cache
	blobs   *odb.Reader
	trees   *tree.Walker

	out   chan<- *part
	part  *part
	step  Step
	rows  []Row
	sides []tree.Side
	room  []byte // its length is what is used
	ids   []object.ID
}

func newWorker(p *Pipeline, db *odb.DB, out chan<- *part) *worker {
	w := &worker{p: p, history: db.NewReader(), blobs: db.NewReader(), out: out}
	w.trees = tree.NewWalker(p.order.format, w.history)
	return w
}

// run reads the batches that fall to worker number i.
func (w *worker) run(from, i int) {
	w.begin()
	n := w.p.order.Len()
	for start := from + i*batchCommits; start < n; start += batchCommits * w.p.opt.Workers {
		for at := start; at < min(start+batchCommits, n); at++ {
			if !w.commit(at) {
				return
			}
		}
		w.part.last = true
		if !w.send() {
			return
		}
	}
}

func (w *worker) begin() {
	w.part = &part{}
	w.rows, w.sides, w.room = nil, nil, nil
}

// send hands the part on and begins another; false when nobody takes it.
func (w *worker) send() bool {
	select {
	case w.out <- w.part:
		w.begin()
		return true
	case <-w.p.ctx.Done():
		return false
	}
}

// commit adds the steps of one commit.
func (w *worker) commit(at int) bool {
	w.step = Step{Index: at, ID: w.p.order.ID(at)}
	err := w.read()
	if err == nil {
		err = w.walk(at)
	}
	if err == errStopped {
		return false
	}
	w.step.Err = err
	w.add()
	return w.part.bytes < partBytes || w.send()
}

// add ends the step as far as it has come.
func (w *worker) add() {
	w.step.Rows = w.rows[:len(w.rows):len(w.rows)]
	w.part.steps = append(w.part.steps, w.step)
	w.rows = w.rows[len(w.rows):]
	w.part.bytes += rowBytes
}

func (w *worker) read() error {
	_, raw, err := w.history.Read(w.step.ID, w.space())
	if err != nil {
		return err
	}
	w.step.Raw = w.keep(raw)
	w.step.Commit, err = object.ParseCommit(w.p.order.format, w.step.Raw, nil)
	return err
}

// walk adds the rows of a commit.
func (w *worker) walk(at int) error {
	o := w.p.order
	w.ids = append(w.ids[:0], w.step.Commit.Tree)
	c := &o.commits[o.order[at]]
	for _, m := range o.parents[c.first : c.first+c.count] {
		parent := &o.commits[m]
		id, root := o.numbers.id(m), parent.tree
		if parent.state == broken {
			continue
		}
		if parent.state == known {
			read, err := readCommit(w.history, o.format, id, nil)
			if err != nil {
				return err
			}
			root = read.Tree
		}
		w.step.Parents = append(w.step.Parents, id)
		w.ids = append(w.ids, root)
	}
	if len(w.ids) == 1 {
		w.ids = append(w.ids, object.ID{})
	}
	return w.trees.Walk(w.ids, w.row)
}

func (w *worker) row(path []byte, sides []tree.Side) error {
	if w.part.bytes >= partBytes {
		if err := w.splitStep(); err != nil {
			return err
		}
	}
	sides = sides[:1+len(w.step.Parents)]
	w.part.bytes += rowBytes + sideBytes*len(sides)
	start := len(w.sides)
	w.sides = append(w.sides, sides...)
	r := Row{Path: w.keep(append(w.space(), path...)), Sides: w.sides[start:len(w.sides):len(w.sides)]}
	if w.wants(sides) {
		_, blob, err := w.blobs.Read(sides[0].ID, w.space())
		switch {
		case err == nil:
			r.Blob, r.HasBlob = w.keep(blob), true
		case w.p.opt.Missing && errors.Is(err, odb.ErrMissing):
			r.Missing = true
		default:
			return err
		}
	}
	w.rows = append(w.rows, r)
	return nil
}

// wants tells whether the content at the commit's side is read.
func (w *worker) wants(sides []tree.Side) bool {
	switch sides[0].Mode.Bare() {
	case object.ModeFile, object.ModeExec, object.ModeGroup, object.ModeLink:
	default:
		return false
	}
	for _, s := range sides[1:] {
		if s.ID == sides[0].ID {
			return false
		}
	}
	return !w.p.opt.NoBlobs && (w.p.opt.Skip == nil || !w.p.opt.Skip(sides[0].ID))
}

// splitStep hands on what has been read of a commit. What the next step says of the commit must lie in its own part.
func (w *worker) splitStep() error {
	w.step.More = true
	w.add()
	if !w.send() {
		return errStopped
	}
	w.step.More = false
	w.step.Raw = bytes.Clone(w.step.Raw)
	c, err := object.ParseCommit(w.p.order.format, w.step.Raw, w.step.Commit.Parents[:0])
	w.step.Commit = c
	return err
}

// space is where the next bytes may be appended.
func (w *worker) space() []byte {
	if cap(w.room)-len(w.room) < minRoom {
		select {
		case w.room = <-w.p.rooms:
			w.room = w.room[:0]
		default:
			w.room = make([]byte, 0, roomBytes)
		}
		w.part.rooms = append(w.part.rooms, w.room)
	}
	return w.room[len(w.room):]
}

// keep takes over what was appended to space, or had to be allocated because it was more.
func (w *worker) keep(b []byte) []byte {
	w.part.bytes += len(b)
	if n := len(w.room); len(b) > 0 && cap(b) > 0 && cap(w.room) > n && &w.room[:n+1][n] == &b[0] {
		w.room = w.room[:n+len(b)]
	}
	return b[:len(b):len(b)]
}
