package repo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// older copies a repository that an earlier oxy made into a file system of its own. Without its working copy: it is checked
// out anew.
func older(t testing.TB, name string) *vfs.Mem {
	t.Helper()
	mem := newMem()
	from := filepath.Join("testdata", filepath.FromSlash(name))
	check(t, filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		check(t, err)
		rel, err := filepath.Rel(from, path)
		check(t, err)
		to := filepath.Join(memRoot, DirName, rel)
		if d.IsDir() {
			return mem.MkdirAll(to, 0o777)
		}
		b, err := os.ReadFile(path)
		check(t, err)
		return vfs.WriteFileAtomic(mem, to, b, true)
	}))
	return mem
}

// sides are the subjects of that many changes, the last first.
func sides(n int) (out string) {
	for i := range n {
		out += fmt.Sprintf("Side %d, ", n-i)
	}
	return out
}

// Every later oxy opens what an earlier one made: with what that derived, without it, and after packing; shows the same, and
// goes on. plain is by the first builds that packed, merged by the first that merged, leftout by the first whose states leave
// changes out.
func TestOlderRepositories(t *testing.T) {
	for name, want := range map[string]struct {
		subjects  string
		conflicts int
	}{
		"format1/plain":   {"After packing, Large, Moved, Edit, Begin", 0},
		"format1/merged":  {"After packing, Undo 1fc6c023: Edit, Side, Main, Large, Moved, Edit, Begin", 1},
		"format2/leftout": {"Again, After unrecord, " + sides(34) + "Main, More, Begin", 0},
	} {
		t.Run(name, func(t *testing.T) {
			mem := older(t, name)
			var first picture
			for step := range 4 {
				switch step {
				case 1:
					for _, gone := range []string{"head", "index", "trees"} {
						check(t, mem.RemoveAll(filepath.Join(memRoot, DirName, gone)))
					}
				case 2:
					pack(t, &world{mem: mem})
				case 3:
					repair(t, mem)
				}
				r, err := Open(memRoot, memOptions(mem))
				check(t, err)
				base, err := r.Base()
				check(t, err)
				now := pictureOf(t, r, base)
				if step == 0 {
					first = now
				} else if d := cmp.Diff(first, now); d != "" {
					t.Errorf("step %d: %s", step, d)
				}
				var subjects []string
				check(t, r.Log(LogOptions{}, func(c *ChangeInfo) error {
					subject, _, _ := strings.Cut(c.Message, "\n")
					subjects = append(subjects, subject)
					return nil
				}))
				if got := strings.Join(subjects, ", "); got != want.subjects || len(now.Conflicts) != want.conflicts {
					t.Errorf("step %d: %s; %d conflicts", step, got, len(now.Conflicts))
				}
				check(t, r.Close())
				fine(t, mem)
			}
			r, err := Open(memRoot, memOptions(mem))
			check(t, err)
			_, err = r.Discard(context.Background(), nil, nil)
			check(t, err)
			put(t, mem, "new", "recorded by this oxy\n")
			res, err := r.Commit(context.Background(), CommitOptions{Message: "on", Time: at(1), Paths: []string{"new"}})
			check(t, err)
			if files := stored(t, r, res.State); len(files) != len(first.Files)+1 {
				t.Errorf("%d files", len(files))
			}
			format := int(name[len("format")] - '0')
			if from, to, err := r.Upgrade(); err != nil || from != format || to != store.Format {
				t.Errorf("upgraded from %d to %d: %v", from, to, err)
			}
			nums := logOf(t, r, res.State)
			gone, err := r.Unrecord(context.Background(), []string{"@~1"}, UnrecordOptions{})
			check(t, err)
			if got, want := logOf(t, r, gone.State), slices.Delete(nums, len(nums)-2, len(nums)-1); !slices.Equal(got, want) {
				t.Errorf("the log is %v, not %v", got, want)
			}
			check(t, r.Close())
			fine(t, mem)
		})
	}
}
