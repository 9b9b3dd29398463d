package diff

import (
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestStat(t *testing.T) {
	for _, c := range []struct {
		width int
		files []FileStat
		want  string
	}{
		{80, nil, ""},
		{80, []FileStat{{Path: "a.go", Added: 1}}, " a.go | 1 +\n 1 file changed, 1 insertion(+)\n"},
		{80, []FileStat{{Path: "a.go", Deleted: 2}, {Path: "dir/b", Added: 12, Deleted: 1}},
			" a.go  |  2 --\n dir/b | 13 ++++++++++++-\n 2 files changed, 12 insertions(+), 3 deletions(-)\n"},
		{80, []FileStat{{Path: "script"}}, " script | 0\n 1 file changed, 0 insertions(+), 0 deletions(-)\n"},
		{80, []FileStat{{Path: "x.png", Binary: true, NewSize: 1024}, {Path: "y", Added: 1}},
			" x.png | Bin 0 -> 1024 bytes\n y     |   1 +\n 2 files changed, 1 insertion(+)\n"},
		{40, []FileStat{{Path: "very/long/path/to/some/file.go", Added: 100, Deleted: 900}},
			" .../path/to/some/file.go | 1000 +-----\n 1 file changed, 100 insertions(+), 900 deletions(-)\n"},
		{80, []FileStat{{OldPath: "a/b/c", Path: "a/x/c", Added: 1, Deleted: 1}},
			" a/{b => x}/c | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n"},
	} {
		if got := string(AppendStat(nil, c.files, c.width, nil)); got != c.want {
			t.Errorf("width %d of %+v:\n%s", c.width, c.files, got)
		}
	}
	got := string(AppendStat(nil, []FileStat{{Path: "a", Added: 2, Deleted: 1}}, 80, &Palette{Old: "<o>", New: "<n>", Reset: "</>"}))
	if want := " a | 3 <n>++</><o>-</>\n 1 file changed, 2 insertions(+), 1 deletion(-)\n"; got != want {
		t.Errorf("in colours: %s", got)
	}
}

func TestRenamedName(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"a", "b", "a => b"},
		{"x/a", "x/b", "x/{a => b}"},
		{"a/x", "b/x", "{a => b}/x"},
		{"a/b/c/d", "a/c/d", "a/{b => }/c/d"},
		{"a/c/d", "a/b/c/d", "a/{ => b}/c/d"},
		{"x", "a/x", "x => a/x"},
		{"a/a/a", "a/a", "a/{a => }/a"},
		{"lib/x.go", "src/y.go", "lib/x.go => src/y.go"},
	} {
		if got := (&FileStat{OldPath: c.from, Path: c.to}).name(); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// TestStatAsGit compares with Git on random trees, with binary and renamed files among them.
func TestStatAsGit(t *testing.T) {
	needGit(t)
	for seed := range int64(6) {
		r := rand.New(rand.NewSource(seed))
		dir := t.TempDir()
		git := func(args ...string) string {
			cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "core.autocrlf=false"}, args...)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git %s: %v\n%s", args, err, out)
			}
			return string(out)
		}
		write := func(name string, data []byte) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		git("init", "-q")
		var files []FileStat
		after := map[string][]byte{}
		for i := range 2 + r.Intn(6) {
			var lines []string
			for k := range 20 + r.Intn(50) {
				lines = append(lines, fmt.Sprintf("file %d line %d\n", i, k))
			}
			before := []byte(strings.Join(lines, ""))
			f := FileStat{Path: fmt.Sprintf("%d%s/file%d", i, strings.Repeat("/sub", r.Intn(12)), i)}
			write(f.Path, before)
			switch r.Intn(4) {
			case 0:
				f.Binary, f.OldSize, f.NewSize = true, int64(len(before)), int64(r.Intn(5000)+1)
				after[f.Path] = make([]byte, f.NewSize)
				files = append(files, f)
				continue
			case 1:
				f.OldPath, f.Path = f.Path, fmt.Sprintf("%d/moved/file%d", i, i)
				lines[3] = "changed\n"
				after[f.OldPath] = nil
			case 2:
				lines = lines[:len(lines)/2]
			}
			for range r.Intn([]int{20, 40, 1000}[seed%3]) {
				if f.OldPath == "" {
					lines = append(lines, fmt.Sprintf("added %d\n", r.Intn(1e6)))
				}
			}
			after[f.Path] = []byte(strings.Join(lines, ""))
			var d Differ
			f.Added, f.Deleted = Count(d.Lines(before, after[f.Path], Options{}))
			if f.Added+f.Deleted > 0 {
				files = append(files, f)
			}
		}
		git("add", "-A")
		git("commit", "-q", "-m", "before")
		for name, data := range after {
			if data == nil {
				if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
					t.Fatal(err)
				}
				continue
			}
			write(name, data)
		}
		git("add", "-A")
		for _, width := range []int{30, 44, 56, 62, 70, 80, 130, 400} {
			want := git("diff", "--cached", "-M", fmt.Sprintf("--stat=%d", width), "HEAD")
			if got := string(AppendStat(nil, files, width, nil)); got != want {
				t.Errorf("seed %d, width %d: Git says\n%s\nwe\n%s", seed, width, want, got)
			}
		}
	}
}
