package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/oxy-vcs/oxy/internal/change"
)

// PackWeaves stores the weaves of one file anew, and says of each with Moved where it is now. heads are the last links of its
// chains, the one of the latest tree first.
type PackWeaves func(p *WeavePacker, heads []Ref) error

// WeavePacker is what PackWeaves reads from and writes to.
type WeavePacker struct {
	c     *compactor
	plain *zstd.Encoder
	// with compresses with the dictionary at.
	at   Ref
	with *zstd.Encoder
}

// Get reads a link that is there already.
func (p *WeavePacker) Get(ref Ref) (prev Ref, payload []byte, err error) {
	return p.c.from.GetWeave(ref)
}

// Moved says that the link at old is stored anew at ref.
func (p *WeavePacker) Moved(old, ref Ref) { p.c.moved[old] = ref }

// Put stores a link, compressed if that makes it smaller. prev is the one that it adds to and dict one that has much of what
// it has and no dictionary itself, both of those stored anew; 0 is none.
func (p *WeavePacker) Put(prev, dict Ref, payload []byte) (Ref, error) {
	if len(payload) > maxBlock-maxRefSize {
		return 0, fmt.Errorf("%d bytes, more than %d", len(payload), maxBlock-maxRefSize)
	}
	e, err := p.encoder(dict)
	if err != nil {
		return 0, err
	}
	link := packedLink{prev: prev, dict: dict, raw: len(payload), data: e.EncodeAll(payload, nil)}
	var ref Ref
	if len(link.data)+maxRefSize < len(payload) {
		ref = p.c.to.putPacked(&link)
	} else if ref, err = p.c.to.putLink(kindWeave, prev, payload); err != nil {
		return 0, err
	}
	return ref, p.c.flush()
}

func (p *WeavePacker) encoder(dict Ref) (e *zstd.Encoder, err error) {
	o := []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(packedWindow)}
	switch {
	case dict == 0:
		if p.plain == nil {
			p.plain, err = zstd.NewWriter(nil, append(o, zstd.WithEncoderLevel(zstd.SpeedBetterCompression))...)
		}
		return p.plain, err
	case dict == p.at:
		return p.with, nil
	}
	_, text, err := p.c.to.weaveLink(dict, true)
	if err != nil {
		return nil, err
	}
	p.with, err = zstd.NewWriter(nil, append(o, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderDictRaw(packedDict, text))...)
	p.at = dict
	return p.with, err
}

// packWeaves has all weaves of the trees stored anew, file by file. roots are those that are kept, the latest last.
func (c *compactor) packWeaves(roots []StateRoot, pack PackWeaves) error {
	h := weaveHeads{c: c, seen: map[Ref]bool{}, of: map[change.FileID]int{}}
	for _, r := range slices.Backward(roots) {
		if err := h.tree(&r.Root); err != nil {
			return err
		}
	}
	p := &WeavePacker{c: c}
	defer func() {
		for _, e := range []*zstd.Encoder{p.plain, p.with} {
			if e != nil {
				_ = e.Close()
			}
		}
	}()
	for _, heads := range h.heads {
		if err := pack(p, heads); err != nil {
			return err
		}
	}
	return nil
}

// weaveHeads gathers the weaves of trees, each page read once.
type weaveHeads struct {
	c     *compactor
	seen  map[Ref]bool // pages, and weaves
	of    map[change.FileID]int
	heads [][]Ref
}

func (h *weaveHeads) add(file change.FileID, weave Ref) {
	if weave == 0 || h.seen[weave] {
		return
	}
	h.seen[weave] = true
	i, ok := h.of[file]
	if !ok {
		i = len(h.heads)
		h.of[file], h.heads = i, append(h.heads, nil)
	}
	h.heads[i] = append(h.heads[i], weave)
}

func (h *weaveHeads) tree(r *Root) error {
	s := &h.c.scratch
	paths := eachLeaf(h, &pathLayout, r.Paths, maxLevel+1, func(ref Ref, payload []byte) bool {
		entries, ok := decodeEntries(ref, payload, h.c.entries[:0], s)
		for i := range entries {
			h.add(entries[i].File, entries[i].Weave)
		}
		return ok
	})
	files := eachLeaf(h, &fileLayout, r.Files, maxLevel+1, func(ref Ref, payload []byte) bool {
		list, ok := decodeFiles(ref, payload, h.c.files[:0], s)
		for i := range list {
			h.add(list[i].file, list[i].weave)
		}
		return ok
	})
	return errors.Join(paths, files, h.disputes(r.Disputes))
}

func (h *weaveHeads) disputes(ref Ref) error {
	links, err := h.c.from.links(kindDisputes, ref)
	if err != nil {
		return err
	}
	for _, l := range links {
		list, ok := decodeDisputes(l.ref, l.payload, nil)
		if !ok {
			return damaged(l.ref, "has no disputes")
		}
		for i := range list {
			if e := list[i].Hidden; e != nil {
				h.add(list[i].File, e.Weave)
			}
		}
	}
	return nil
}

// eachLeaf goes over the leaves beneath a page that must be lower than above.
func eachLeaf[T any](h *weaveHeads, l *layout[T], ref Ref, above int, leaf func(Ref, []byte) bool) error {
	if ref == 0 || h.seen[ref] {
		return nil
	}
	h.seen[ref] = true
	level, payload, err := l.page(h.c.from, ref)
	if err != nil {
		return err
	}
	if level >= above {
		return damaged(ref, "is a page of a wrong level")
	}
	if level == 0 {
		if !leaf(ref, payload) {
			return damaged(ref, "is no leaf page")
		}
		return nil
	}
	cells, err := l.inner(h.c.from, cell{ref: ref}, level, nil, &h.c.scratch)
	if err != nil {
		return err
	}
	for i := range cells {
		if err := eachLeaf(h, l, cells[i].ref, level, leaf); err != nil {
			return err
		}
	}
	return nil
}
