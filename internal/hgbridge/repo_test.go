package hgbridge

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// hg runs Mercurial in a repository without anybody's settings; input is what it reads.
func hg(t testing.TB, dir string, input string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("hg")
	if err != nil {
		t.Skip("Mercurial is not installed: apt-get install mercurial")
	}
	extension, err := filepath.Abs("../../revlog/testdata/oxytest.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"--config", "extensions.oxytest=" + extension}, args...)...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(os.Environ(), "HGRCPATH=", "HGPLAIN=1", "HGUSER=test", "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hg %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

func open(t testing.TB, path string) *Repo {
	t.Helper()
	r, err := Open(vfs.OS(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func TestStoreNamesAreMercurials(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	pieces := []string{
		"a", "B", "foo", "_", "x.i", "x.d", "y.hg", ".dot", "con", "aux.txt", "lpt1", "com0.x", "nul.", " blank", "end ", "dir.", "ü", "q?*", "tab\t", "~",
		"averyveryverylongnameofadirectory", "Another-Long_Name.With.Dots", "prn.c.d",
	}
	names := []string{"data/.i", "data/...i", "data/" + strings.Repeat("x", 200) + "/.i"}
	for range 600 {
		name := []string{"data", "meta"}[r.Intn(2)]
		for range 1 + r.Intn(9) {
			name += "/" + pieces[r.Intn(len(pieces))]
			if r.Intn(3) == 0 {
				name += pieces[r.Intn(len(pieces))]
			}
		}
		names = append(names, name+".i")
	}
	for _, c := range []struct {
		config []string
		want   encoding
	}{
		{nil, encodeDot},
		{[]string{"--config", "format.dotencode=no"}, encodeHybrid},
		{[]string{"--config", "format.usefncache=no"}, encodeSimple},
		{[]string{"--config", "format.usestore=no"}, encodePlain},
	} {
		dir := t.TempDir()
		hg(t, dir, "", append(c.config, "init", ".")...)
		repo := open(t, dir)
		if repo.encoding != c.want {
			t.Errorf("%v: encoding %d, want %d", c.config, repo.encoding, c.want)
		}
		got := strings.Split(hg(t, dir, strings.Join(names, "\x00")+"\x00", "oxynames"), "\x00")
		for i, name := range names {
			if mine := repo.encoding.storeName(name); mine != got[i] {
				t.Errorf("%v: %q is stored as %q, want %q", c.config, name, mine, got[i])
			}
		}
	}
}

// history makes what oxyhistory prints from what this package reads.
func historyOf(t testing.TB, r *Repo) string {
	t.Helper()
	var b strings.Builder
	flag := func(v bool) int {
		if v {
			return 1
		}
		return 0
	}
	err := r.Changesets(0, func(c *Changeset) error {
		flat, err := r.Manifest(c.Manifest)
		if err != nil {
			return err
		}
		seconds, west, err := c.Time()
		if err != nil {
			return err
		}
		files := bytes.Join(slices.Collect(c.Files()), []byte("|"))
		fmt.Fprintf(&b, "%d\t%s\t%d %d\t%s\t%s\t%d %d\t%d\t%d %d\t%s\t%x\t%s\t%x\n", c.Rev, c.Node, c.P1, c.P2, c.Manifest, c.Branch,
			flag(c.Closes), flag(c.Obsolete), phaseNumber(c.Phase), seconds, west, c.User, sha1.Sum(c.Description), files, sha1.Sum(flat))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	refs := func(kind string, refs []Ref, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range refs {
			fmt.Fprintf(&b, "%s\t%s\t%s\n", kind, ref.Name, ref.Node)
		}
	}
	bookmarks, err := r.Bookmarks()
	refs("bookmark", bookmarks, err)
	tags, err := r.Tags()
	refs("tag", tags, err)
	return b.String()
}

func phaseNumber(p Phase) int { return int(p) }

// build makes a repository with everything that a history can have.
func build(t testing.TB, config ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	var args []string
	for _, c := range config {
		args = append(args, "--config", c)
	}
	hg(t, ".", "", append(args, "init", dir)...)
	hg(t, dir, "", "oxymake", "--revisions", "50")
	hg(t, dir, "", "oxyrefs")
	return dir
}

func TestHistoryIsMercurials(t *testing.T) {
	for _, c := range []struct {
		name   string
		config []string
	}{
		{"new", nil},
		{"tree", []string{"experimental.treemanifest=1"}},
		{"old", []string{"format.usefncache=no", "format.usegeneraldelta=no", "format.sparse-revlog=no", "format.revlog-compression=zlib", "format.use-share-safe=no"}},
		{"oldest", []string{"format.usestore=no", "format.usegeneraldelta=no", "format.sparse-revlog=no", "format.revlog-compression=zlib", "format.use-share-safe=no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := build(t, c.config...)
			r := open(t, dir)
			got, want := historyOf(t, r), hg(t, dir, "", "oxyhistory")
			if got != want {
				t.Errorf("history differs at %s", firstDifference(got, want))
			}
			for _, part := range []string{"\nbookmark\ta bookmark", "\ntag\tone", "\ntag\tthree", "\ntag\tmine", "\tbranch 1\t", "\t1 0\t", "\t0 1\t"} {
				if !strings.Contains(want, part) {
					t.Errorf("the history has no %q: it tries too little", part)
				}
			}
			checkFiles(t, r, hg(t, dir, "", "oxyfiles"))
			checkNodes(t, r)
		})
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n%s\nwant\n%s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("the end: %d lines, want %d", len(a), len(b))
}

// checkFiles compares contents and copies of file revisions.
func checkFiles(t *testing.T, r *Repo, want string) {
	t.Helper()
	n, copies := 0, 0
	for line := range strings.Lines(want) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		node, err := revlog.ParseNode(f[1])
		if err != nil {
			t.Fatal(err)
		}
		file, err := r.File(f[0])
		if err != nil {
			t.Fatal(err)
		}
		contents, m, err := file.Read(node)
		if err != nil {
			t.Fatal(err)
		}
		source := ""
		if m.CopySource != "" {
			source = m.CopySource + " " + m.CopyNode.String()
			copies++
		}
		if sum := fmt.Sprintf("%x", sha1.Sum(contents)); sum != f[2] || source != f[3] {
			t.Errorf("%s %s: %s, copied from %q; want %s, %q", f[0], f[1], sum, source, f[2], f[3])
		}
		n++
		file.Close()
	}
	if n < 50 || copies == 0 {
		t.Errorf("%d file revisions, %d copies: the test tries too little", n, copies)
	}
}

// checkNodes makes every changeset's and manifest's node from its parts.
func checkNodes(t *testing.T, r *Repo) {
	t.Helper()
	var buf, before []byte
	err := r.Changesets(0, func(c *Changeset) error {
		p1, _ := r.Changelog.Node(c.P1)
		p2, _ := r.Changelog.Node(c.P2)
		if c.RawExtra != nil {
			fields, err := c.Extra()
			if err != nil {
				return err
			}
			c.RawExtra = revlog.EncodeExtra(fields)
		}
		node, _, err := ChangesetNode(buf, c.Changeset, p1, p2)
		if err != nil || node != c.Node {
			t.Errorf("changeset %d is made as %s, want %s: %v", c.Rev, node, c.Node, err)
		}
		flat, err := r.Manifest(c.Manifest)
		if err != nil {
			return err
		}
		flat = bytes.Clone(flat)
		checkDifferences(t, before, flat)
		before = flat
		rev, err := r.Manifests.Rev(c.Manifest)
		if err != nil || rev == revlog.Null {
			return err
		}
		root := flat
		if r.tree {
			root, err = TreeManifests(flat, func(dir string, text []byte) (revlog.Node, error) {
				return r.dirNode(c.Manifest, dir, text)
			})
			if err != nil {
				return err
			}
		}
		m1, m2, err := r.Manifests.Parents(rev)
		if err != nil {
			return err
		}
		n1, _ := r.Manifests.Node(m1)
		n2, _ := r.Manifests.Node(m2)
		if node := revlog.HashText(root, n1, n2); node != c.Manifest {
			t.Errorf("manifest of changeset %d is made as %s, want %s", c.Rev, node, c.Manifest)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// dirNode finds the node that a directory's manifest has beneath a root manifest, and checks that its text is the given one.
func (r *Repo) dirNode(root revlog.Node, dir string, text []byte) (revlog.Node, error) {
	rev, err := r.Manifests.Rev(root)
	if err != nil {
		return root, err
	}
	at, err := r.texts.Text(rev)
	node, before := root, ""
	for _, name := range strings.Split(strings.TrimSuffix(dir, "/"), "/") {
		m := revlog.Manifest{Text: at}
		for m.Next() && string(m.Entry.Path) != name {
		}
		node, before = m.Entry.Node, before+name+"/"
		if err == nil {
			at, err = r.directoryText(before, node)
		}
	}
	if err == nil && !bytes.Equal(at, text) {
		err = fmt.Errorf("the manifest of %q is %q, want %q", dir, text, at)
	}
	return node, err
}

// checkDifferences compares Differences with what two maps say.
func checkDifferences(t *testing.T, old, now []byte) {
	t.Helper()
	type value struct {
		node revlog.Node
		flag byte
	}
	read := func(text []byte) map[string]value {
		m, all := revlog.Manifest{Text: text}, map[string]value{}
		for m.Next() {
			all[string(m.Entry.Path)] = value{m.Entry.Node, m.Entry.Flag}
		}
		if m.Err() != nil {
			t.Fatal(m.Err())
		}
		return all
	}
	a, b := read(old), read(now)
	found := map[string]bool{}
	err := Differences(old, now, func(d Difference) error {
		p := string(d.Path)
		found[p] = true
		if a[p] == b[p] || a[p] != (value{d.Old, d.OldFlag}) || b[p] != (value{d.New, d.NewFlag}) {
			t.Errorf("%s is said to differ: %+v", p, d)
		}
		return nil
	})
	for _, all := range []map[string]value{a, b} {
		for p := range all {
			if a[p] != b[p] && !found[p] {
				t.Errorf("%s differs and is not said to", p)
			}
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestSharesAreFollowed(t *testing.T) {
	dir := build(t)
	want := hg(t, dir, "", "oxyhistory")
	for i, args := range [][]string{{"share", "-U"}, {"share", "-U", "--relative", "-B"}} {
		shared := fmt.Sprintf("%s-share%d", dir, i)
		hg(t, filepath.Dir(dir), "", append(append([]string{"--config", "extensions.share="}, args...), dir, shared)...)
		got := historyOf(t, open(t, shared))
		mine := hg(t, shared, "", "--config", "extensions.share=", "oxyhistory")
		if got != mine {
			t.Errorf("share %d differs at %s", i, firstDifference(got, mine))
		}
		if i == 1 && strings.Count(mine, "bookmark\t") != strings.Count(want, "bookmark\t") {
			t.Error("the share with bookmarks has others")
		}
	}
}

func TestWhatIsNoRepository(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(vfs.OS(), dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("an empty directory: %v", err)
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write(".hg/requires", "store\nrevlogv1\nsomething-new\n")
	if _, err := Open(vfs.OS(), dir); err == nil || !strings.Contains(err.Error(), `"something-new"`) {
		t.Errorf("an unknown requirement: %v", err)
	}
	write(".hg/requires", "store\nrevlogv1\nshared\n")
	write(".hg/sharedpath", "../etc\n")
	if _, err := Open(vfs.OS(), dir); err == nil || !strings.Contains(err.Error(), "leads to no .hg") {
		t.Errorf("a share of no repository: %v", err)
	}
	write(".hg/requires", "store\nrevlogv1\n")
	r := open(t, dir) // no history yet
	if r.Changelog.Len() != 0 {
		t.Error("a repository without history has some")
	}
	for name, text := range map[string]string{".hg/store/phaseroots": "x y\n", ".hg/bookmarks": "no node\n", ".hg/store/obsstore": "\x01cut"} {
		write(name, text)
		_, err := r.Bookmarks()
		if err == nil {
			err = r.Changesets(0, func(*Changeset) error { return nil })
		}
		if err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("damaged %s: %v", name, err)
		}
		os.Remove(filepath.Join(dir, name))
	}
}
