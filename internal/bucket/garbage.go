package bucket

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/s3"
)

// garbage is which packs were in no root, and since when. It only gives readers of older roots time: what is lost or wrong there costs nothing else.
type garbage []garbageAt

type garbageAt struct {
	key   Key
	since uint64 // seconds since 1970 by the store's clock
}

const (
	garbageMagic = "oxygarb1"
	maxGarbage   = 64 << 20 // bytes: three million packs
)

func (g garbage) sort() {
	slices.SortFunc(g, func(x, y garbageAt) int { return bytes.Compare(x.key[:], y.key[:]) })
}

func (g garbage) encode() []byte {
	b := binary.AppendUvarint([]byte(garbageMagic), uint64(len(g)))
	for i := range g {
		b = append(b, g[i].key[:]...)
		b = binary.AppendUvarint(b, g[i].since)
	}
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

func decodeGarbage(b []byte) (garbage, error) {
	end := len(b) - 8
	if end < len(garbageMagic) || string(b[:len(garbageMagic)]) != garbageMagic || xxh3.Hash(b[:end]) != binary.LittleEndian.Uint64(b[end:]) {
		return nil, malformed("its garbage")
	}
	f := fields{b: b[len(garbageMagic):end]}
	var g garbage
	for range f.count(maxGarbage, 17) {
		at := garbageAt{fixedKey(f.bytes(16)), f.uvarint()}
		if at.since > maxSeconds || len(g) > 0 && bytes.Compare(g[len(g)-1].key[:], at.key[:]) >= 0 {
			f.bad = true
		}
		g = append(g, at)
	}
	if f.bad || len(f.b) > 0 {
		return nil, malformed("its garbage")
	}
	return g, nil
}

// readGarbage reads what was garbage before. What cannot be read is nothing.
func (b *Remote) readGarbage(ctx context.Context) (garbage, error) {
	data, _, err := b.store.Whole(ctx, b.prefix+"garbage", maxGarbage)
	switch {
	case errors.Is(err, s3.ErrNotFound), errors.Is(err, s3.ErrTooLarge):
		return nil, nil
	case err != nil:
		return nil, err
	}
	g, err := decodeGarbage(data)
	if err != nil {
		return nil, nil // readers get a day more
	}
	return g, nil
}
