package tree

import (
	"os"
	"path/filepath"
	"testing"
)

// plant makes a tree with a file of each kind that benchmarks meet.
func plant(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, step := range []error{
		os.MkdirAll(filepath.Join(root, "dir", "deep"), 0o755),
		os.WriteFile(filepath.Join(root, "dir", "text"), []byte("one\ntwo\n"), 0o644),
		os.WriteFile(filepath.Join(root, "dir", "deep", "tool"), []byte("#!\n"), 0o755),
		os.WriteFile(filepath.Join(root, "empty"), nil, 0o644),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if err := os.Symlink("dir/text", filepath.Join(root, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	return root
}

func compare(t *testing.T, want, got string) []string {
	t.Helper()
	n, diffs, err := Compare(want, got, ".oxy")
	if err != nil {
		t.Fatal(err)
	}
	if n != 4 {
		t.Errorf("compared %d files, want 4", n)
	}
	return diffs
}

func TestCompareFindsEveryDamage(t *testing.T) {
	damages := map[string]func(root string) error{
		"other bytes": func(r string) error {
			return os.WriteFile(filepath.Join(r, "dir", "text"), []byte("one\ntwO\n"), 0o644)
		},
		"another size":   func(r string) error { return Append(filepath.Join(r, "empty"), "x") },
		"executable bit": func(r string) error { return os.Chmod(filepath.Join(r, "dir", "deep", "tool"), 0o644) },
		"missing file":   func(r string) error { return os.Remove(filepath.Join(r, "empty")) },
		"extra file":     func(r string) error { return os.WriteFile(filepath.Join(r, "more"), nil, 0o644) },
		"file for link": func(r string) error {
			if err := os.Remove(filepath.Join(r, "link")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(r, "link"), []byte("one\ntwo\n"), 0o644)
		},
		"other target": func(r string) error {
			if err := os.Remove(filepath.Join(r, "link")); err != nil {
				return err
			}
			return os.Symlink("empty", filepath.Join(r, "link"))
		},
	}
	src := plant(t)
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), "copy")
			if err := Mirror(src, dst); err != nil {
				t.Fatal(err)
			}
			if diffs := compare(t, src, dst); len(diffs) > 0 {
				t.Fatalf("a fresh copy differs: %q", diffs)
			}
			if err := damage(dst); err != nil {
				t.Fatal(err)
			}
			if diffs := compare(t, src, dst); len(diffs) != 1 {
				t.Errorf("found %q, want one difference", diffs)
			}
		})
	}
}

// A tree that a run has edited is put right, and the repository in it goes.
func TestMirrorRestores(t *testing.T) {
	src, dst := plant(t), filepath.Join(t.TempDir(), "copy")
	if err := Mirror(src, dst); err != nil {
		t.Fatal(err)
	}
	for _, step := range []error{
		Append(filepath.Join(dst, "dir", "text"), "three\n"),
		os.Remove(filepath.Join(dst, "link")),
		os.Mkdir(filepath.Join(dst, ".oxy"), 0o755),
		os.WriteFile(filepath.Join(dst, ".oxy", "store"), []byte("x"), 0o644),
		os.RemoveAll(filepath.Join(dst, "dir", "deep")),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	if err := Mirror(src, dst); err != nil {
		t.Fatal(err)
	}
	if diffs := compare(t, src, dst); len(diffs) > 0 {
		t.Errorf("still differs: %q", diffs)
	}
	if _, err := os.Lstat(filepath.Join(dst, ".oxy")); err == nil {
		t.Error("the repository is still there")
	}
	bytes, files, err := Size(dst)
	if want := int64(8 + 3 + len("dir/text")); err != nil || bytes != want || files != 4 {
		t.Errorf("Size: %d bytes in %d files, %v; want %d in 4", bytes, files, err, want)
	}
}
