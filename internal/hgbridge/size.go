package hgbridge

import (
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// maxDepth bounds how deep Size looks: names in a store are as long as the file system lets them be.
const maxDepth = 512

// Size is what the store takes on disk, bytes. What cannot be looked at counts as nothing.
func (r *Repo) Size() int64 { return r.size(r.store, 0) }

func (r *Repo) size(dir string, depth int) int64 {
	names, err := r.fsys.ReadDir(dir)
	if err != nil || depth > maxDepth {
		return 0
	}
	sum := int64(0)
	for _, name := range names {
		at := filepath.Join(dir, name)
		var st vfs.Stat
		if r.fsys.Lstat(at, &st) != nil {
			continue
		}
		switch st.Kind {
		case vfs.KindFile:
			sum += st.Size
		case vfs.KindDir:
			sum += r.size(at, depth+1)
		}
	}
	return sum
}
