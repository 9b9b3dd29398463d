package repo

import (
	"encoding/binary"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What others derive from all states, and would else read all changes for, is kept in a file: magic, the number of states that it is derived
// from, the sum of their ids, the sum of all before and of what follows, what they derived. It holds as long as these states have these
// numbers: the sum of ids says so, also after the log was packed or restored from a copy.
const (
	derivedMagic  = "oxyder 1"
	derivedHeader = len(derivedMagic) + 4 + 8 + 8
	maxDerived    = 1 << 30 // 25 million commits
)

func (r *Repo) derivedFile(name string) string { return filepath.Join(r.dir, name) }

// NumStates is how many states there are.
func (r *Repo) NumStates() uint32 { return r.store.NumStates() }

// Derived gives what was kept under the name of a file, and from how many states it was derived; none if it is of no use.
func (r *Repo) Derived(name string) (data []byte, states uint32) {
	b, err := r.fs.ReadFile(r.derivedFile(name), maxDerived)
	if err != nil || len(b) < derivedHeader || string(b[:len(derivedMagic)]) != derivedMagic {
		return nil, 0
	}
	data, b = b[derivedHeader:], b[:derivedHeader]
	states = binary.LittleEndian.Uint32(b[len(derivedMagic):])
	if string(b) != string(r.derivedHead(states, data)) {
		return nil, 0
	}
	return data, states
}

// KeepDerived keeps what was derived from the first states. Where that fails it is derived again, and nothing else.
func (r *Repo) KeepDerived(name string, states uint32, data []byte) {
	if head := r.derivedHead(states, data); head != nil && len(data) <= maxDerived-derivedHeader {
		_ = vfs.WriteFileAtomic(r.fs, r.derivedFile(name), append(head, data...), false)
	}
}

// derivedHead is the head of the file; nil where there are not so many states.
func (r *Repo) derivedHead(states uint32, data []byte) []byte {
	if states > r.store.NumStates() {
		return nil
	}
	sum := xxh3.New()
	for n := range states {
		o, ok := r.store.StateOutline(n)
		if !ok {
			return nil
		}
		_, _ = sum.Write(o.ID[:])
	}
	b := binary.LittleEndian.AppendUint32([]byte(derivedMagic), states)
	b = binary.LittleEndian.AppendUint64(b, sum.Sum64())
	return binary.LittleEndian.AppendUint64(b, xxh3.HashSeed(data, xxh3.Hash(b)))
}
