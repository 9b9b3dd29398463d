package worktree

import (
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

func sample() tree {
	return tree{
		"README": text("hello\n"), "src/main.c": text("int main;\n"), "src/deep/er/x.h": text("#x\n"),
		"run.sh": {data: "#!/bin/sh\n", exec: true}, "link": {data: "src/main.c", kind: Link}, "empty": text(""),
		".gitignore": text("*.o\nbuild/\n"), "src/a-b": text("ab\n"), "src/a/b": text("a/b\n"),
	}
}

func TestCleanTreeReadsNothing(t *testing.T) {
	b := newMem(t)
	b.recorded(sample())
	b.put("x.o", text("ignored"))
	b.put("build/y", text("ignored"))
	b.pass()
	b.want(Options{})
	b.reload()
	res := b.scan(Options{})
	if !res.Clean() || res.Read != 0 || res.Clock != 0 || res.Files != len(sample()) {
		t.Fatalf("clean scan read %d files, clock %d: %v", res.Read, res.Clock, lines(res))
	}
}

func TestEachKindOfChange(t *testing.T) {
	b := newMem(t)
	b.recorded(sample())
	b.put("README", text("hello!\n"))             // another size
	b.put("src/main.c", text("int MAIN;\n"))      // the same
	b.put("run.sh", leaf{data: "#!/bin/sh\n"})    // mode only
	b.remove("empty")                             //
	b.put("src/a-b", leaf{data: "x", kind: Link}) // file to link
	b.remove("link")
	b.put("link", text("src/main.c")) // link to file
	b.put("new", text("new"))
	b.put("dir/new", text("new"))
	b.put("src/z.o", text("ignored"))
	want := []string{"modified README", "modified src/main.c", "mode changed run.sh", "missing empty",
		"type changed src/a-b", "type changed link", "untracked new", "untracked dir/new"}
	b.want(Options{}, want...)
	b.want(Options{IgnoreExec: true}, append(append([]string{}, want[:2]...), want[3:]...)...)
	b.want(Options{Paths: []string{"src"}}, "modified src/main.c", "type changed src/a-b")
	b.want(Options{Paths: []string{"src/a-b", "dir", "empty", "nothing"}},
		"type changed src/a-b", "untracked dir/new", "missing empty")
	b.want(Options{Hints: Hints{Complete: true, Paths: []string{"src"}}}, "modified src/main.c", "type changed src/a-b")
	b.want(Options{Hints: Hints{Complete: true, Paths: []string{"src", "new"}}, Paths: []string{"src/main.c", "new"}},
		"modified src/main.c", "untracked new")
	b.want(Options{Hints: Hints{Complete: true}})
	b.want(Options{Collapse: true, Ignored: true},
		"modified README", "modified src/main.c", "mode changed run.sh", "missing empty", "type changed src/a-b",
		"type changed link", "untracked new", "untracked dir/", "ignored src/z.o")
	for _, c := range b.scan(Options{Exact: true}).Changed {
		if c.Status != Missing && !c.Hashed {
			t.Errorf("%s is not hashed", c.Path)
		}
	}
}

func TestRacySameSizeAndTime(t *testing.T) {
	b := newMem(t)
	b.fill(tree{"f": text("one")})
	b.base(tree{"f": text("one")})
	b.want(Options{}) // within the tick in which the file was written
	b.reload()
	b.put("f", text("two"))
	b.want(Options{}, "modified f")
	b.put("f", text("one"))
	b.pass()
	b.want(Options{})
	b.reload()
	if res := b.scan(Options{}); res.Read != 0 {
		t.Error("a settled file is read again")
	}
}

func TestClockSetBack(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"f": text("one")})
	b.now = memStart - 3_600_000_000_001
	b.put("f", text("two"))
	b.want(Options{}, "modified f")
	b.put("f", text("one"))
	b.want(Options{})
	b.reload()
	b.put("f", text("two"))
	b.want(Options{}, "modified f")
}

func TestIgnoreRulesAddedLater(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"a/b/f": text("f"), "a/.oxyignore": text("*.tmp\n")})
	b.put("a/b/x.tmp", text("x"))
	b.put("a/b/y.log", text("y"))
	b.pass()
	b.want(Options{}, "untracked a/b/y.log")
	b.reload()
	b.put(".gitignore", text("*.log\n.gitignore\n")) // ignores itself
	b.pass()
	b.want(Options{})
	b.reload()
	b.want(Options{})
	b.put(".gitignore", text("*.lag\n.gitignore\n")) // in place: no directory changes
	b.want(Options{}, "untracked a/b/y.log")
	b.put("a/.oxyignore", text("!*.tmp\n"))
	b.want(Options{}, "modified a/.oxyignore", "untracked a/b/x.tmp", "untracked a/b/y.log")
	b.put("a/.oxyignore", text("*.tmp\n"))
	b.pass()
	b.want(Options{Excludes: [][]byte{[]byte("*.log\n")}})
	b.reload()
	b.want(Options{Excludes: [][]byte{[]byte("*.log\n")}})
	b.want(Options{}, "untracked a/b/y.log")
}

// An untracked file must not hide because it was tracked when its directory was last listed.
func TestUntrackedAfterRemovalFromTheManifest(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"d/e/f": text("f"), "g": text("g")})
	b.must(b.m.Update([]Edit{{Path: "d/e/f", Delete: true}}))
	b.reload()
	b.want(Options{}, "untracked d/e/f")
	b.want(Options{Collapse: true}, "untracked d/")
}

// Nothing may hide in a directory that was empty when its parent was listed.
func TestEmptyUntrackedDirectoryFillsLater(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"f": text("f")})
	b.must(b.fs.MkdirAll(b.name("new/er"), 0o777))
	b.pass()
	b.want(Options{})
	b.reload()
	b.put("new/er/file", text(""))
	b.want(Options{}, "untracked new/er/file")
}

func TestDirectoryToLinkToFileAndBack(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"d/x": text("x"), "d/e/y": text("y"), "f": text("f")})
	b.must(b.fs.Rename(b.name("d"), b.name("other")))
	b.put("d", leaf{data: "other", kind: Link})
	b.want(Options{}, "missing d/x", "missing d/e/y", "untracked d", "untracked other/x", "untracked other/e/y")
	b.want(Options{Paths: []string{"d/e"}}, "missing d/e/y")
	b.remove("d")
	b.put("d", text("now a file"))
	b.want(Options{Collapse: true}, "missing d/x", "missing d/e/y", "untracked d", "untracked other/")
	b.remove("d")
	b.must(b.fs.Rename(b.name("other"), b.name("d")))
	b.want(Options{})
	b.remove("f")
	b.put("f/inside", text("f"))
	b.want(Options{}, "missing f", "untracked f/inside")
	b.want(Options{Paths: []string{"f"}}, "missing f", "untracked f/inside")
	b.remove("f")
	b.put("f", text("f"))
	b.want(Options{})
}

func TestLinkCycleAndLongTarget(t *testing.T) {
	long := strings.Repeat("long/", 800)[:4000]
	b := newDisk(t)
	b.recorded(tree{"a/self": {data: ".", kind: Link}, "a/up": {data: "../a", kind: Link}, "long": {data: long, kind: Link}})
	b.want(Options{})
	b.put("long", leaf{data: long[:3999] + "X", kind: Link})
	b.put("a/loop", leaf{data: "loop", kind: Link})
	b.want(Options{}, "modified long", "untracked a/loop")
}

func TestStrangeNames(t *testing.T) {
	b := newDisk(t)
	names := []string{"new\nline", "quote\"'\\", "not\xff\xfeutf8", strings.Repeat("n", 255), "-dash", " space ", "é", "e\u0301",
		"tab\t", "*.c", "~", "a~1", "CON", "d\nir/\xff/x"}
	st := tree{}
	for _, n := range names {
		st[n] = text(n)
	}
	b.recorded(st)
	b.want(Options{})
	b.put("new\nline", text("edited"))
	b.put("untracked\xff", text(""))
	b.want(Options{}, "modified new\nline", "untracked untracked\xff")
	for path, l := range st {
		if data, _, err := ReadPath(b.root, b.m, path, nil, 1<<20); path != "new\nline" && (err != nil || string(data) != l.data) {
			t.Errorf("%q reads as %q, %v", path, data, err)
		}
	}
}

func TestNestedRepositoriesAndOwnDirectories(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{"f": text("f"), "sub/f": text("f")})
	b.put(".git/config", text(""))
	b.put("sub/.git/config", text("")) // a tracked directory made a repository: its .git is not contents
	b.put("nested/.git/config", text(""))
	b.put("nested/file", text(""))
	b.put("in/ner/.oxy/x", text(""))
	b.put("in/ner/y", text(""))
	b.put(".oxy~left", text("of a killed checkout"))
	b.want(Options{}, "nested nested/", "nested in/ner/")
	b.want(Options{Collapse: true}, "nested nested/", "untracked in/")
	b.want(Options{Paths: []string{"nested/file", "f"}}, "nested nested/")
}

func TestUnreadableIsReportedAndTheRestIsSeen(t *testing.T) {
	b := newMem(t)
	b.recorded(sample())
	b.put("README", text("HELLO\n"))
	b.put("new", text(""))
	for n := 1; ; n++ {
		faulty := vfs.Inject(b.fs, n, vfs.ErrTooLarge, vfs.FaultReads)
		root, err := faulty.OpenDir(b.path)
		if err != nil {
			continue
		}
		clean := *b
		clean.root = root
		m, err := Load(b.fs, b.meta())
		b.must(err)
		clean.m = m
		res := clean.scan(Options{Workers: 1})
		root.Close()
		if !faulty.Fired() {
			break
		}
		// Whatever could not be looked at is named; nothing is taken for clean in silence.
		if len(res.Errors) == 0 {
			b.want(Options{}, lines(res)...)
		}
		m.Close()
	}
}
