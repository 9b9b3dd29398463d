package revlog

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// hg runs Mercurial in a repository without anybody's settings.
func hg(t testing.TB, dir string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("hg")
	if err != nil {
		t.Skip("Mercurial is not installed: apt-get install mercurial")
	}
	extension, err := filepath.Abs("testdata/oxytest.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append([]string{"--config", "extensions.oxytest=" + extension}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HGRCPATH=", "HGPLAIN=1", "HGUSER=test", "PYTHONDONTWRITEBYTECODE=1", "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("hg %s: %v\n%s%s", strings.Join(args, " "), err, out, &stderr)
	}
	return out
}

// kinds of repositories: Mercurial's settings, and what they should lead to.
var hgKinds = []struct {
	name    string
	config  []string
	without []string // requirements taken away after init: what Mercurial no longer makes but still reads and writes
	version int
}{
	{name: "zstd", version: version1},
	{name: "zlib", config: []string{"format.revlog-compression=zlib"}, version: version1},
	{name: "raw", config: []string{"format.revlog-compression=none"}, version: version1},
	{name: "dense", config: []string{"format.sparse-revlog=no", "format.revlog-compression=zlib"}, version: version1},
	{name: "plain", config: []string{"format.usegeneraldelta=no", "format.sparse-revlog=no"}, version: version1},
	{name: "tree", config: []string{"experimental.treemanifest=1"}, version: version1},
	{name: "v0", without: []string{"revlogv1", "generaldelta", "sparserevlog"}, version: version0},
	{name: "v2", config: []string{"experimental.revlogv2=enable-unstable-format-and-corrupt-my-data"}, version: version2},
	{name: "changelog2", config: []string{"format.exp-use-changelog-v2=enable-unstable-format-and-corrupt-my-data"}, version: versionChangelog2},
	{name: "nodemap", config: []string{"format.use-persistent-nodemap=yes", "storage.revlog.persistent-nodemap.slow-path=allow"}, version: version1},
}

// hgRepository makes a repository of a kind with a history, and returns its store's path.
func hgRepository(t testing.TB, name string, revisions int) string {
	t.Helper()
	for _, kind := range hgKinds {
		if kind.name != name {
			continue
		}
		dir := t.TempDir()
		var config []string
		var lasting strings.Builder
		for _, c := range kind.config {
			config = append(config, "--config", c)
			section, setting, _ := strings.Cut(c, ".")
			fmt.Fprintf(&lasting, "[%s]\n%s\n", section, setting)
		}
		hg(t, dir, append(config, "init", ".")...)
		if err := os.WriteFile(filepath.Join(dir, ".hg/hgrc"), []byte(lasting.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{".hg/requires", ".hg/store/requires"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				continue
			}
			for _, line := range kind.without {
				text = bytes.ReplaceAll(text, []byte(line+"\n"), nil)
			}
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		lines := "4"
		if name == "nodemap" {
			lines = "400" // only a revlog that is split has a nodemap
		}
		hg(t, dir, "oxymake", "--revisions", strconv.Itoa(revisions), "--lines", lines)
		return filepath.Join(dir, ".hg/store")
	}
	t.Fatalf("no kind of repository is named %q", name)
	return ""
}

// described is what oxydump says of one revision.
type described struct {
	rev, p1, p2, link Rev
	node              string
	flags, size       int
	sum               string
}

// describe has Mercurial read all revlogs of a repository.
func describe(t testing.TB, store string) map[string][]described {
	t.Helper()
	logs := map[string][]described{}
	for line := range strings.Lines(string(hg(t, filepath.Dir(filepath.Dir(store)), "oxydump"))) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 9 {
			t.Fatalf("oxydump: %q", line)
		}
		n := func(i int) int {
			v, err := strconv.Atoi(f[i])
			if err != nil {
				t.Fatalf("oxydump: %q", line)
			}
			return v
		}
		logs[f[0]] = append(logs[f[0]], described{Rev(n(1)), Rev(n(3)), Rev(n(4)), Rev(n(5)), f[2], n(6), n(7), f[8]})
	}
	if len(logs) < 3 {
		t.Fatalf("oxydump told of %d revlogs", len(logs))
	}
	return logs
}

// agrees compares a whole revlog with what Mercurial reads.
func agrees(l *Log, want []described) error {
	if l.Len() != len(want) {
		return fmt.Errorf("%d revisions, want %d", l.Len(), len(want))
	}
	r := l.Reader()
	defer r.Close()
	// Backwards too: what is cached must not matter.
	for i := range 2 * len(want) {
		at := i
		if i >= len(want) {
			at = 2*len(want) - 1 - i
		}
		w := want[at]
		e, err := l.Entry(w.rev)
		if err != nil {
			return err
		}
		raw, err := r.Raw(w.rev)
		if err != nil {
			return err
		}
		got := described{w.rev, e.P1, e.P2, e.Link, e.Node.String(), int(e.Flags), len(raw), fmt.Sprintf("%x", sha1.Sum(raw))}
		if got != w {
			return fmt.Errorf("revision %d is %v, want %v", w.rev, got, w)
		}
		if rev, err := l.Rev(e.Node); err != nil || rev != w.rev {
			return fmt.Errorf("node %s is found as %d: %v", e.Node, rev, err)
		}
		if rev, err := l.Prefix(e.Node.String()[:39]); err != nil || rev != w.rev {
			return fmt.Errorf("prefix of node %s is found as %d: %v", e.Node, rev, err)
		}
		for digits := 1; digits < 4; digits++ {
			same, prefix := 0, w.node[:digits]
			for _, other := range want {
				if strings.HasPrefix(other.node, prefix) {
					same++
				}
			}
			rev, err := l.Prefix(prefix)
			if same == 1 && (err != nil || rev != w.rev) || same > 1 && !errors.Is(err, ErrAmbiguous) {
				return fmt.Errorf("prefix %s of %d nodes is found as %d: %v", prefix, same, rev, err)
			}
		}
	}
	return nil
}

func TestReadsWhatMercurialWrote(t *testing.T) {
	for _, kind := range hgKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			store := hgRepository(t, kind.name, 60)
			version := 0
			for name, want := range describe(t, store) {
				for _, mapped := range []bool{false, true} {
					l, err := Open(filepath.Join(store, name), &Options{Map: mapped})
					if err != nil {
						t.Fatal(err)
					}
					if err := agrees(l, want); err != nil {
						t.Errorf("%s, mapped %v: %v", name, mapped, err)
					}
					if l.Torn() != 0 {
						t.Errorf("%s: %d bytes too many", name, l.Torn())
					}
					if name == "00changelog.i" {
						version = l.Version()
						if trie := l.nodes.trie != nil; trie != (kind.name == "nodemap") {
							t.Errorf("a persistent nodemap is used: %v", trie)
						}
						testNodemapAlone(t, filepath.Join(store, name), want, kind.name == "nodemap")
					}
					if err := l.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			if version != kind.version {
				t.Errorf("the changelog is of version %d, want %d", version, kind.version)
			}
		})
	}
}

// testNodemapAlone checks that nodes and prefixes that are there are found without a look through the index where there is a nodemap.
func testNodemapAlone(t *testing.T, path string, want []described, is bool) {
	t.Helper()
	l, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, w := range want {
		node, err := ParseNode(w.node)
		if err != nil {
			t.Fatal(err)
		}
		if rev, err := l.Rev(node); err != nil || rev != w.rev {
			t.Errorf("node %s is found as %d: %v", w.node, rev, err)
		}
		if rev, err := l.Prefix(w.node[:12]); err != nil || rev != w.rev {
			t.Errorf("prefix %s is found as %d: %v", w.node[:12], rev, err)
		}
	}
	if alone := !l.nodes.asked.Load() && l.nodes.table.revs == nil; alone != is {
		t.Errorf("the nodemap alone answers: %v", alone)
	}
}

// rewrite makes every revlog of a store anew with a Writer, and returns how many revisions are deltas against the same one as
// Mercurial's, and how many are not.
func rewrite(t *testing.T, store string, logs map[string][]described, opts WriterOptions) (same, other int) {
	t.Helper()
	for name := range logs {
		path := filepath.Join(store, name)
		old, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		fresh := filepath.Join(t.TempDir(), "fresh.i")
		o := opts
		o.NoDeltas = name == "00changelog.i"
		w, err := OpenWriter(fresh, &o)
		if err != nil {
			t.Fatal(err)
		}
		r := old.Reader()
		err = r.Texts(0, Rev(old.Len()), func(rev Rev, e *Entry, raw []byte) error {
			if got, err := w.AppendRaw(raw, e.Node, e.P1, e.P2, e.Link, e.Flags); err != nil || got != rev {
				return fmt.Errorf("revision %d is appended as %d: %w", rev, got, err)
			}
			if w.base(rev) == old.base(rev, e) {
				same++
			} else {
				other++
			}
			return nil
		})
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		w.Close()
		r.Close()
		old.Close()
		os.Remove(strings.TrimSuffix(path, ".i") + ".d")
		if err := os.Rename(fresh, path); err != nil {
			t.Fatal(err)
		}
		data := strings.TrimSuffix(fresh, ".i") + ".d"
		if _, err := os.Stat(data); err == nil {
			if err := os.Rename(data, strings.TrimSuffix(path, ".i")+".d"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return same, other
}

func TestMercurialReadsWhatWasWritten(t *testing.T) {
	for _, c := range []struct {
		name string
		opts WriterOptions
	}{
		{"zstd", WriterOptions{}},
		{"plain", WriterOptions{Compression: None, Plain: true}},
		{"short", WriterOptions{Compression: Zlib, MaxChain: 3, Compresses: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := hgRepository(t, "zstd", 100)
			before := describe(t, store)
			same, other := rewrite(t, store, before, c.opts)
			if c.name == "zstd" && other > (same+other)/20 {
				t.Errorf("of %d revisions %d are stored otherwise than Mercurial does", same+other, other)
			}
			repo := filepath.Dir(filepath.Dir(store))
			out := string(hg(t, repo, "verify"))
			if !strings.Contains(out, "checked 100 changesets") || strings.Contains(out, "error") || strings.Contains(out, "warning") {
				t.Errorf("hg verify:\n%s", out)
			}
			after := describe(t, store)
			for name, want := range before {
				if !slices.Equal(after[name], want) {
					t.Errorf("Mercurial reads %s otherwise than before", name)
				}
			}
			// And goes on writing.
			hg(t, repo, "oxymake", "--revisions", "3", "--seed", "9")
			hg(t, repo, "verify")
		})
	}
}
