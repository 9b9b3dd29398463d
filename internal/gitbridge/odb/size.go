package odb

import (
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Size is what the objects take on disk, bytes: packs with their indexes, and loose objects, alternates' too. What cannot be looked at
// counts as nothing.
func (db *DB) Size() int64 {
	sum := int64(0)
	for _, dir := range db.dirs {
		for _, name := range db.names(dir) {
			for _, file := range db.names(filepath.Join(dir, name)) {
				var st vfs.Stat
				if db.fs.Lstat(filepath.Join(dir, name, file), &st) == nil && st.Kind == vfs.KindFile {
					sum += st.Size
				}
			}
		}
	}
	return sum
}

func (db *DB) names(dir string) []string {
	names, err := db.fs.ReadDir(dir)
	if err != nil {
		return nil
	}
	return names
}
