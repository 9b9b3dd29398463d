package history

import (
	"context"
	"sync"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/odb"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
)

// ReadOptions say what a pipeline reads.
type ReadOptions struct {
	// Workers is how many goroutines read ahead; 0 is one. Each has two readers with caches of their own.
	Workers int
	// Skip, when not nil, tells of blobs that the taker has no use for. Several goroutines call it.
	Skip func(id object.ID) bool
	// NoBlobs leaves contents out.
	NoBlobs bool
	// Missing has a row tell of a content that the repository does not have, in place of ending with the commit there.
	Missing bool
}

// Step is a commit and what it changes, or a part of that: a commit that changes more than fits comes in several steps
// with the same Index, of which all but the last have More set.
type Step struct {
	Index  int // in the order
	ID     object.ID
	Raw    []byte        // of the commit
	Commit object.Commit // Rest lies in Raw
	// Parents are the commits that it is compared with: its parents without those that Walk found bad.
	Parents []object.ID
	Rows    []Row
	More    bool
	// Err is what is wrong with the commit: a tree that is missing or not taken, a path that is refused, a blob that
	// cannot be read. Rows up to there may have come.
	Err error
}

// Row is a path at which the commit's tree differs from a parent's, as tree.Walker gives it. A commit without parents is
// compared with the empty tree.
type Row struct {
	Path  []byte
	Sides []tree.Side // the commit's first, then those of Parents
	// Blob is the content on the commit's side, and HasBlob whether it was read: a file or link that no parent has at
	// this path, unless ReadOptions leave it out.
	Blob    []byte
	HasBlob bool
	Missing bool // it should have been read, and is not there
}

const (
	// batchCommits is how many commits one worker reads in a row: with fewer, the bases that two workers read are the
	// same ones.
	batchCommits = 64
	// partBytes is what a part holds before it is handed on; two for each worker are under way, and one is taken.
	partBytes = 4 << 20
)

// Pipeline reads the commits of an order ahead of whoever takes them, who is one goroutine.
type Pipeline struct {
	order  *Order
	opt    ReadOptions
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	out    []chan *part // of each worker; batch b is worker b modulo their number's
	rooms  chan []byte  // given back

	batches int
	batch   int // whose parts are taken
	now     *part
	step    int
	err     error
}

// part is what goes from a worker to the taker at once.
type part struct {
	steps []Step
	rooms [][]byte // where its bytes lie
	bytes int
	last  bool // of its batch
}

// Read starts a pipeline over the commits of an order from the one with index from on. Close must be called.
func Read(ctx context.Context, db *odb.DB, order *Order, from int, opt ReadOptions) *Pipeline {
	opt.Workers = max(opt.Workers, 1)
	p := &Pipeline{order: order, opt: opt, now: &part{}, rooms: make(chan []byte, maxRooms)}
	p.batches = max(0, order.Len()-from+batchCommits-1) / batchCommits
	p.ctx, p.cancel = context.WithCancel(ctx)
	for i := range opt.Workers {
		out := make(chan *part, 1)
		p.out = append(p.out, out)
		w := newWorker(p, db, out)
		p.wg.Go(func() { w.run(from, i) })
	}
	return p
}

// Next is the next step, valid until the call after; nil at the end and when the context ended, which Err tells.
func (p *Pipeline) Next() *Step {
	for p.err == nil && p.batch < p.batches {
		if p.step < len(p.now.steps) {
			p.step++
			return &p.now.steps[p.step-1]
		}
		p.recycle()
		select {
		case p.now = <-p.out[p.batch%len(p.out)]:
			p.step = 0
			if p.now.last {
				p.batch++
			}
		case <-p.ctx.Done():
			p.err = context.Cause(p.ctx)
		}
	}
	if p.err == nil && p.step < len(p.now.steps) { // of the last batch
		p.step++
		return &p.now.steps[p.step-1]
	}
	return nil
}

// Err is why Next gave nil before the end.
func (p *Pipeline) Err() error { return p.err }

// recycle gives the rooms of a part that was taken back to the workers.
func (p *Pipeline) recycle() {
	for _, room := range p.now.rooms {
		select {
		case p.rooms <- room:
		default:
		}
	}
	p.now = &part{}
	p.step = 0
}

// Close stops the workers and waits for them.
func (p *Pipeline) Close() {
	p.cancel()
	p.wg.Wait()
}
