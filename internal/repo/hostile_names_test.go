package repo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

func TestNamesThatOtherSystemsLose(t *testing.T) {
	h := newHostile(t, testOptions())
	names := []string{
		"\xff\xfe", "café", "cafe\u0301", strings.Repeat("n", 255), strings.Repeat("ü", 127), "-rf", "--", "new\nline", `q"uo'te\`,
		"*", "[a]", "~", "@", "main", "a:1", "a~1", "tab\t", " ", "\x01", "d\xff/\n/x", ".oxy-not", "oxy", "a.", "nul",
	}
	for _, n := range names {
		h.put(n, n+"\n")
	}
	h.commit("Names")
	h.want()
	if got := len(h.tracked()); got != len(names) {
		t.Errorf("%d of %d are tracked", got, len(names))
	}
	for _, n := range names {
		h.remove(n)
	}
	_, err := h.Discard(context.Background(), nil, nil)
	h.must(err)
	for _, n := range names {
		h.holds(n, n+"\n")
	}
	h.want()
}

func TestRenameOfCaseOnly(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("Readme", "read me\n")
	h.put("Src/a", "a of src\n")
	h.commit("Upper")
	h.must(os.Rename(h.path("Readme"), h.path("README")))
	h.must(os.Rename(h.path("Src"), h.path("src")))
	res := h.commit("Other case")
	for i := range res.Files {
		if res.Files[i].What != Moved {
			t.Errorf("%s is %v", res.Files[i].Path(), res.Files[i].What)
		}
	}
	h.checkout("main~1")
	if got := h.tracked(); !slices.Equal(got, []string{"Readme", "Src/a"}) {
		t.Errorf("tracked are %v", got)
	}
	h.checkout("main")
	h.holds("README", "read me\n")
	h.holds("src/a", "a of src\n")
	h.want()
}

func TestPathOfFourThousandBytes(t *testing.T) {
	h := newHostile(t, testOptions())
	// The system takes no such path at once: go there step by step.
	elem := strings.Repeat("d", 99)
	d, err := vfs.OS().OpenDir(h.root)
	h.must(err)
	for range 39 {
		h.must(d.Mkdir(elem, 0o777))
		next, err := d.OpenDir(elem)
		h.must(err)
		h.must(d.Close())
		d = next
	}
	write := func(content string) {
		f, err := d.OpenFile(strings.Repeat("f", 96), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666)
		h.must(err)
		_, err = f.Write([]byte(content))
		h.must(errors.Join(err, f.Close()))
	}
	write("deep\n")
	h.commit("Deep")
	path := h.tracked()[0]
	if len(path) != 39*100+96 {
		t.Fatalf("a path of %d bytes", len(path))
	}
	write("deeper\n")
	h.want("M " + path)
	set, err := h.DiffWorking(context.Background(), nil)
	h.must(err)
	if now, err := set.New(nil, 0); err != nil || string(now) != "deeper\n" {
		t.Errorf("its new content is %q, %v", now, err)
	}
	h.commit("Deeper")
	h.must(d.Close())
	h.checkout("main~1")
	h.want()
	h.checkout("main")
	h.want()
	base, err := h.Base()
	h.must(err)
	var b bytes.Buffer
	h.must(h.Cat(&b, base, path))
	if b.String() != "deeper\n" {
		t.Errorf("it holds %q", b.String())
	}
}

func TestRepositoriesInsideAreNamedAndNeverRecorded(t *testing.T) {
	h := newHostile(t, testOptions())
	h.put("a", "a\n")
	h.put("git/.git/HEAD", "ref: refs/heads/main\n")
	h.put("git/file", "of the other repository\n")
	h.put("submodule/.git", "gitdir: ../elsewhere\n")
	h.put("oxy/.oxy/format", "oxy repository, format 1\n")
	h.want("? a", "N git/", "N oxy/", "N submodule/")
	res := h.commit("Begin")
	if got := h.tracked(); !slices.Equal(got, []string{"a"}) || len(res.Skipped) != 3 {
		t.Errorf("tracked are %v, skipped %v", got, res.Skipped)
	}
	// Asked for by name, too: a path inside never becomes this repository's.
	for _, p := range []string{"git/.git/HEAD", "oxy/.oxy", "submodule/.git", ".oxy/format"} {
		_, err := h.Commit(context.Background(), CommitOptions{Message: "Inside", Paths: []string{p}})
		if e := (*Error)(nil); !errors.As(err, &e) {
			t.Errorf("recording %s: %v", p, err)
		}
	}
	// Another case of the name is the same directory elsewhere, and would be run from there.
	for _, p := range []string{"case/.OxY/x", ".GIT/config", "git~1/x"} {
		h.put(p, "x\n")
		_, err := h.Commit(context.Background(), CommitOptions{Message: "Alias"})
		refuses(t, err, p)
		h.remove(p)
	}
	// A directory of this repository that becomes one of its own keeps what is recorded, and its .git stays out.
	h.put("lib/code", "code\n")
	h.commit("Lib")
	h.put("lib/.git/HEAD", "ref: refs/heads/main\n")
	h.put("lib/code", "edited\n")
	h.commit("Edit")
	if got := h.tracked(); !slices.Equal(got, []string{"a", "lib/code"}) {
		t.Errorf("tracked are %v", got)
	}
}
