package odb

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/zlib"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Has tells whether the repository has an object. It is not read.
func (db *DB) Has(id object.ID) bool {
	name := id[:db.Format.Size()]
	for _, p := range db.packs {
		if _, found := p.idx.find(name); found {
			return true
		}
	}
	var st vfs.Stat
	for _, dir := range db.dirs {
		if db.fs.Lstat(loosePath(dir, db.Format, id), &st) == nil {
			return true
		}
	}
	return false
}

// WriteLoose writes an object as a file of its own, durable, unless the repository has it. For more than a few, a pack
// is better.
func (db *DB) WriteLoose(kind object.Kind, content []byte) (object.ID, error) {
	id, err := object.NewHasher(db.Format, nil).Sum(kind, content)
	if err != nil {
		return id, err
	}
	if db.Has(id) {
		return id, nil
	}
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	head := strconv.AppendInt(append([]byte(kind.String()), ' '), int64(len(content)), 10)
	if _, err := z.Write(append(head, 0)); err != nil {
		return id, err
	}
	if _, err := z.Write(content); err != nil {
		return id, err
	}
	if err := z.Close(); err != nil {
		return id, err
	}
	name := loosePath(db.dirs[0], db.Format, id)
	if err := db.fs.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return id, fmt.Errorf("write object %s: %w", id, err)
	}
	return id, vfs.WriteFileAtomic(db.fs, name, b.Bytes(), true)
}
