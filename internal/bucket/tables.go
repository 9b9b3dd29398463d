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

// tablesAtOnce is how many tables are asked for side by side.
const tablesAtOnce = 32

// tablesBackward reads tables from the last pack to the first, some ahead and more the further it goes: one after the other, who has been away for long would
// wait for each.
type tablesBackward struct {
	b     *Remote
	left  []*Pack // that were not asked for
	asked []*Pack
	a     *ahead // of those
	batch int
}

func (b *Remote) tablesBackward(r *Root, batch int) *tablesBackward {
	t := &tablesBackward{b: b, batch: batch}
	for i := range slices.Backward(r.Packs) {
		if p := &r.Packs[i]; p.Inline == nil {
			t.left = append(t.left, p)
		}
	}
	return t
}

func (t *tablesBackward) read(ctx context.Context, p *Pack) (Table, error) {
	data := p.Inline
	for data == nil {
		if len(t.asked) == 0 {
			t.ask(ctx, p)
		}
		next := t.asked[0]
		t.asked = t.asked[1:]
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

// ask begins to read the tables of a pack, and of some before it.
func (t *tablesBackward) ask(ctx context.Context, p *Pack) {
	t.close()
	for t.left[0] != p {
		t.left = t.left[1:]
	}
	n := min(t.batch, len(t.left))
	t.asked, t.left = t.left[:n], t.left[n:]
	t.batch = min(2*t.batch, tablesAtOnce)
	var extents []extent
	for _, p := range t.asked {
		extents = append(extents, extent{p.Key, p.Data, p.Table})
	}
	t.a = t.b.ahead(ctx, t.b.pieces(extents))
}

func (t *tablesBackward) close() {
	if t.a != nil {
		t.a.close()
	}
}
