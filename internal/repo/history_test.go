package repo

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// person is the environment of the tests: nothing is asked of Git or the machine.
func person(key string) string {
	return map[string]string{"OXY_NAME": "Ada", "OXY_EMAIL": "ada@example.org"}[key]
}

func testOptions() Options { return Options{Env: person} }

// disk reads a working copy: "path" to "mode content", links by their targets.
func disk(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		if d.IsDir() {
			if rel == DirName {
				return filepath.SkipDir
			}
			return nil
		}
		if d.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			out[rel] = "link " + target
			return err
		}
		b, err := os.ReadFile(p)
		info, _ := d.Info()
		mode := "file "
		if info.Mode()&0o100 != 0 {
			mode = "exec "
		}
		out[rel] = mode + string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stored reads a state in the same form.
func stored(t testing.TB, r *Repo, s StateRef) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := r.Files(s, "", func(f *Side) error {
		if f.Kind.String() == "subrepo" { // what is in it is not this repository's
			return nil
		}
		var b bytes.Buffer
		if err := r.Cat(&b, s, f.Path); err != nil {
			return err
		}
		mode := "file "
		if f.Exec {
			mode = "exec "
		}
		if f.Kind.String() == "link" {
			mode = "link "
		}
		if uint64(f.Size) != uint64(b.Len()) || f.Hash != hashOf(b.Bytes()) {
			return fmt.Errorf("%s: the tree says %d bytes and %s, it has %d", f.Path, f.Size, f.Hash, b.Len())
		}
		out[f.Path] = mode + b.String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// scribbler edits a working copy at random.
type scribbler struct {
	*rand.Rand
	root string
}

var names = []string{"a", "b", "c", "d", "dir/a", "dir/b", "dir/sub/c", "e/f/g", "x y", "é", "e", "dir"}

func (s *scribbler) text() string {
	if s.IntN(12) == 0 {
		return "bin\x00" + strings.Repeat("z", s.IntN(9000))
	}
	var b strings.Builder
	for range s.IntN(30) {
		fmt.Fprintf(&b, "line %d\n", s.IntN(12))
	}
	if s.IntN(4) == 0 {
		b.WriteString("no end")
	}
	return b.String()
}

func (s *scribbler) edit(old string) string {
	lines := strings.SplitAfter(old, "\n")
	for range 1 + s.IntN(3) {
		i := s.IntN(len(lines) + 1)
		switch s.IntN(3) {
		case 0:
			lines = slices.Insert(lines, i, fmt.Sprintf("new %d\n", s.IntN(9)))
		case 1:
			if i < len(lines) {
				lines = slices.Delete(lines, i, i+1)
			}
		default:
			if i < len(lines) {
				lines[i] = fmt.Sprintf("other %d\n", s.IntN(9))
			}
		}
	}
	return strings.Join(lines, "")
}

func (s *scribbler) step(t testing.TB) {
	p := filepath.Join(s.root, names[s.IntN(len(names))])
	info, err := os.Lstat(p)
	exists := err == nil
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	clear := func(p string) { // a file where a directory shall be, or the other way round
		for d := p; len(d) > len(s.root); d = filepath.Dir(d) {
			if st, err := os.Lstat(d); err == nil && (!st.IsDir() || d == p) {
				must(os.RemoveAll(d))
			}
		}
		must(os.MkdirAll(filepath.Dir(p), 0o777))
	}
	switch k := s.IntN(10); {
	case k < 3 && exists && info.Mode().IsRegular():
		b, err := os.ReadFile(p)
		must(err)
		must(os.WriteFile(p, []byte(s.edit(string(b))), info.Mode().Perm()))
	case k < 5:
		clear(p)
		must(os.WriteFile(p, []byte(s.text()), 0o666))
	case k < 6 && exists:
		must(os.RemoveAll(p))
	case k < 7 && exists && info.Mode().IsRegular():
		must(os.Chmod(p, info.Mode().Perm()^0o100))
	case k < 8:
		clear(p)
		must(os.Symlink(fmt.Sprintf("target %d", s.IntN(3)), p))
	case exists:
		to := filepath.Join(s.root, names[s.IntN(len(names))])
		if !strings.HasPrefix(to+"/", p+"/") && !strings.HasPrefix(p+"/", to+"/") {
			clear(to)
			if _, err := os.Lstat(p); err == nil {
				must(os.Rename(p, to))
			}
		}
	}
}

// A history of random edits: every state that was ever recorded reads back as the disk was then, from what is stored and
// from the changes alone; every checkout gives it back; and blame tells of every byte.
func TestHistoryReadsBack(t *testing.T) {
	seeds := 6
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { history(t, uint64(seed), 24) })
	}
}

func history(t *testing.T, seed uint64, commits int) {
	ctx := context.Background()
	root := t.TempDir()
	r, err := Init(root, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := &scribbler{rand.New(rand.NewPCG(seed, 1)), root}
	type moment struct {
		state StateRef
		files map[string]string
	}
	var seen []moment
	reopen := func() {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err = Open(root, testOptions()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range commits {
		for range 1 + s.IntN(6) {
			s.step(t)
		}
		amend := len(seen) > 0 && s.IntN(5) == 0
		res, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint(i), Amend: amend})
		if e, ok := err.(*Error); ok && e.No {
			continue
		}
		if err != nil {
			t.Fatalf("commit %d: %v", i, err)
		}
		now := disk(t, root)
		if amend {
			seen = seen[:len(seen)-1]
		}
		seen = append(seen, moment{res.State, now})
		if d := cmp.Diff(now, stored(t, r, res.State)); d != "" {
			t.Fatalf("commit %d (-disk +stored):\n%s", i, d)
		}
		st, err := r.Status(ctx, StatusOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Files)+len(st.Untracked)+len(st.Problems) > 0 {
			t.Fatalf("after commit %d the status is not clean: %+v %v", i, st.Files, st.Untracked)
		}
		if s.IntN(4) == 0 {
			reopen()
		}
	}
	check := func(when string) {
		for _, m := range seen {
			if d := cmp.Diff(m.files, stored(t, r, m.state)); d != "" {
				t.Fatalf("%s, state %d (-disk +stored):\n%s", when, m.state.Num, d)
			}
		}
	}
	check("at the end")
	for _, derived := range []string{"trees", "index", "head", "wc/manifest"} {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(root, DirName, derived)); err != nil {
			t.Fatal(err)
		}
		if r, err = Open(root, testOptions()); err != nil {
			t.Fatalf("without %s: %v", derived, err)
		}
		check("without " + derived)
		st, err := r.Status(ctx, StatusOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range st.Files {
			if i == 0 {
				t.Fatalf("without %s: status says %v", derived, st.Files)
			}
		}
	}
	for range 8 {
		m := seen[s.IntN(len(seen))]
		if _, err := r.Checkout(ctx, fmt.Sprintf("main:%d", m.state.Len)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(m.files, disk(t, root)); d != "" {
			t.Fatalf("checkout of %d (-wanted +disk):\n%s", m.state.Num, d)
		}
	}
	last := seen[len(seen)-1]
	for p, want := range last.files {
		if strings.HasPrefix(want, "link ") || strings.Contains(want, "\x00") {
			continue
		}
		runs, err := r.Blame(ctx, p, BlameOptions{State: &last.state})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, run := range runs {
			got.Write(run.Text)
		}
		if got.String() != want[5:] {
			t.Errorf("blame of %s tells of other text", p)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
