package state

import (
	"fmt"
	"iter"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// model is the oracle: a tree as plain maps.
type model struct {
	entries map[string]Entry
	files   map[change.FileID]fileItem // without keys
	vacated map[string][]uint32        // ascending
	// hidden has the entries of hidden files, their paths those where they would stand.
	hidden   map[change.FileID]Entry
	disputes []Dispute
	set      Set
	acts     map[Ref][]Act // of all models that come from each other
}

func newModel() *model {
	return &model{entries: map[string]Entry{}, files: map[change.FileID]fileItem{}, vacated: map[string][]uint32{}, hidden: map[change.FileID]Entry{}, acts: map[Ref][]Act{}}
}

func (m *model) clone() *model {
	return &model{
		entries: maps.Clone(m.entries), files: maps.Clone(m.files), vacated: maps.Clone(m.vacated),
		hidden: maps.Clone(m.hidden), disputes: slices.Clone(m.disputes), set: m.set, acts: m.acts,
	}
}

func (m *model) paths() []string { return slices.SortedFunc(maps.Keys(m.entries), ComparePaths) }

func (m *model) all() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, p := range m.paths() {
			e := m.entries[p]
			if !yield(&e) {
				return
			}
		}
	}
}

// apply does what Edit's documentation says, the slow way.
func (m *model) apply(edits []Edit) {
	var left []Edit
	for _, e := range edits {
		if old, ok := m.entries[e.Path]; ok && (e.Delete || old.File != e.Entry.File) {
			e.Entry = old
			left = append(left, e)
			delete(m.entries, e.Path)
		}
	}
	for _, l := range left {
		id := l.Entry.File
		switch {
		case l.Forget:
			delete(m.files, id)
		case l.Hide != "":
			m.hide(l.Entry, l.Hide)
		default:
			m.files[id] = fileItem{file: id, path: l.Entry.Path, status: fileGone, by: l.By, weave: l.TombWeave, acts: l.TombActs}
		}
	}
	for _, e := range edits {
		if !e.Delete {
			e.Entry.Path = e.Path
			m.entries[e.Path] = e.Entry
			m.files[e.Entry.File] = fileItem{file: e.Entry.File, path: e.Path}
			delete(m.hidden, e.Entry.File)
		}
	}
}

func (m *model) hide(e Entry, place string) {
	e.Path = place
	m.hidden[e.File] = e
	m.files[e.File] = fileItem{file: e.File, path: place, status: fileHidden}
}

// applyFiles is the same for EditFiles.
func (m *model) applyFiles(edits []FileEdit) {
	for _, e := range edits {
		old := m.hidden[e.File]
		delete(m.hidden, e.File)
		switch {
		case e.Forget:
			delete(m.files, e.File)
		case e.Hide:
			old.File = e.File
			m.hide(old, e.Path)
		default:
			m.files[e.File] = fileItem{file: e.File, path: e.Path, status: fileGone, by: e.By, weave: e.Weave, acts: e.Acts}
		}
	}
}

// world makes random edits of a model.
type world struct {
	r      *rand.Rand
	change uint32
	long   bool // some names of hundreds of bytes
	// Directories with names so long that an inner page has room for few of them: a few thousand entries make a tree
	// of four levels.
	dirs []string
	// Some files are hidden: the disputes must be put right afterwards.
	hides bool
	// refs gives some refs for what is at a path, which may add to what was there.
	refs func(path string, weave, acts Ref) (Ref, Ref)
}

func (w *world) makeDirs() {
	for range 60 {
		p := fmt.Sprintf("%03d", w.r.Intn(1000))
		for range 4 {
			p += strings.Repeat("d", 230) + "/"
		}
		w.dirs = append(w.dirs, p)
	}
}

func (w *world) name() string {
	const near = "/.-0 \x01\xff\xc3a"
	n := 1 + w.r.Intn(4)
	if w.long && w.r.Intn(20) == 0 {
		n = 200 + w.r.Intn(56)
	}
	var b strings.Builder
	for range n {
		b.WriteByte(near[1+w.r.Intn(len(near)-1)])
	}
	return b.String()
}

func (w *world) path() string {
	if w.dirs != nil {
		return w.dirs[w.r.Intn(len(w.dirs))] + fmt.Sprintf("%03x", w.r.Intn(1<<12))
	}
	depth := 1 + w.r.Intn(4)
	if w.long && w.r.Intn(10) == 0 {
		depth = 15
	}
	var parts []string
	for range depth {
		parts = append(parts, w.name())
	}
	p := strings.Join(parts, "/")
	return p[:min(len(p), MaxPath)]
}

func (w *world) id() change.FileID {
	return change.FileID{Change: uint32(w.r.Intn(int(w.change) + 1)), Ord: uint32(w.r.Intn(1000))}
}

func (w *world) entry(file change.FileID) Entry {
	e := Entry{File: file, Kind: change.Kind(w.r.Intn(4)), Exec: w.r.Intn(4) == 0, Place: file, Mode: file, Body: file}
	if w.r.Intn(10) > 0 {
		e.Size = uint64(w.r.Intn(1 << w.r.Intn(30)))
	}
	if w.r.Intn(10) > 0 {
		w.r.Read(e.Hash[:])
	}
	for _, id := range []*change.FileID{&e.Place, &e.Mode, &e.Body} {
		if w.r.Intn(10) == 0 {
			*id = w.id()
		}
	}
	return e
}

// batch makes up to n edits of m by a new change.
func (w *world) batch(m *model, n int) []Edit {
	w.change++
	ord := uint32(0)
	edits := map[string]Edit{}
	by := func() change.FileID { ord++; return change.FileID{Change: w.change, Ord: ord} }
	paths, away := m.paths(), m.away()
	added := func() change.FileID { // a new file, or one that comes back
		if w.r.Intn(8) == 0 {
			if id, ok := pick(w, &away); ok {
				return id
			}
		}
		ord++
		return change.FileID{Change: w.change, Ord: ord}
	}
	for range n {
		old := ""
		if len(paths) > 0 {
			old = paths[w.r.Intn(len(paths))]
		}
		_, taken := edits[old]
		switch what := w.r.Intn(10); {
		case old == "" || taken || what < 4: // add, or replace by another file
			p := w.path()
			if _, taken := edits[p]; taken {
				continue
			}
			edits[p] = Edit{Path: p, Entry: w.entry(added()), By: by()}
		case what < 6: // change in place
			edits[old] = Edit{Path: old, Entry: w.entry(m.entries[old].File)}
		case what < 7 || what < 8 && !w.hides: // delete
			edits[old] = Edit{Path: old, Delete: true, By: by(), Forget: w.r.Intn(4) == 0}
		case what < 8: // hide, perhaps in favour of another
			e := Edit{Path: old, Delete: true, Hide: w.path()}
			if w.r.Intn(2) == 0 {
				e.Delete, e.Entry = false, w.entry(added())
			}
			edits[old] = e
		default: // move, or swap
			to := w.path()
			if w.r.Intn(3) == 0 {
				to = paths[w.r.Intn(len(paths))]
			}
			if _, taken := edits[to]; taken || to == old {
				continue
			}
			file := m.entries[old].File
			if there, ok := m.entries[to]; ok {
				edits[old] = Edit{Path: old, Entry: w.entry(there.File)}
			} else {
				edits[old] = Edit{Path: old, Delete: true, By: by()}
			}
			edits[to] = Edit{Path: to, Entry: w.entry(file)}
		}
	}
	return slices.SortedFunc(maps.Values(edits), func(x, y Edit) int { return ComparePaths(x.Path, y.Path) })
}

// wipe deletes all beneath a random directory.
func (w *world) wipe(m *model) []Edit {
	w.change++
	paths := m.paths()
	if len(paths) == 0 {
		return nil
	}
	from := w.r.Intn(len(paths))
	to := from + w.r.Intn(len(paths)-from+1)
	var edits []Edit
	for i, p := range paths[from:to] {
		edits = append(edits, Edit{Path: p, Delete: true, By: change.FileID{Change: w.change, Ord: uint32(i)}})
	}
	return edits
}

func newBlocks(t testing.TB) *Blocks {
	t.Helper()
	b, err := OpenBlocks(vfs.OS(), t.TempDir(), Hint{Generation: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func mustEdit(t testing.TB, tree Tree, edits []Edit) Tree {
	t.Helper()
	tree, err := tree.Edit(edits)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func mustBuild(t testing.TB, b *Blocks, m *model) Tree {
	t.Helper()
	tree, err := Build(b, m.all())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// sameTree compares all that can be asked of a tree with the model.
func sameTree(t *testing.T, r *rand.Rand, tree Tree, m *model) {
	t.Helper()
	if err := tree.Check(); err != nil {
		t.Fatal(err)
	}
	paths := m.paths()
	sameWalk(t, tree, m, paths, "")
	var size uint64
	for _, e := range m.entries {
		size += e.Size
	}
	if tree.Len() != len(m.entries) || tree.Bytes() != size {
		t.Fatalf("%d entries of %d bytes, want %d of %d", tree.Len(), tree.Bytes(), len(m.entries), size)
	}
	w := world{r: r}
	ask := slices.Clone(paths)
	for range 20 {
		ask = append(ask, w.path())
	}
	for _, p := range ask {
		want, ok := m.entries[p]
		if got, found, err := tree.Get(p); err != nil || found != ok || got != want {
			t.Fatalf("Get(%q) = %+v, %v, %v; want %+v, %v", p, got, found, err, want, ok)
		}
	}
	for range 20 {
		p := ask[r.Intn(len(ask))]
		p = p[:1+r.Intn(len(p))]
		sameWalk(t, tree, m, paths, p)
		want := false
		for have := range m.entries {
			want = want || strings.HasPrefix(have, p+"/")
		}
		if got, err := tree.Under(p); err != nil || got != want {
			t.Fatalf("Under(%q) = %v, %v", p, got, err)
		}
	}
	sameFiles(t, tree, m)
	sameVacated(t, r, tree, m)
	sameDisputes(t, tree, m)
}

func sameWalk(t *testing.T, tree Tree, m *model, paths []string, prefix string) {
	t.Helper()
	var want []string
	for _, p := range paths {
		if prefix == "" || p == prefix || strings.HasPrefix(p, prefix+"/") {
			want = append(want, p)
		}
	}
	err := tree.Walk(prefix, func(e *Entry) error {
		if len(want) == 0 || e.Path != want[0] || *e != m.entries[e.Path] {
			return fmt.Errorf("%q is there, want %q", e.Path, want[:min(1, len(want))])
		}
		want = want[1:]
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Fatalf("Walk(%q): %v, %d missing", prefix, err, len(want))
	}
}

func sameFiles(t *testing.T, tree Tree, m *model) {
	t.Helper()
	graves := 0
	for id, want := range m.files {
		where := Whereabouts{Path: want.path, Alive: want.status != fileGone, Hidden: want.status == fileHidden}
		if got, ok, err := tree.ByFile(id); err != nil || !ok || got != where || got.Shown() != (want.status == fileShown) {
			t.Fatalf("ByFile(%v) = %+v, %v, %v; want %+v", id, got, ok, err, want)
		}
		stone, gone, err := tree.Tombstone(id)
		if err != nil || gone != (want.status == fileGone) || gone && stone != want.tombstone() {
			t.Fatalf("Tombstone(%v) = %+v, %v, %v; want %+v", id, stone, gone, err, want)
		}
		if gone {
			graves++
		}
	}
	err := tree.Tombstones(func(s Tombstone) error {
		graves--
		if want := m.files[s.File]; want.status != fileGone || want.tombstone() != s {
			return fmt.Errorf("tombstone %+v, want %+v", s, want)
		}
		return nil
	})
	if err != nil || graves != 0 {
		t.Fatalf("Tombstones: %v, %d missing", err, graves)
	}
	if _, ok, err := tree.ByFile(change.FileID{Change: 1 << 31}); ok || err != nil {
		t.Fatalf("an unknown file is known: %v", err)
	}
}
