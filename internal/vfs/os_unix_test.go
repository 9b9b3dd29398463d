//go:build linux || darwin

package vfs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadDirOfManyNames needs several calls to the system, with names of all lengths.
func TestReadDirOfManyNames(t *testing.T) {
	dir := t.TempDir()
	want := map[string]bool{}
	for i := range 2000 {
		name := fmt.Sprintf("%0*d", 4+i%252, i)
		want[name] = true
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OS().OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 {
		entries, err := d.ReadDir(nil)
		if err != nil || len(entries) != len(want) {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		got := map[string]bool{}
		for _, e := range entries {
			got[e.Name] = true
			if !want[e.Name] || e.Kind != KindFile && e.Kind != KindUnknown {
				t.Errorf("entry %+v", e)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d names", len(got))
		}
	}
}

// TestPipeDoesNotHang opens a named pipe that has no writer, as if put in place of a file.
func TestPipeDoesNotHang(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "p"), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := OS().OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, err := d.OpenFile("p", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st Stat
	if err := f.Stat(&st); err != nil || st.Kind != KindOther {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestLockOutlivesItsFile removes the file of a lock that is held; who comes next makes a new one and holds that.
func TestLockOutlivesItsFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := OS().Lock(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if err := OS().Remove(name); err != nil {
		t.Fatal(err)
	}
	second, err := OS().Lock(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := OS().Lock(name, nil); outcome(err) != "locked" {
		t.Errorf("a third: %v", err)
	}
}

// TestMapSeesWrites keeps a mapping while the file grows and changes.
func TestMapSeesWrites(t *testing.T) {
	f, err := OS().OpenFile(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Write([]byte("abc"))
	m, err := f.Map(3)
	if err != nil {
		t.Fatal(err)
	}
	f.Write([]byte("def"))
	f.WriteAt([]byte("B"), 1)
	if string(m.Bytes()) != "aBc" {
		t.Errorf("%q", m.Bytes())
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
