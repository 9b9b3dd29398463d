package repo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// sameTree holds all that a tree keeps against another.
func sameTree(t testing.TB, got, want state.Tree, format string, args ...any) {
	t.Helper()
	check(t, state.Diff(got, want, func(old, new *state.Entry) error {
		if old != nil && new != nil && sameButRefs(old, new) {
			return nil
		}
		t.Errorf("%s: %+v, not %+v", fmt.Sprintf(format, args...), old, new)
		return nil
	}))
	check(t, state.DiffRest(got, want, func(path, what string) error {
		t.Errorf("%s: %s: %s", fmt.Sprintf(format, args...), path, what)
		return nil
	}))
}

// sameButRefs compares entries of one file of blocks, where the same may lie twice.
func sameButRefs(a, b *state.Entry) bool {
	x, y := *a, *b
	x.Weave, x.Acts, y.Weave, y.Acts = 0, 0, 0, 0
	return x == y
}

// gathered: the changes of every state, put into the texts at once and on several cores, upon nothing or upon the first of them, make what
// they make one by one.
func (m *mirror) gathered() {
	rnd := rand.New(rand.NewPCG(uint64(m.Seed), 7))
	m.r.cores = 3
	defer func() { m.r.cores = 0 }()
	b, err := m.r.openBlocks()
	check(m.t, err)
	for range 6 {
		s, err := m.r.stateRef(rnd.Uint32N(m.r.store.NumStates()))
		check(m.t, err)
		nums := logOf(m.t, m.r, s)
		want := madeOf(m.t, m.r, nums)
		k := rnd.IntN(len(nums) + 1)
		some, err := m.r.treeWithAll(b.Tree(state.Root{}), nums[:k])
		check(m.t, err)
		all, err := m.r.treeWithAll(some, nums[k:])
		check(m.t, err)
		sameTree(m.t, all, want, "seed %d, state %d, %d changes and %d", m.Seed, s.Num, k, len(nums)-k)
		m.seen["gathered"] += len(nums)
	}
	// From the stored tree of any state that has a part of it.
	fresh, err := state.OpenBlocks(nil, "", state.Hint{Generation: 1})
	check(m.t, err)
	defer fresh.Close()
	again := m.r.withBlocks(fresh)
	again.cores = 3
	for range 12 {
		s, err := again.stateRef(rnd.Uint32N(m.r.store.NumStates()))
		check(m.t, err)
		want := madeOf(m.t, again, logOf(m.t, again, s))
		tree, ok, err := again.treeBeyond(fresh, s.Num, 1<<30)
		check(m.t, err)
		if ok {
			sameTree(m.t, tree, want, "seed %d, state %d from the nearest", m.Seed, s.Num)
			m.seen["from the nearest"]++
		}
		again.putRoot(fresh, s.Num, want.Root())
	}
}

// A clone of many names makes trees of bookmarks and of some tags on the way; the others come to be when they are asked for, and are what
// they are elsewhere. Each is told by another, and all in one transaction.
func TestCloneOfManyTags(t *testing.T) {
	w := branched(t, 5, 60)
	cloneAsPeer(t, w.mem, elsewhere)
	from, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	defer from.Close()
	to, err := Open(elsewhere, memOptions(w.mem))
	check(t, err)
	defer to.Close()
	_, tags, _ := everyNamed(t, from)
	if len(tags) <= fewTold {
		t.Fatalf("only %d tags", len(tags))
	}
	left := 0
	for _, n := range tags {
		s, err := to.ResolveState(n.Name)
		check(t, err)
		if s.ID != n.State.ID {
			t.Errorf("%s is another state", n.Name)
		}
		if !to.hasTree(s.Num) {
			left++
		}
		want, err := from.tree(n.State.Num)
		check(t, err)
		got, err := to.tree(s.Num)
		check(t, err)
		if a, b := entries(t, got), entries(t, want); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s: %v, not %v", n.Name, a, b)
		}
	}
	if left == 0 {
		t.Error("the trees of all tags were made")
	}
	tracking, err := to.Tracking()
	check(t, err)
	for _, n := range tracking {
		if !to.hasTree(n.State.Num) {
			t.Errorf("the tree of %s was not made", n.Name)
		}
	}
	fsckClean(t, to)
	ops := 0
	check(t, to.Ops(func(o *OpInfo) error { ops++; return nil }))
	if ops > 6 {
		t.Errorf("it took %d operations", ops)
	}
}

// Telling of many tags costs what lies between them.
func TestManyTagsAreToldByEachOther(t *testing.T) {
	w := born(t)
	const changes = 3 * smallLog
	for i := range changes {
		put(t, w.mem, "a", fmt.Sprint(i, "\n"))
		w.with(t, func(r *Repo) error {
			res, err := r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint(i), Time: at(int64(i))})
			check(t, err)
			if i%8 == 0 {
				check(t, r.SetTag(fmt.Sprintf("t%03d", i), res.State, false))
			}
			return nil
		})
	}
	w.with(t, func(r *Repo) error {
		v, err := r.view()
		check(t, err)
		refs, err := r.refs(v)
		check(t, err)
		updates, err := r.updatesOf(context.Background(), v, refs)
		check(t, err)
		total := 0
		for _, u := range updates {
			total += len(u.Added) + len(u.Removed)
		}
		if total != changes {
			t.Errorf("%d changes are listed to tell of %d", total, changes)
		}
		return nil
	})
}

// What fsck does not make it proves by another that has all of it; a change that does not fit is found in whatever tag.
func TestFsckOfManyTags(t *testing.T) {
	w := branched(t, 3, 50)
	check(t, w.mem.RemoveAll(filepath.Join(memRoot, DirName, "trees")))
	fine(t, w.mem)
	for _, beneath := range []bool{true, false} {
		mem := copyOf(w.mem)
		withIn(t, mem, func(r *Repo) error { return misfit(t, r, beneath) })
		res, err := fsck(t, mem, false)
		check(t, err)
		found := false
		for _, p := range res.Problems {
			found = found || strings.Contains(p.Text, "cannot be made from its changes") && p.Names != nil && len(p.Names.Tags)+len(p.Names.Bookmarks) > 0 && !p.Derived
		}
		if !found {
			t.Errorf("not found (beneath others: %v): %+v", beneath, res.Problems)
		}
	}
}

func withIn(t testing.TB, mem *vfs.Mem, fn func(r *Repo) error) {
	t.Helper()
	r, err := Open(memRoot, memOptions(mem))
	check(t, err)
	check(t, fn(r))
	check(t, r.Close())
}

// misfit puts a change that edits between no lines, with a tag on it: alone above all else, or beneath another tag and a bookmark.
func misfit(t testing.TB, r *Repo, beneath bool) error {
	_, err := transact(r, func(tx *tx) (struct{}, error) {
		v := tx.view
		base, err := r.stateRef(baseOf(v))
		check(t, err)
		set, err := state.ParseSetHash(base.ID)
		check(t, err)
		put := func(c *change.Change, deps []uint32, texts string, on StateRef) StateRef {
			meta, body := change.Encode(c)
			rec := store.Record{ID: change.Sum(meta, body), Meta: meta, Body: body, Texts: []byte(texts)}
			n, err := tx.PutChange(rec, deps, c.Time.Sec)
			check(t, err)
			set.Add(rec.ID)
			s, err := tx.PutState(store.State{Parent: int64(on.Num), Changes: []uint32{n}, Pos: on.Len + 1, ID: set.Bytes()})
			check(t, err)
			return StateRef{Num: s, ID: set.Bytes(), Len: on.Len + 1}
		}
		edit := &change.Change{Message: "edit", Deps: []change.ID{r.store.ChangeID(0)}, Files: []change.File{{ID: change.FileID{Change: 1, Ord: 0},
			Size: 2, Content: hashOf([]byte("c\n")), Hunks: []change.Hunk{{L: change.Pos{Change: 1, Off: 30_000}, R: change.End, InsLen: 2}}}}}
		at := put(edit, []uint32{0}, "c\n", base)
		v.Tags["evil"] = at.Num
		if beneath {
			at = put(&change.Change{Message: "on top"}, nil, "", at)
			v.Tags["top"], v.Bookmarks["high"] = at.Num, at.Num
		}
		return struct{}{}, tx.commit("commit")
	})
	return err
}
