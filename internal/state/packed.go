package state

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A packed weave is a link of a weave's chain that is stored compressed, perhaps with what another link holds as its
// dictionary: the weaves that a file had at earlier states are mostly in its latest one. A dictionary has none itself.

// packedWindow is how far back a match may lie: few files have weaves of more. maxPackedWindow is what a reader takes.
const (
	packedWindow    = 16 << 20
	maxPackedWindow = 2 * maxBlock
)

// packedLink is a packed weave as stored.
type packedLink struct {
	prev, dict Ref
	raw        int // bytes once decompressed
	data       []byte
}

func decodePacked(ref Ref, block []byte) (packedLink, error) {
	r := reader{buf: block}
	p := packedLink{prev: r.refBefore(ref), dict: r.refBefore(ref)}
	raw := r.uvarint()
	if p.raw, p.data = int(raw), r.buf; r.bad || raw > maxBlock {
		return p, damaged(ref, "is no packed weave")
	}
	return p, nil
}

func (b *Blocks) putPacked(p *packedLink) Ref {
	buf := make([]byte, 0, 2*maxRefSize+binary.MaxVarintLen64+len(p.data))
	buf = binary.AppendUvarint(appendRef(appendRef(buf, p.prev), p.dict), uint64(p.raw))
	return b.put(kindPackedWeave, append(buf, p.data...))
}

// weaveLink returns a link of a weave's chain with its payload as it was before it was packed.
func (b *Blocks) weaveLink(ref Ref, asDict bool) (prev Ref, payload []byte, err error) {
	kind, block, err := b.get(ref)
	if err != nil {
		return 0, nil, err
	}
	if kind != kindPackedWeave {
		return b.getLink(kindWeave, ref)
	}
	p, err := decodePacked(ref, block)
	if err != nil {
		return 0, nil, err
	}
	var dict []byte
	if p.dict != 0 {
		if asDict {
			return 0, nil, damaged(ref, "is a dictionary that has one")
		}
		if _, dict, err = b.weaveLink(p.dict, true); err != nil {
			return 0, nil, err
		}
	}
	if payload, err = unpack(p, dict); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", damaged(ref, "does not decompress"), err)
	}
	return p.prev, payload, nil
}

// weavePrev returns the link that one adds to, without looking at what it holds.
func (b *Blocks) weavePrev(ref Ref) (Ref, error) {
	kind, block, err := b.get(ref)
	if err != nil {
		return 0, err
	}
	if kind == kindPackedWeave {
		p, err := decodePacked(ref, block)
		return p.prev, err
	}
	prev, _, err := b.getLink(kindWeave, ref)
	return prev, err
}

var unpackers = sync.Pool{New: func() any {
	d, err := newUnpacker(nil)
	if err != nil {
		return err
	}
	return d
}}

func newUnpacker(dict []byte) (*zstd.Decoder, error) {
	o := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlock), zstd.WithDecoderMaxWindow(maxPackedWindow), zstd.WithDecodeAllCapLimit(true)}
	if dict != nil {
		o = append(o, zstd.WithDecoderDictRaw(packedDict, dict))
	}
	return zstd.NewReader(nil, o...)
}

// packedDict is the number that a dictionary has where it is named in a frame: there is only one to choose from.
const packedDict = 1

// decodeSlack is how much room the decoder wants behind what comes out, to copy in whole words.
const decodeSlack = 32

func unpack(p packedLink, dict []byte) ([]byte, error) {
	var d *zstd.Decoder
	if dict == nil {
		pooled := unpackers.Get()
		defer unpackers.Put(pooled)
		var ok bool
		if d, ok = pooled.(*zstd.Decoder); !ok {
			return nil, pooled.(error)
		}
	} else {
		var err error
		if d, err = newUnpacker(dict); err != nil {
			return nil, err
		}
		defer d.Close()
	}
	out, err := d.DecodeAll(p.data, make([]byte, 0, p.raw+decodeSlack))
	if err == nil && len(out) != p.raw {
		err = fmt.Errorf("%d bytes, not %d", len(out), p.raw)
	}
	return out, err
}
