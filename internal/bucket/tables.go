package bucket

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
)

// tableReader gives tables of packs.
type tableReader interface {
	read(ctx context.Context, p *Pack) (Table, error)
}

// maxCached bounds the moves of all tables that are kept: 20 MB.
const maxCached = 1 << 18

// tableCache reads tables as they are asked for, and keeps some: what a push looks at its next try or its merge looks at again.
type tableCache struct {
	b     *Remote
	kept  map[Key]Table
	moves int
}

func (c *tableCache) read(ctx context.Context, p *Pack) (Table, error) {
	if t, ok := c.kept[p.Key]; ok {
		return t, nil
	}
	data := p.Inline
	if data == nil {
		a := c.b.ahead(ctx, c.b.pieces([]extent{{p.Key, p.Data, p.Table}}))
		defer a.close()
		var err error
		if data, err = readTable(a, p); err != nil {
			return nil, err
		}
	}
	t, err := DecodeTable(data, p.Data, p.From, p.To)
	if err != nil {
		return nil, err
	}
	if n := t.moves(); c.moves+n <= maxCached {
		c.kept[p.Key] = t
		c.moves += n
	}
	return t, nil
}

func readTable(r io.Reader, p *Pack) ([]byte, error) {
	var out bytes.Buffer
	if n, err := out.ReadFrom(io.LimitReader(r, int64(p.Table))); err != nil {
		return nil, fmt.Errorf("read the table of pack %s: %w", p.Key, err)
	} else if uint64(n) != p.Table || xxh3.Hash(out.Bytes()) != p.Check {
		return nil, malformed("the table of pack %s was altered", p.Key)
	}
	return out.Bytes(), nil
}

// tablesBackward reads the tables of all packs from the last to the first, some ahead: one after the other, a clone would wait for each.
type tablesBackward struct {
	a    *ahead
	left []*Pack
}

func (b *Remote) tablesBackward(ctx context.Context, r *Root) *tablesBackward {
	t := &tablesBackward{}
	var extents []extent
	for i := range slices.Backward(r.Packs) {
		if p := &r.Packs[i]; p.Inline == nil {
			t.left = append(t.left, p)
			extents = append(extents, extent{p.Key, p.Data, p.Table})
		}
	}
	t.a = b.ahead(ctx, b.pieces(extents))
	return t
}

func (t *tablesBackward) read(_ context.Context, p *Pack) (Table, error) {
	data := p.Inline
	for data == nil {
		next := t.left[0]
		t.left = t.left[1:]
		read, err := readTable(t.a, next)
		if err != nil {
			return nil, err
		}
		if next == p {
			data = read
		}
	}
	return DecodeTable(data, p.Data, p.From, p.To)
}

func (t *tablesBackward) close() { t.a.close() }
