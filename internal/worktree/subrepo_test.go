package worktree

import (
	"maps"
	"slices"
	"testing"
)

func pin(s string) leaf { return leaf{data: s, kind: Subrepo} }

// A subrepo is a directory whose inside nobody looks at, and which may be absent: neither is a difference. It comes in place of files,
// and gives way to one only while there is nothing in it.
func TestSubrepoOnDisk(t *testing.T) {
	for _, newBox := range []func(testing.TB) *box{newMem, newDisk} {
		b := newBox(t)
		files := tree{"a": text("a"), "lib/x": text("x"), "lib/y/z": text("z"), "sub": text("a file")}
		subs := tree{"a": text("a"), "lib": pin("one"), "sub": pin("two"), "deep/er": pin("three")}
		moved := maps.Clone(subs)
		moved["lib"] = pin("another")
		b.recorded(files)
		b.must(b.apply(files, subs, ApplyOptions{}))
		b.m.SetBase(2, [32]byte{2})
		b.reload()
		b.want(Options{})
		for _, dir := range []string{"lib/", "sub/", "deep/er/"} {
			if _, ok := b.disk()[dir]; !ok {
				t.Fatalf("%s is not there: %v", dir, b.disk())
			}
		}
		if got := b.scan(Options{}).Subrepos; !slices.Equal(got, []string{"deep/er", "lib", "sub"}) {
			t.Fatalf("%q", got)
		}

		// What is cloned into it, or that it is gone, is no difference; another pin touches nothing.
		b.put("lib/.oxy/format", text("a repository"))
		b.put("lib/x", text("inside"))
		b.remove("deep")
		b.want(Options{})
		if got := b.scan(Options{Paths: []string{"deep"}}).Subrepos; !slices.Equal(got, []string{"deep/er"}) {
			t.Fatalf("%q", got)
		}
		b.must(b.apply(subs, moved, ApplyOptions{}))
		b.want(Options{})
		b.must(b.apply(moved, subs, ApplyOptions{}))
		if got := b.files()["lib/x"]; got != text("inside") {
			t.Fatalf("%v", got)
		}

		// Back to files: not over what is in it. Without that, it gives way; one that stays stays as a whole.
		b.wantLost(subs, files, "lib/x")
		none := tree{"a": text("a")}
		b.must(b.apply(subs, none, ApplyOptions{}))
		if got := b.disk(); len(got) != 5 || got["lib/x"] != text("inside") {
			t.Fatalf("%v", got)
		}
		b.remove("lib")
		b.must(b.apply(none, subs, ApplyOptions{}))
		b.must(b.apply(subs, files, ApplyOptions{}))
		b.wantFiles(files)
		b.m.SetBase(1, [32]byte{1})
		b.want(Options{})

		// A file that somebody put in its place is theirs.
		b.must(b.apply(files, subs, ApplyOptions{}))
		b.remove("sub")
		b.put("sub", text("mine"))
		b.wantLost(subs, files, "sub")
		b.wantLost(subs, tree{"a": text("a"), "sub": pin("new")}, "sub")
	}
}
