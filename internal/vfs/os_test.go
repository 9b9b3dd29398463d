package vfs

import (
	"path/filepath"
	"testing"
)

func TestLstatDoesNotAllocate(t *testing.T) {
	dir := t.TempDir()
	if err := WriteFileAtomic(OS(), filepath.Join(dir, "name"), []byte("x"), true); err != nil {
		t.Fatal(err)
	}
	d, err := OS().OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var st Stat
	n := testing.AllocsPerRun(100, func() {
		if err := d.Lstat("name", &st); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 || st.Kind != KindFile || st.Size != 1 || st.Ino == 0 || st.Mtime == 0 {
		t.Errorf("%v allocations, %+v", n, st)
	}
}
