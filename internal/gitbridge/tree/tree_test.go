package tree

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

// trees keeps trees in memory.
type trees struct {
	hasher *object.Hasher
	raw    map[object.ID][]byte
	reads  int
}

func newTrees() *trees {
	t := &trees{hasher: object.NewHasher(object.SHA1, nil), raw: map[object.ID][]byte{}}
	t.add(nil)
	return t
}

func (t *trees) add(raw []byte) object.ID {
	id, _ := t.hasher.Sum(object.TreeKind, raw)
	t.raw[id] = raw
	return id
}

func (t *trees) View(id object.ID) (object.Kind, []byte, error) {
	t.reads++
	if id == (object.ID{0: 0xb1}) {
		return object.BlobKind, nil, nil
	}
	raw, found := t.raw[id]
	if !found {
		return 0, nil, fmt.Errorf("no tree %s", id)
	}
	return object.TreeKind, raw, nil
}

func (t *trees) load(id object.ID) ([]byte, error) {
	_, raw, err := t.View(id)
	return raw, err
}

// files is a tree as everybody would write it down: what is at each path. A path that ends in a slash is a directory
// that has a row of its own.
type files map[string]Side

// write makes Git's tree of files the slow way.
func (t *trees) write(all files) object.ID {
	type item struct {
		key string // that it sorts by
		object.Entry
	}
	var items []item
	below := map[string]files{}
	padded := map[string]bool{}
	for path, side := range all {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			items = append(items, item{name, object.Entry{Mode: side.Mode, Name: []byte(name), ID: slices.Clone(side.ID[:20])}})
			continue
		}
		if below[name] == nil {
			below[name] = files{}
		}
		if rest != "" {
			below[name][rest] = side
		} else {
			padded[name] = side.Mode&object.ModePadded != 0
		}
	}
	for name, list := range below {
		id := t.write(list)
		mode := object.ModeTree
		if padded[name] {
			mode |= object.ModePadded
		}
		items = append(items, item{name + "/", object.Entry{Mode: mode, Name: []byte(name), ID: slices.Clone(id[:20])}})
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a.key, b.key) })
	var raw []byte
	for i := range items {
		raw = object.AppendEntry(raw, &items[i].Entry)
	}
	return t.add(raw)
}

// normal gives empty directories the id that rows have, and takes rows of directories away that are neither empty nor
// padded.
func (f files) normal(empty object.ID) files {
	out := files{}
	for path, side := range f {
		if dir, isDir := strings.CutSuffix(path, "/"); isDir {
			full := false
			for other := range f {
				full = full || other != path && strings.HasPrefix(other, dir+"/")
			}
			side.ID = object.ID{}
			if !full {
				side.ID = empty
			} else if side.Mode&object.ModePadded == 0 {
				continue
			}
		}
		out[path] = side
	}
	return out
}

func drawFiles(t *rapid.T, label string) files {
	paths := rapid.SampledFrom([]string{"a", "a.b", "a/b", "a/b/c", "a-/x", "b", "b/a", "b/a/a", "c/", "c/d/", "c/d/e", "a/", "b/", "z"})
	modes := rapid.SampledFrom([]object.Mode{object.ModeFile, object.ModeExec, object.ModeLink, object.ModeSubmodule, object.ModeGroup, object.ModeFile | object.ModePadded})
	out := files{}
	for range rapid.IntRange(0, 10).Draw(t, label) {
		path := paths.Draw(t, "path")
		if out.clashes(path) {
			continue
		}
		if strings.HasSuffix(path, "/") {
			mode := object.ModeTree
			if rapid.Bool().Draw(t, "padded") {
				mode |= object.ModePadded
			}
			out[path] = Side{Mode: mode}
		} else {
			out[path] = Side{modes.Draw(t, "mode"), object.ID{rapid.ByteRange(1, 3).Draw(t, "content")}}
		}
	}
	return out
}

// clashes tells whether path or what leads to it is a file where there must be a directory, or the reverse.
func (f files) clashes(path string) bool {
	bare := strings.TrimSuffix(path, "/")
	for other := range f {
		o := strings.TrimSuffix(other, "/")
		if o == bare && other != path || strings.HasPrefix(o+"/", bare+"/") && bare == path || strings.HasPrefix(bare+"/", o+"/") && o == other {
			return true
		}
	}
	return false
}

func TestWalkAgainstMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := newTrees()
		w := NewWalker(object.SHA1, store)
		for range 2 { // the second time from used memory
			var sides []files
			var ids []object.ID
			for range rapid.IntRange(1, 4).Draw(t, "sides") {
				f := drawFiles(t, "files").normal(w.empty)
				ids = append(ids, store.write(f))
				sides = append(sides, f)
			}
			want := map[string][]Side{}
			for _, f := range sides {
				for path := range f {
					row := make([]Side, len(sides))
					for i := range sides {
						row[i] = sides[i][path]
					}
					if !allAlike(row) {
						want[path] = row
					}
				}
			}
			got := map[string][]Side{}
			before := ""
			err := w.Walk(ids, func(path []byte, sides []Side) error {
				key := string(path)
				for _, s := range sides {
					if s.Mode.Bare() == object.ModeTree {
						key = string(path) + "/"
					}
				}
				if _, twice := got[key]; twice || key <= before {
					t.Errorf("row %q after %q", key, before)
				}
				before = key
				got[key] = slices.Clone(sides)
				return nil
			})
			if err != nil || !maps.EqualFunc(got, want, slices.Equal[[]Side]) {
				t.Fatalf("got %v\nwant %v\n%v", got, want, err)
			}
		}
	})
}

func allAlike(row []Side) bool {
	for _, s := range row {
		if s != row[0] {
			return false
		}
	}
	return true
}

// From any tree to any other by the rows of a walk, in any order, and back.
func TestApplyAgainstWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := newTrees()
		w := NewWalker(object.SHA1, store)
		b := NewBuilder(object.SHA1, store.load)
		from := store.write(drawFiles(t, "from").normal(w.empty))
		now, err := b.Open(from)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "from nothing") {
			from, now = w.empty, b.Empty()
		}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			all := drawFiles(t, "to").normal(w.empty)
			to := store.write(all)
			var edits []Edit
			if err := w.Walk([]object.ID{to, from}, func(path []byte, sides []Side) error {
				edits = append(edits, Edit{string(path), sides[0]})
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			edits = rapid.Permutation(edits).Draw(t, "edits")
			made := map[object.ID]bool{}
			next, err := b.Apply(now, edits, func(id object.ID, raw []byte) error {
				if again := store.add(raw); again != id {
					t.Errorf("%s is given out as %s", again, id)
				}
				made[id] = true
				return nil
			})
			if err != nil || next.ID() != to {
				t.Fatalf("%v by %v: %s, want %s: %v", from, edits, next.ID(), to, err)
			}
			if len(edits) > 0 && from != to && !made[to] {
				t.Fatalf("the root was not given out")
			}
			if now.ID() != from {
				t.Fatal("the tree before has changed")
			}
			for path, side := range all {
				got, err := b.Get(next, strings.TrimSuffix(path, "/"))
				if err != nil || got.Mode != side.Mode || !strings.HasSuffix(path, "/") && got != side {
					t.Fatalf("%s: %v, %v", path, got, err)
				}
			}
			from, now = to, next
		}
	})
}

func TestApplyRefuses(t *testing.T) {
	b := NewBuilder(object.SHA1, nil)
	file := Side{object.ModeFile, object.ID{1}}
	at, err := b.Apply(b.Empty(), []Edit{{"a/b", file}, {"c", file}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		edits []Edit
		want  error
	}{
		{[]Edit{{"a", file}}, ErrBoth},
		{[]Edit{{"c/d", file}}, ErrBoth},
		{[]Edit{{"", file}}, safepath.ErrMalformed},
		{[]Edit{{"/x", file}}, safepath.ErrMalformed},
		{[]Edit{{"x/", file}}, safepath.ErrMalformed},
		{[]Edit{{"x//y", file}}, safepath.ErrMalformed},
		{[]Edit{{strings.Repeat("x/", 3000) + "x", file}}, safepath.ErrMalformed},
	} {
		if _, err := b.Apply(at, test.edits, nil); !errors.Is(err, test.want) {
			t.Errorf("%v: %v, want %v", test.edits, err, test.want)
		}
	}
	if _, err := b.Open(object.ID{1}); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

func TestWalkRefuses(t *testing.T) {
	store := newTrees()
	w := NewWalker(object.SHA1, store)
	file := Side{object.ModeFile, object.ID{1}}
	deep := store.write(files{"x": file})
	for range 4100 {
		deep = store.add(object.AppendEntry(nil, &object.Entry{Mode: object.ModeTree, Name: []byte("d"), ID: deep[:20]}))
	}
	// Each level has the one below ten times: 10^9 paths.
	bomb := store.write(files{"x": file})
	for range 9 {
		var raw []byte
		for i := range 10 {
			raw = object.AppendEntry(raw, &object.Entry{Mode: object.ModeTree, Name: fmt.Appendf(nil, "%d", i), ID: bomb[:20]})
		}
		bomb = store.add(raw)
	}
	one := func(e object.Entry) object.ID { return store.add(object.AppendEntry(nil, &e)) }
	some := make([]byte, 20)
	some[0] = 0xb1
	for name, test := range map[string]struct {
		id   object.ID
		want error
	}{
		"a name of Git's own":         {one(object.Entry{Mode: object.ModeFile, Name: []byte(".GIT"), ID: some}), safepath.ErrReserved},
		"a directory of Git's own":    {one(object.Entry{Mode: object.ModeTree, Name: []byte("git~1"), ID: deep[:20]}), safepath.ErrReserved},
		"up":                          {one(object.Entry{Mode: object.ModeTree, Name: []byte(".."), ID: deep[:20]}), safepath.ErrOutside},
		"a long name":                 {one(object.Entry{Mode: object.ModeFile, Name: []byte(strings.Repeat("x", 256)), ID: some}), safepath.ErrTooLong},
		"deep":                        {deep, safepath.ErrTooLong},
		"a blob for a directory":      {one(object.Entry{Mode: object.ModeTree, Name: []byte("d"), ID: some}), ErrNotTree},
		"out of order":                {store.add([]byte("100644 b\x00aaaaaaaaaaaaaaaaaaaa100644 a\x00aaaaaaaaaaaaaaaaaaaa")), object.ErrTreeOrder},
		"paths without end, no names": {bomb, errStop},
	} {
		rows := 0
		err := w.Walk([]object.ID{test.id, {}}, func([]byte, []Side) error {
			if rows++; rows > 100_000 {
				return errStop
			}
			return nil
		})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

var errStop = errors.New("enough")

// What is passed without asking safepath would have passed there.
func TestPlainNamesAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]string{"git", "oxy", "GIT", ".", "~1", " ", ":", "\\", "a", "-", "_", "+", "\u200c", "/", "\x00", "CON", "0"})
		name := strings.Join(rapid.SliceOfN(parts, 0, 6).Draw(t, "parts"), "")
		if plain([]byte(name)) && safepath.CheckName(name) != nil {
			t.Fatalf("%q", name)
		}
	})
}
