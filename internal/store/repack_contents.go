package store

import (
	"cmp"
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
	size := int64(0) // of the group
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
	for _, c := range order {
		n := c.Blob
		if out[n] {
			continue
		}
		r, err := p.blob(n)
		if err != nil {
			return err
		}
		if r.list {
			if err := p.list(r); err != nil {
				return err
			}
			continue
		}
		limit := int64(packedBlobs)
		if c.Same && r.size >= packedLarge {
			limit = maxRaw
		}
		if size+r.size > limit || len(group) == maxBlobItems {
			if err := flush(); err != nil {
				return err
			}
		}
		group, size = append(group, r), size+r.size
	}
	return flush()
}

// Placed is a content in the order of contents.
type Placed struct {
	Blob uint32 // its number
	Same bool   // it is of the same file as the one before it
}

// contentOrder is the order asked for, the chunks of a large content behind it, and at the end by their numbers what it does
// not name, as what only views have.
func (p *packPlan) contentOrder() ([]Placed, error) {
	total := p.t.n[blobsCol]
	order := make([]Placed, 0, total)
	placed, named := make([]bool, total), make([]bool, total)
	put := func(c Placed) {
		if !placed[c.Blob] {
			placed[c.Blob] = true
			order = append(order, c)
		}
	}
	var list []Placed
	if p.opt.Order != nil {
		var err error
		if list, err = p.opt.Order(); err != nil {
			return nil, err
		}
	}
	for _, c := range list {
		if c.Blob >= total || named[c.Blob] {
			return nil, errContentOrder
		}
		named[c.Blob] = true
		put(c)
		rec, _, ok := p.s.record(blobsCol, c.Blob)
		if !ok {
			return nil, p.s.missing()
		}
		r := parseBlobRecord(rec)
		if !r.list {
			continue
		}
		err := p.s.eachChunk(r, func(chunk blobRecord) error {
			n, ok := p.s.BlobNumber(chunk.hash)
			if !ok {
				return p.s.missing()
			}
			put(Placed{n, true})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for n, is := range placed {
		if !is {
			order = append(order, Placed{Blob: uint32(n)})
		}
	}
	return order, nil
}

// fullFrames copies the frames of a base that are full and of which everything stays, and marks what they hold.
func (p *packPlan) fullFrames(out []bool) error {
	if p.anew {
		return nil
	}
	bad := p.replaced()
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
			whole = whole && !out[n+i] && bad.blobs[n+i] == (change.Hash{})
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
	f, err := cmp.Or(r.from, p.s).frame(r.at)
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
