package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What was kept aside may go, but not what was saved since.
func TestSavedSinceItWasKept(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"as kept":     func(string) error { return nil },
		"saved since": func(file string) error { return os.WriteFile(file, []byte("newer edit\n"), 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, "a")
			if err := os.WriteFile(file, []byte("edit\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			d, err := vfs.OS().OpenDir(root)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			var st vfs.Stat
			if err := d.Lstat("a", &st); err != nil {
				t.Fatal(err)
			}
			if err := spoil(file); err != nil {
				t.Fatal(err)
			}
			m, err := New(vfs.OS(), filepath.Join(t.TempDir(), "wc"))
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			want := []byte("base\n")
			plan := []Action{{Path: "a", Op: Write, Size: int64(len(want)), Hash: text("base\n").hash()}}
			err = Apply(context.Background(), d, m, plan, tree{"a": text("base\n")}, ApplyOptions{Kept: map[string]vfs.Stat{"a": st}})
			now, readErr := os.ReadFile(file)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if name == "as kept" && (err != nil || string(now) != "base\n") {
				t.Errorf("not written: %q, %v", now, err)
			}
			if name != "as kept" && (!errors.Is(err, ErrWouldLose) || string(now) != "newer edit\n") {
				t.Errorf("lost an edit: %q, %v", now, err)
			}
		})
	}
}
