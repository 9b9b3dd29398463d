package hgbridge

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

func (r *Repo) hasFile(name string) bool {
	var st vfs.Stat
	return r.fsys.Lstat(name, &st) == nil
}

// obsolete are the changesets that obsolescence markers say were rewritten or pruned.
func (r *Repo) obsolete() (map[revlog.Node]bool, error) {
	name := filepath.Join(r.store, "obsstore")
	b, err := r.fsys.ReadFile(name, maxObsstore)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(b) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found := map[revlog.Node]bool{}
	version, b := b[0], b[1:]
	if version > 1 {
		return nil, fmt.Errorf("%s: version %d is not known", name, version)
	}
	for len(b) > 0 {
		var node revlog.Node
		var size int
		var ok bool
		if version == 0 {
			node, size, ok = marker0(b)
		} else {
			node, size, ok = marker1(b)
		}
		if !ok {
			return nil, fmt.Errorf("%s: a marker is cut, %d bytes before the end", name, len(b))
		}
		found[node] = true
		b = b[size:]
	}
	return found, nil
}

// marker0 reads a marker of version 0: numbers of successors (1 byte), length of metadata (4), flags (1), what was rewritten, the
// successors, the metadata.
func marker0(b []byte) (node revlog.Node, size int, ok bool) {
	if len(b) < 26 {
		return node, 0, false
	}
	size = 26 + 20*int(b[0]) + int(binary.BigEndian.Uint32(b[1:]))
	return revlog.Node(b[6:26]), size, size <= len(b)
}

// marker1 reads a marker of version 1: its length (4 bytes), date (8), zone (2), flags (2), three counts (1 each), then what was
// rewritten. Flag 2 says that nodes have 32 bytes, which none of ours has.
func marker1(b []byte) (node revlog.Node, size int, ok bool) {
	const fixed = 4 + 8 + 2 + 2 + 3
	if len(b) < fixed+20 {
		return node, 0, false
	}
	size = int(binary.BigEndian.Uint32(b))
	if size < fixed+20 || size > len(b) || b[15]&2 != 0 {
		return node, 0, false
	}
	return revlog.Node(b[fixed : fixed+20]), size, true
}
