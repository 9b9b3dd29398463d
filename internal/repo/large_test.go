package repo

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
)

// large makes what these tests make as large as oxy is meant for: minutes, and gigabytes of disk.
var large = flag.Bool("large", false, "a million changes, 100 000 tags, heads and files")

// sized is a size, or a small part of it for every day.
func sized(whole, part int) int {
	if *large {
		return whole
	}
	return part
}

// largeStep bounds what a small operation adds to .oxy, however large the rest is: 64 KiB. It is what a person waits for, in a
// form that a busy machine does not alter.
const largeStep = 64 << 10

// grows runs an operation and holds what it adds to the repository to largeStep.
func (h *hostileRepo) grows(what string, do func()) {
	h.t.Helper()
	before, err := h.diskUse()
	h.must(err)
	do()
	after, err := h.diskUse()
	h.must(err)
	if after-before > largeStep {
		h.t.Errorf("%s adds %d bytes to the repository", what, after-before)
	}
}

// sound holds a repository to fsck, and what it has to what a clone of it gets, and pulls afterwards.
func (h *hostileRepo) sound() {
	h.t.Helper()
	res, err := h.Fsck(context.Background(), FsckOptions{})
	h.must(err)
	if len(res.Problems) > 0 {
		h.t.Fatalf("fsck: %d problems, the first: %+v", len(res.Problems), res.Problems[0])
	}
	to := filepath.Join(h.t.TempDir(), "clone")
	c, _, err := Clone(context.Background(), h.root, to, testOptions(), SyncOptions{Dir: h.root})
	h.must(err)
	defer c.Close()
	same := func() {
		h.t.Helper()
		if d := cmp.Diff(disk(h.t, h.root), disk(h.t, to)); d != "" {
			h.t.Fatalf("the clone shows something else (-here +there):\n%s", d)
		}
	}
	same()
	h.put("to pull", "x\n")
	h.commit("to pull")
	_, err = c.Pull(context.Background(), SyncOptions{Dir: to})
	h.must(err)
	same()
	for _, names := range []func(*Repo) ([]Named, error){(*Repo).Tags, (*Repo).AllBookmarks} {
		here, err := names(h.Repo)
		h.must(err)
		there, err := names(c)
		h.must(err)
		known := map[string]bool{}
		for _, n := range there {
			known[string(n.State.ID[:])] = true
		}
		for _, n := range here {
			if !known[string(n.State.ID[:])] {
				h.t.Fatalf("the clone lacks %s", n.Name)
			}
		}
	}
}

// imported fills a repository through an importer.
func (h *hostileRepo) imported(fill func(im *Importer, put func(parent uint32, message string, files ...ImportedFile) uint32)) {
	h.t.Helper()
	im, err := h.NewImporter(context.Background())
	h.must(err)
	var n int64
	fill(im, func(parent uint32, message string, files ...ImportedFile) uint32 {
		n++
		c := &Imported{Author: change.Person{Name: "Ada", Email: "ada@example.org"}, Time: change.Time{Sec: n}, Message: message, Files: files}
		if parent != NoState {
			c.Parents = []uint32{parent}
		}
		s, err := im.Put(c)
		h.must(err)
		if im.Full() {
			h.must(im.Commit("commit"))
		}
		return s
	})
	h.must(im.Commit("commit"))
	h.must(im.Close())
	h.checkout("main")
}

func textFile(path, text string) ImportedFile { return ImportedFile{Path: path, Data: []byte(text)} }

func TestManyChanges(t *testing.T) {
	h := newHostile(t, testOptions())
	many := sized(1_000_000, 1_000)
	h.imported(func(im *Importer, put func(uint32, string, ...ImportedFile) uint32) {
		s := uint32(NoState)
		for i := range many {
			at := s
			s = put(at, fmt.Sprint("change ", i), textFile(fmt.Sprintf("d%02d/f%02d", i%100, i/100%100), fmt.Sprintf("%d\n", i)))
			im.Forget(at)
			im.View().Bookmarks["main"] = s
		}
	})
	h.put("d00/f00", "mine\n")
	h.grows("a commit", func() { h.commit("mine") })
	h.grows("a bookmark", func() {
		s, err := h.Base()
		h.must(err)
		h.must(h.SetBookmark("other", s, false))
	})
	var first []string
	h.must(h.Log(LogOptions{Limit: 3}, func(c *ChangeInfo) error {
		first = append(first, c.Message)
		return nil
	}))
	if d := cmp.Diff([]string{"mine", fmt.Sprint("change ", many-1), fmt.Sprint("change ", many-2)}, first); d != "" {
		t.Error(d)
	}
	where, err := h.Where(0)
	h.must(err)
	if got := fmt.Sprint(len(where.Bookmarks), len(where.Tags)); got != "2 0" {
		t.Errorf("the first change is in %s bookmarks and tags", got)
	}
	h.grows("a rollback of an old change", func() {
		_, err := h.Rollback(context.Background(), fmt.Sprintf("main~%d", many/2), RollbackOptions{})
		if err != nil && !strings.Contains(err.Error(), "nothing") {
			t.Error(err)
		}
	})
	h.sound()
}

func TestManyNames(t *testing.T) {
	h := newHostile(t, testOptions())
	tags, bookmarks, heads := sized(100_000, maxHaves+500), sized(5_000, 100), sized(100_000, maxHaves+500)
	h.imported(func(im *Importer, put func(uint32, string, ...ImportedFile) uint32) {
		root := put(NoState, "root", textFile("f", "root\n"))
		im.View().Bookmarks["main"] = root
		for i := range heads {
			s := put(root, fmt.Sprint("head ", i), textFile(fmt.Sprint("head/", i), "x\n"))
			im.Forget(s)
			im.View().Bookmarks[fmt.Sprint("head/", i)] = s
			if i < tags {
				im.View().Tags[fmt.Sprint("v", i)] = s
			}
			if i < bookmarks {
				im.View().Bookmarks[fmt.Sprint("topic/", i)] = s
			}
		}
	})
	h.put("f", "mine\n")
	h.grows("a commit", func() { h.commit("mine") })
	h.grows("a tag", func() {
		s, err := h.Base()
		h.must(err)
		h.must(h.SetTag("mine", s, false))
	})
	h.grows("a merge", func() {
		_, err := h.Merge(context.Background(), fmt.Sprint("head/", heads/2), MergeOptions{})
		h.must(err)
	})
	h.grows("an undo", func() {
		_, err := h.Undo(context.Background())
		h.must(err)
	})
	all, err := h.Bookmarks()
	h.must(err)
	if len(all) != heads+bookmarks+1 {
		t.Errorf("%d bookmarks", len(all))
	}
	n, err := h.ResolveChange(fmt.Sprint("head/", heads-1))
	h.must(err)
	where, err := h.Where(n)
	h.must(err)
	if len(where.Bookmarks) != 1 || where.Bookmarks[0] != fmt.Sprint("head/", heads-1) {
		t.Errorf("the last head's change is in %d bookmarks", len(where.Bookmarks))
	}
	h.sound()
}

func TestManyFilesInADirectory(t *testing.T) {
	h := newHostile(t, testOptions())
	many := sized(100_000, 1_000)
	h.imported(func(im *Importer, put func(uint32, string, ...ImportedFile) uint32) {
		files := make([]ImportedFile, many)
		for i := range files {
			files[i] = textFile(fmt.Sprintf("d/%06d", i), fmt.Sprintf("%d\n", i))
		}
		s := put(NoState, "all", files...)
		for i := range files {
			files[i].Data = fmt.Appendf(nil, "%d\nmore\n", i)
		}
		im.View().Bookmarks["main"] = put(s, "every file", files...)
	})
	h.put("d/000007", "mine\n")
	h.grows("a commit of one file", func() { h.commit("mine") })
	h.grows("an unrecord of it", func() {
		_, err := h.Unrecord(context.Background(), []string{"main"}, UnrecordOptions{})
		h.must(err)
	})
	_, err := h.Unrecord(context.Background(), []string{"main"}, UnrecordOptions{})
	h.must(err)
	for name, got := range disk(t, h.root) {
		var i int
		if _, err := fmt.Sscanf(name, "d/%06d", &i); err != nil || !strings.HasSuffix(got, fmt.Sprintf(" %d\n", i)) {
			t.Fatalf("%s is %q without the change that touched every file", name, got)
		}
	}
	h.sound()
}

func TestManyChangesOfOneFile(t *testing.T) {
	h := newHostile(t, testOptions())
	many := sized(20_000, 500)
	rng := rand.New(rand.NewPCG(1, 2))
	type line struct {
		text string
		by   int
	}
	var lines []line
	h.imported(func(im *Importer, put func(uint32, string, ...ImportedFile) uint32) {
		s := uint32(NoState)
		for i := range many {
			at := rng.IntN(len(lines) + 1)
			if len(lines) < 200 || rng.IntN(2) == 0 {
				lines = append(lines[:at], append([]line{{fmt.Sprintf("line of %d\n", i), i}}, lines[at:]...)...)
			} else {
				lines[at%len(lines)] = line{fmt.Sprintf("anew by %d\n", i), i}
			}
			var text strings.Builder
			for _, l := range lines {
				text.WriteString(l.text)
			}
			old := s
			s = put(old, fmt.Sprint(i), textFile("f", text.String()))
			im.Forget(old)
			im.View().Bookmarks["main"] = s
		}
	})
	h.grows("a commit", func() {
		h.put("f", "mine\n"+lines[0].text)
		h.commit("mine")
	})
	_, err := h.Undo(context.Background())
	h.must(err)
	_, err = h.Discard(context.Background(), []string{"f"}, nil)
	h.must(err)
	runs, err := h.Blame(context.Background(), "f", BlameOptions{})
	h.must(err)
	at := 0
	for _, run := range runs {
		for text := range strings.Lines(string(run.Text)) {
			if l := lines[at]; text != l.text || run.Change.Message != fmt.Sprint(l.by) {
				t.Fatalf("line %d is %q of %s; want %q of %d", at+1, text, run.Change.Message, l.text, l.by)
			}
			at++
		}
	}
	if at != len(lines) {
		t.Errorf("blame tells %d lines of %d", at, len(lines))
	}
	h.sound()
}
