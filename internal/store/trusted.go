package store

import (
	"encoding/binary"
	"errors"
	"io"
	"path/filepath"
)

// Where the frame that begins a log is damaged, what it told stands elsewhere as well: the log's id in head, and of a base what it holds
// in its frames. Only who mends goes by that.

// trustedStart tells what the damaged first frame of the log told.
func (l *log) trustedStart() (h segmentHead, err error) {
	b, err := l.fsys.ReadFile(filepath.Join(l.dir, headName), headFixed+maxHint+headSum)
	if err != nil {
		return h, err
	}
	if len(b) < headFixed {
		return h, errHead
	}
	h.id = binary.LittleEndian.Uint64(b[8:])
	if _, err := parseHead(b, h.id); err != nil || !l.based {
		return h, err
	}
	// The first frame with ops ends what was packed, or another of its kind behind it.
	probe := &log{fsys: l.fsys, dir: l.dir, id: h.id, first: l.first, based: true}
	defer probe.close()
	r := frameReader{log: probe, at: placeAt(l.first, baseStart)}
	batch := &batch{logID: h.id, base: true}
	for {
		f, p, err := r.frame()
		if errors.Is(err, io.EOF) {
			err = r.nextSegment()
			if err == nil {
				continue
			}
		}
		if err != nil && !errors.Is(err, errTail) {
			return h, err
		}
		if err != nil || batch.op != 0 && f.kind != kindOps {
			break
		}
		if err := batch.addFrame(f, p); err != nil {
			return h, l.damaged(p, err)
		}
		h.packed = standing{op: batch.op, end: r.at, n: batch.n}
	}
	if batch.op == 0 {
		return h, l.damaged(r.at, errBase)
	}
	return h, nil
}
