package store

import (
	"errors"

	"github.com/oxy-vcs/oxy/internal/change"
)

// anewShare is what share of the log must lie outside a base for its contents to be put in order all anew. Until then the
// frames of the base stay as they are and what is new is packed behind them: a repository that grows slowly does not write
// all of it each time, and like does not drift far from like.
const anewShare = 4

var errContentOrder = errors.New("an order of contents names one twice, or one that is not there")

// contents divides the contents that stay into frames: those of a base that are full stay as they are, the others follow
// in the order asked for.
func (p *packPlan) contents() error {
	total := p.t.n[blobsCol]
	order, err := p.contentOrder()
	if err != nil {
		return err
	}
	out := make([]bool, total) // packed already, or dropped
	if p.kept != nil {
		for n, k := range p.kept {
			out[n] = !k
		}
	}
	if err := p.fullFrames(out); err != nil {
		return err
	}
	var group []blobRecord
	size := int64(0)
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		records := group
		group, size = nil, 0
		return p.emit(&packJob{records: int64(len(records)), make: func(out []byte) ([]byte, error) {
			return p.s.packBlobs(out, records)
		}})
	}
	for _, n := range order {
		if out[n] {
			continue
		}
		rec, _, ok := p.s.record(blobsCol, n)
		if !ok {
			return p.s.missing()
		}
		r := parseBlobRecord(rec)
		if r.list {
			if err := p.list(r); err != nil {
				return err
			}
			continue
		}
		if size+r.size > packedBlobs || len(group) == maxBlobItems {
			if err := flush(); err != nil {
				return err
			}
		}
		group, size = append(group, r), size+r.size
	}
	return flush()
}

// contentOrder is the order asked for, and behind it, by their numbers, what it does not name: chunks, and what only views have.
func (p *packPlan) contentOrder() ([]uint32, error) {
	total := p.t.n[blobsCol]
	order := make([]uint32, 0, total)
	named := make([]bool, total)
	if p.opt.Order != nil {
		list, err := p.opt.Order()
		if err != nil {
			return nil, err
		}
		for _, n := range list {
			if n >= total || named[n] {
				return nil, errContentOrder
			}
			named[n] = true
		}
		order = append(order, list...)
	}
	for n, is := range named {
		if !is {
			order = append(order, uint32(n))
		}
	}
	return order, nil
}

// fullFrames copies the frames of a base that are full and of which everything stays, and marks what they hold.
func (p *packPlan) fullFrames(out []bool) error {
	if p.anew {
		return nil
	}
	for n := uint32(0); n < uint32(len(out)); n++ {
		rec, _, ok := p.s.record(blobsCol, n)
		if !ok {
			return p.s.missing()
		}
		r := parseBlobRecord(rec)
		f, whole := p.asIs(r.at, packedBlobs/2)
		if !whole || r.list || f.kind != kindBlobs || r.item != 0 || f.items > uint32(len(out))-n {
			continue
		}
		for i := range f.items {
			whole = whole && !out[n+i]
		}
		if !whole {
			continue
		}
		for i := range f.items {
			out[n+i] = true
		}
		if err := p.copy(f, int64(f.items)); err != nil {
			return err
		}
		n += f.items - 1
	}
	return nil
}

// list copies the frame of a list of chunks, which has nothing to compress.
func (p *packPlan) list(r blobRecord) error {
	f, err := p.s.frame(r.at)
	if err != nil {
		return err
	}
	if f.kind != kindList || change.Hash(f.table[:32]) != r.hash {
		return p.s.damaged(r.at, errBlob)
	}
	return p.copy(f, 1)
}

func (p *packPlan) copy(f frame, records int64) error {
	return p.emit(&packJob{records: records, make: func(out []byte) ([]byte, error) { return copyFrame(out, f), nil }})
}
