package vfs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func seeded(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0)) }

// dump shows a whole tree, one "path=contents" or "path/" after the other.
func dump(t interface{ Fatal(...any) }, fsys FS, dir string) string {
	var out []string
	names, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		p := path.Join(dir, name)
		var st Stat
		if err := fsys.Lstat(p, &st); err != nil {
			t.Fatal(err)
		}
		switch st.Kind {
		case KindDir:
			out = append(out, p+"/")
			if sub := dump(t, fsys, p); sub != "" {
				out = append(out, sub)
			}
		case KindFile:
			b, err := fsys.ReadFile(p, maxMemFile)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, p+"="+string(b))
		default:
			out = append(out, p+"@")
		}
	}
	return strings.Join(out, " ")
}

// TestCrash runs commands, then cuts the power many times. worst is what is left for certain; among the outcomes of
// chance must be exactly those in may. "\x00" is a size that was kept without its block.
func TestCrash(t *testing.T) {
	for _, c := range []struct {
		name, steps, worst string
		may                []string
	}{
		{"nothing synced", "write f a", "", []string{"", "/f=", "/f=\x00", "/f=a"}},
		{"contents only", "write f a; sync f", "", []string{"", "/f=a"}},
		{"name only", "write f a; syncdir .", "/f=", []string{"/f=", "/f=\x00", "/f=a"}},
		{"both", "write f a; sync f; syncdir .", "/f=a", []string{"/f=a"}},
		{"overwritten", "write f a; sync f; syncdir .; at f 0 b", "/f=a", []string{"/f=a", "/f=b"}},
		{"emptied", "write f a; sync f; syncdir .; write f b", "/f=a", []string{"/f=a", "/f=b", "/f=", "/f=\x00"}},
		{"cut", "write f abc; sync f; syncdir .; cut f 1", "/f=abc", []string{"/f=abc", "/f=a", "/f=a\x00\x00"}},
		{"removed", "write f a; sync f; syncdir .; rm f", "/f=a", []string{"/f=a", ""}},
		{"removed for good", "write f a; sync f; syncdir .; rm f; syncdir .", "", []string{""}},
		{"renamed", "write f a; sync f; syncdir .; mv f g", "/f=a", []string{"/f=a", "/g=a"}},
		{"renamed when new", "write f a; sync f; mv f g", "", []string{"", "/f=a", "/g=a"}},
		{"replaced", "write f a; sync f; write g b; sync g; syncdir .; mv f g", "/f=a /g=b", []string{"/f=a /g=b", "/g=a"}},
		{"replaced without contents", "write g b; sync g; syncdir .; write f a; mv f g", "/g=b",
			[]string{"/g=b", "/f= /g=b", "/f=\x00 /g=b", "/f=a /g=b", "/g=", "/g=\x00", "/g=a"}},
		{"swapped", "write f a; write g b; sync f; sync g; syncdir .; mv f h; mv g f; mv h g", "/f=a /g=b",
			[]string{"/f=a /g=b", "/g=b /h=a", "/f=b /h=a", "/f=b /g=a"}},
		{"exchanged", "write f a; write g b; sync f; sync g; syncdir .; @. swap f g", "/f=a /g=b",
			[]string{"/f=a /g=b", "/f=b /g=a"}},
		{"exchanged and removed", "write f a; write g b; sync f; sync g; syncdir .; @. swap f g; @. rm f", "/f=a /g=b",
			[]string{"/f=a /g=b", "/f=b /g=a", "/g=a"}},
		{"exchanged without contents", "write g b; sync g; syncdir .; write f a; @. swap f g", "/g=b",
			[]string{"/g=b", "/f= /g=b", "/f=\x00 /g=b", "/f=a /g=b", "/f=b /g=", "/f=b /g=\x00", "/f=b /g=a"}},
		{"exchanged for good", "write f a; write g b; sync f; sync g; @. swap f g; syncdir .", "/f=b /g=a",
			[]string{"/f=b /g=a"}},
		{"new directory", "mkdir d; write d/f a; sync d/f; syncdir d", "", []string{"", "/d/ /d/f=a"}},
		{"child first", "mkdir d; write d/f a; sync d/f; syncdir d; syncdir .", "/d/ /d/f=a", []string{"/d/ /d/f=a"}},
		{"parent only", "mkdir d; write d/f a; sync d/f; syncdir .", "/d/", []string{"/d/", "/d/ /d/f=a"}},
		{"moved into a new directory", "write f a; sync f; syncdir .; mkdir d; mv f d/f", "/f=a",
			[]string{"/f=a", "/d/ /f=a", "/d/ /d/f=a"}},
		{"moved and half synced", "write f a; sync f; syncdir .; mkdir d/e; mv f d/e/f; syncdir d/e", "/f=a",
			[]string{"/f=a", "/d/ /f=a", "/d/ /d/e/ /d/e/f=a"}},
		{"moved and synced", "write f a; sync f; syncdir .; mkdir d/e; mv f d/e/f; syncdir d/e; syncdir d; syncdir .",
			"/d/ /d/e/ /d/e/f=a", []string{"/d/ /d/e/ /d/e/f=a"}},
		{"moved out and removed", "mkdir d; write d/f a; sync d/f; syncdir d; syncdir .; mv d/f f; rm d", "/d/ /d/f=a",
			[]string{"/d/ /d/f=a", "/d/ /f=a", "/f=a"}},
		{"the source's sync is enough", "mkdir a; mkdir b; syncdir .; write a/f x; sync a/f; syncdir a; mv a/f b/f; syncdir a",
			"/a/ /b/ /b/f=x", []string{"/a/ /b/ /b/f=x"}},
		{"created elsewhere", "mkdir a; mkdir b; syncdir .; write a/t x; sync a/t; mv a/t b/f; syncdir b", "/a/ /b/ /b/f=x",
			[]string{"/a/ /b/ /b/f=x"}},
		{"a directory in another's place", "mkdir a; mkdir b; syncdir .; mv a b; write b/f x; sync b/f; syncdir b", "/a/ /a/f=x /b/",
			[]string{"/a/ /a/f=x /b/", "/b/ /b/f=x"}},
		{"directories change places", "mkdir a; mkdir b; mkdir c; syncdir .; mv a b/a; mv b/a c/a; mv b c/a/b",
			"/a/ /b/ /c/", []string{"/a/ /b/ /c/", "/b/ /b/a/ /c/", "/b/ /c/ /c/a/", "/c/ /c/a/ /c/a/b/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := NewMem()
			runSteps(t, &script{t, m, "/"}, strings.ReplaceAll(c.steps, "; ", "\n"))
			before := dump(t, m, "/")
			if got := dump(t, m.CrashWorst(), "/"); got != c.worst {
				t.Errorf("at worst %q, want %q", got, c.worst)
			}
			may := map[string]bool{}
			for _, s := range c.may {
				may[s] = true
			}
			seen := map[string]bool{}
			for seed := range 400 {
				got := dump(t, m.Crash(seeded(seed)), "/")
				if !may[got] {
					t.Fatalf("unexpected outcome %q", got)
				}
				if again := dump(t, m.Crash(seeded(seed)), "/"); again != got {
					t.Fatalf("%q, then with the same seed %q", got, again)
				}
				seen[got] = true
			}
			for _, s := range c.may {
				if !seen[s] {
					t.Errorf("outcome %q never came up", s)
				}
			}
			if after := dump(t, m, "/"); after != before {
				t.Errorf("the crash changed the original: %q, was %q", after, before)
			}
		})
	}
}

func TestTornWrite(t *testing.T) {
	m := NewMem()
	f, err := m.OpenFile("/f", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	old, new := bytes.Repeat([]byte{'o'}, 3*crashBlock), bytes.Repeat([]byte{'n'}, 3*crashBlock)
	f.WriteAt(old, 0)
	f.Sync()
	f.WriteAt(new, 0)
	f.Close()
	m.SyncDir("/")
	seen := map[string]bool{}
	for seed := range 300 {
		got, err := m.Crash(seeded(seed)).ReadFile("/f", maxMemFile)
		if err != nil || len(got) != len(old) {
			t.Fatal(len(got), err)
		}
		var blocks []byte
		for off := 0; off < len(got); off += crashBlock {
			block := got[off : off+crashBlock]
			if bytes.Count(block, block[:1]) != crashBlock {
				t.Fatal("a block is torn")
			}
			blocks = append(blocks, block[0])
		}
		seen[string(blocks)] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d of 8 outcomes came up", len(seen))
	}
}

func TestModeAfterCrash(t *testing.T) {
	m := NewMem()
	runSteps(t, &script{t, m, "/"}, "write f x\nfchmod f 755\nsync f\nsyncdir .")
	seen := map[os.FileMode]bool{}
	for seed := range 50 {
		var st Stat
		if err := m.Crash(seeded(seed)).Lstat("/f", &st); err != nil {
			t.Fatal(err)
		}
		seen[st.Mode] = true
	}
	if len(seen) != 2 || !seen[0o644] || !seen[0o755] {
		t.Errorf("modes %v", seen)
	}
}

// inodes counts the names of each inode.
func inodes(t *rapid.T, fsys FS, dir string, count map[uint64]int) {
	names, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		var st Stat
		if err := fsys.Lstat(path.Join(dir, name), &st); err != nil {
			t.Fatal(err)
		}
		count[st.Ino]++
		if st.Kind == KindDir {
			inodes(t, fsys, path.Join(dir, name), count)
		}
	}
}

// TestCrashKeepsTheTreeWhole checks after random commands that no outcome loses or doubles what was durable before and
// was never removed, and that after syncing everything there is one outcome.
func TestCrashKeepsTheTreeWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := NewMem()
		s := &script{t, m, "/"}
		elem := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		file := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(elem, 1, 3).Draw(rt, "path"), "/")
		})
		durable := map[uint64]int{}
		for range rapid.IntRange(1, 50).Draw(rt, "steps") {
			p, q := file.Draw(rt, "p"), file.Draw(rt, "q")
			s.run(rapid.SampledFrom([]string{
				"mkdir " + p, "write " + p + " x", "mv " + p + " " + q, "mv " + p + " " + q, "rm " + p, "rmall " + p,
				"syncdir " + p, "syncdir .", "sync " + p, "append " + p + " y",
			}).Draw(rt, "command"))
			now := map[uint64]int{}
			inodes(rt, m, "/", now)
			for ino := range durable {
				if now[ino] == 0 {
					delete(durable, ino)
				}
			}
			found := map[uint64]int{}
			inodes(rt, m.Crash(seeded(rapid.Int().Draw(rt, "seed"))), "/", found)
			for ino, n := range found {
				if n != 1 {
					rt.Fatalf("inode %d has %d names", ino, n)
				}
			}
			worst := map[uint64]int{}
			inodes(rt, m.CrashWorst(), "/", worst)
			for ino := range durable {
				if found[ino] == 0 || worst[ino] == 0 {
					rt.Fatalf("inode %d was durable and is lost", ino)
				}
			}
			for ino := range worst {
				if now[ino] > 0 {
					durable[ino] = 1
				}
			}
		}
		syncAll(rt, m, "/")
		want := dump(rt, m, "/")
		for _, found := range []*Mem{m.CrashWorst(), m.Crash(seeded(1))} {
			if got := dump(rt, found, "/"); got != want {
				rt.Fatalf("all synced, yet %q became %q", want, got)
			}
		}
	})
}

// syncAll syncs everything, parents first.
func syncAll(t *rapid.T, m *Mem, dir string) {
	if err := m.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	names, _ := m.ReadDir(dir)
	for _, name := range names {
		p := path.Join(dir, name)
		f, err := m.OpenFile(p, os.O_RDONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var st Stat
		f.Stat(&st)
		f.Sync()
		f.Close()
		if st.Kind == KindDir {
			syncAll(t, m, p)
		}
	}
}

func ExampleMem_Crash() {
	m := NewMem()
	f, _ := m.OpenFile("/log", os.O_WRONLY|os.O_CREATE, 0o644)
	f.Write([]byte("synced, "))
	f.Sync()
	m.SyncDir("/")
	f.Write([]byte("not synced"))
	b, _ := m.CrashWorst().ReadFile("/log", 100)
	fmt.Printf("%s\n", b)
	// Output: synced,
}
