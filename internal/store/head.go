package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// head says where the last op is. It is derived: a reader checks what it says against the log, and the only word of it
// that counts alone is that its op was acknowledged, since it is written after the log's sync.
type head struct {
	op   place
	end  place // after the op
	n    counts
	hint []byte
}

const (
	headName  = "head"
	headMagic = "oxyhead1"
	headFixed = 8 + 8 + 8 + 8 + 20 + 4 // magic, log id, op, end, counts, length of the hint
	headSum   = 8
	// maxHint bounds what a caller leaves in head, which every command reads.
	maxHint = 64 << 10
)

func (h *head) encode(logID uint64) []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, headFixed+len(h.hint)+headSum), headMagic...)
	b = le.AppendUint64(b, logID)
	b = le.AppendUint64(b, uint64(h.op))
	b = le.AppendUint64(b, uint64(h.end))
	b = h.n.append(b)
	b = le.AppendUint32(b, uint32(len(h.hint)))
	b = append(b, h.hint...)
	return le.AppendUint64(b, xxh3.Hash(b))
}

var errHead = errors.New("not a head of this log")

func parseHead(b []byte, logID uint64) (*head, error) {
	le := binary.LittleEndian
	if len(b) < headFixed+headSum || string(b[:8]) != headMagic {
		return nil, errHead
	}
	body := len(b) - headSum
	if le.Uint64(b[body:]) != xxh3.Hash(b[:body]) || le.Uint64(b[8:]) != logID {
		return nil, errHead
	}
	h := &head{op: place(le.Uint64(b[16:])), end: place(le.Uint64(b[24:])), n: parseCounts(b[32:52])}
	if hint := b[headFixed:body]; len(hint) > maxHint || uint32(len(hint)) != le.Uint32(b[52:]) {
		return nil, errHead
	} else if len(hint) > 0 {
		h.hint = hint
	}
	if h.n[opsCol] == 0 || h.end <= h.op || h.op.segment() == 0 {
		return nil, errHead
	}
	return h, nil
}

// readHead returns nil when there is no head to rely on.
func readHead(fsys vfs.FS, dir string, logID uint64) *head {
	b, err := fsys.ReadFile(filepath.Join(dir, headName), headFixed+maxHint+headSum)
	if err != nil {
		return nil
	}
	h, err := parseHead(b, logID)
	if err != nil {
		return nil
	}
	return h
}

// lost is the error of a log that ends before an op that was acknowledged.
func (l *log) lost(end place, ops uint32) error {
	return fmt.Errorf("%w: %s has nothing valid at offset %d, but operation %d was committed there. Nothing was changed. "+
		"To go on with what can be read, remove the files %q and \"index\", which are derived",
		ErrDamaged, l.display(end.segment()), end.off(), ops-1, headName)
}
