//go:build linux

package vfs

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A path is opened beneath its directory and through no link, whether the link stays inside or not.
func TestOpenPath(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"a/b", "out"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"a/b/file", "out/secret"} {
		if err := os.WriteFile(filepath.Join(root, f), []byte(f), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"a/in": "b", "a/out": "../out", "a/b/link": "file"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := OS().OpenDir(filepath.Join(root, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	o := d.(PathOpener)
	f, err := o.OpenPath("b/file")
	if err != nil {
		t.Skipf("the system has no such call: %v", err)
	}
	b, err := io.ReadAll(f)
	if err != nil || string(b) != "a/b/file" {
		t.Errorf("read %q, %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"in/file", "out/secret", "../out/secret", "b/link", filepath.Join(root, "out/secret"), "b/none"} {
		if f, err := o.OpenPath(p); err == nil {
			f.Close()
			t.Errorf("opened %s", p)
		}
		if f, err := o.OpenDirPath(p); err == nil {
			f.Close()
			t.Errorf("opened directory %s", p)
		}
	}
	sub, err := o.OpenDirPath("b")
	if err != nil {
		t.Fatal(err)
	}
	var st Stat
	if err := sub.Lstat("file", &st); err != nil || st.Kind != KindFile {
		t.Error(st, err)
	}
	for _, p := range []string{"in", "out", "../out", "b/file", "b/.."} {
		if f, err := o.OpenDirPath(p); err == nil && p != "b/.." {
			f.Close()
			t.Errorf("opened directory %s", p)
		} else if err == nil {
			f.Close()
		}
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
}
