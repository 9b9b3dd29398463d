package odb

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/oxy-vcs/oxy/internal/gitbridge/gittest"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// fill commits versions of a few files, so that a repack finds deltas of deltas, and some that do not compress.
func fill(r *gittest.Repo) {
	rng := rand.New(rand.NewPCG(1, 2))
	var lines []string
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("line %d %x", i, rng.Uint64()))
	}
	noise := make([]byte, 20_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	var stream strings.Builder
	data := func(s string) { fmt.Fprintf(&stream, "data %d\n%s\n", len(s), s) }
	for v := range 12 {
		lines[rng.IntN(len(lines))] = fmt.Sprintf("version %d", v)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ada <ada@example.com> %d +0100\n", v)
		data(fmt.Sprintf("version %d\n", v))
		for path, text := range map[string]string{
			"file": strings.Join(lines, "\n"), "dir/noise": string(noise[v:]), "dir/empty": "", "a": fmt.Sprint(v),
		} {
			fmt.Fprintf(&stream, "M 100644 inline %s\n", path)
			data(text)
		}
	}
	stream.WriteString("tag v1\nfrom refs/heads/main\ntagger Ada <ada@example.com> 99 +0100\n")
	data("a tag")
	r.In(stream.String(), "-c", "fastimport.unpackLimit=1000000", "fast-import", "--quiet")
}

func open(t *testing.T, dir string, opt Options) *DB {
	t.Helper()
	db, err := Open(vfs.OS(), dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// objects is what git lists: id, kind and size of each.
func objects(r *gittest.Repo) []string {
	return strings.Split(r.Git("cat-file", "--batch-all-objects", "--batch-check"), "\n")
}

// check reads all of list in a random order. The hash of each is the reader's to check.
func check(t *testing.T, db *DB, reader *Reader, list []string, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	var buf []byte
	for _, i := range append(rng.Perm(len(list)), rng.Perm(len(list))...) {
		var hex, kind string
		var size int
		if _, err := fmt.Sscan(list[i], &hex, &kind, &size); err != nil {
			t.Errorf("%q: %v", list[i], err)
			return
		}
		id, err := object.ParseID(db.Format, hex)
		if err != nil {
			t.Errorf("%q: %v", list[i], err)
			return
		}
		got, content, err := reader.Read(id, append(buf[:0], "kept"...))
		if err != nil || got.String() != kind || len(content) != size+4 || string(content[:4]) != "kept" {
			t.Errorf("%s: a %s of %d bytes, %v", list[i], got, len(content)-4, err)
			return
		}
		buf = content
		if got, content, err = reader.View(id); err != nil || got.String() != kind || string(content) != string(buf[4:]) {
			t.Errorf("%s: viewed as a %s of %d bytes, %v", list[i], got, len(content), err)
			return
		}
	}
}

func TestReadsWhatGitWrote(t *testing.T) {
	tests := []struct {
		name  string
		init  []string
		after func(r *gittest.Repo)
		packs int
	}{
		{"loose", nil, func(*gittest.Repo) {}, 0},
		{"packed", nil, func(r *gittest.Repo) { r.Git("repack", "-adfq", "--depth=50", "--window=50") }, 1},
		{"bases by id", nil, func(r *gittest.Repo) {
			r.Git("-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")
		}, 1},
		{"index version 1", nil, func(r *gittest.Repo) {
			r.Git("-c", "pack.indexVersion=1", "repack", "-adfq")
		}, 1},
		{"large offsets", nil, func(r *gittest.Repo) {
			r.Git("repack", "-adfq")
			packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git/objects/pack/*.pack"))
			idx := strings.TrimSuffix(packs[0], ".pack") + ".idx"
			os.Remove(idx)
			r.Git("index-pack", "--index-version=2,0x40", packs[0])
		}, 1},
		{"two packs and loose ones", nil, func(r *gittest.Repo) {
			r.Git("repack", "-adfq")
			r.Git("update-ref", "refs/heads/b", r.Commit(r.Tree(map[string]string{"b": "b"}), "second"))
			r.Git("repack", "-dq")
			r.Object("blob", "loose")
		}, 2},
		{"bare", []string{"--bare"}, func(r *gittest.Repo) { r.Git("repack", "-adfq") }, 1},
		{"sha256", []string{"--object-format=sha256"}, func(r *gittest.Repo) { r.Git("repack", "-adfq") }, 1},
		{"sha256, loose", []string{"--object-format=sha256"}, func(*gittest.Repo) {}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := gittest.New(t, test.init...)
			fill(r)
			test.after(r)
			list := objects(r)
			for _, cacheBytes := range []int{0, 1000, 200_000} {
				db := open(t, r.Dir, Options{CacheBytes: cacheBytes})
				if len(db.packs) != test.packs {
					t.Errorf("%d packs", len(db.packs))
				}
				check(t, db, db.NewReader(), list, 1)
			}
		})
	}
}

func TestReadersAtOnce(t *testing.T) {
	r := gittest.New(t)
	fill(r)
	r.Git("repack", "-adfq")
	list := objects(r)
	db := open(t, r.Dir, Options{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { check(t, db, db.NewReader(), list, uint64(i)) })
	}
	wg.Wait()
}

func TestPlacesOfRepositories(t *testing.T) {
	r := gittest.New(t)
	fill(r)
	list := objects(r)
	r.Git("worktree", "add", "-q", "wt", "main~3")
	r.Git("clone", "-q", "--shared", ".", "shared")
	r.Git("clone", "-q", "--shared", "shared", "again")
	for _, dir := range []string{".", ".git", "wt", "shared", "again", "again/.git"} {
		db := open(t, filepath.Join(r.Dir, dir), Options{})
		check(t, db, db.NewReader(), list, 1)
	}
	r.Git("clone", "-q", "--depth=1", "file://"+r.Dir, "shallow")
	if db := open(t, filepath.Join(r.Dir, "shallow"), Options{}); !db.Config.Shallow || db.Config.Grafts {
		t.Errorf("%+v", db.Config)
	}
	if _, err := Open(vfs.OS(), filepath.Join(r.Dir, "none"), Options{}); !errors.Is(err, ErrNotGit) {
		t.Error(err)
	}
	if _, err := Open(vfs.OS(), t.TempDir(), Options{}); !errors.Is(err, ErrNotGit) {
		t.Error(err)
	}
}

func TestAlternatesThatLeadNowhere(t *testing.T) {
	mem := vfs.NewMem()
	put := func(name, text string) {
		t.Helper()
		if err := mem.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := vfs.WriteFileAtomic(mem, name, []byte(text), false); err != nil {
			t.Fatal(err)
		}
	}
	put("/a/HEAD", "ref: refs/heads/main\n")
	put("/a/objects/info/alternates", "# none\n\n/b\n../../gone\n")
	put("/b/info/alternates", "/c\n")
	db, err := Open(mem, "/a", Options{})
	if err != nil || len(db.dirs) != 4 {
		t.Fatalf("%v %v", db, err)
	}
	put("/c/info/alternates", "/b\n")
	if _, err := Open(mem, "/a", Options{}); !errors.Is(err, ErrAlternates) {
		t.Error(err)
	}
	put("/c/info/alternates", "/d0\n")
	for i := range 10 {
		put(fmt.Sprintf("/d%d/info/alternates", i), fmt.Sprintf("/d%d\n", i+1))
	}
	if _, err := Open(mem, "/a", Options{}); !errors.Is(err, ErrAlternates) {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	tests := []struct {
		text string
		want Config
		err  error
	}{
		{"", Config{}, nil},
		{"[core]\n\trepositoryformatversion = 0\n\tbare = true ; yes\n", Config{Bare: true}, nil},
		{"[core] repositoryFormatVersion=1\n[extensions]\nobjectFormat = \"SHA256\" # x\n", Config{Format: object.SHA256}, nil},
		{"[core]\nrepositoryformatversion=1\n[extensions]\nrefStorage=reftable\npartialClone=origin\nworktreeConfig\n",
			Config{Reftable: true, Partial: true, Worktrees: true}, nil},
		{"[core]\nrepositoryformatversion=1\n[extensions]\nnext=1\n", Config{}, ErrUnsupported},
		{"[extensions]\nnext=1\n", Config{}, nil},
		{"[core]\nrepositoryformatversion=2\n", Config{}, ErrUnsupported},
		{"[core]\nrepositoryformatversion=1\n[extensions]\nobjectformat=md5\n", Config{}, ErrUnsupported},
	}
	for _, test := range tests {
		if got, err := parseConfig(test.text); !errors.Is(err, test.err) || err == nil && got != test.want {
			t.Errorf("%q: %+v, %v", test.text, got, err)
		}
	}
}
