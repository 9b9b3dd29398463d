package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

const formatLine = "oxy repository, format %d\n"

// oldFormat makes a repository that is just born one of format 1.
func oldFormat(t testing.TB, mem *vfs.Mem) {
	put(t, mem, DirName+"/format", fmt.Sprintf(formatLine, 1))
}

// logOf is the log of a state, the first change first.
func logOf(t testing.TB, r *Repo, s StateRef) (nums []uint32) {
	t.Helper()
	check(t, r.walkLog(s.Num, func(n uint32, pos uint64, leads uint32) (bool, error) {
		if pos != s.Len-uint64(len(nums)) {
			t.Fatalf("change %d at %d of the log of %d has position %d", n, len(nums), s.Len, pos)
		}
		if leads != NoState {
			if ref, err := r.stateRef(leads); err != nil || ref.Len != pos {
				t.Fatalf("position %d leads to %+v: %v", pos, ref, err)
			}
		}
		nums = append(nums, n)
		return true, nil
	}))
	slices.Reverse(nums)
	if len(nums) != int(s.Len) {
		t.Fatalf("a log of %d gives %d changes", s.Len, len(nums))
	}
	return nums
}

// entries lists a tree.
func entries(t testing.TB, tree state.Tree) map[string]string {
	t.Helper()
	out := map[string]string{}
	check(t, tree.Walk("", func(e *state.Entry) error {
		out[e.Path] = fmt.Sprint(e.Kind, e.Exec, e.Size, e.Hash)
		return nil
	}))
	return out
}

// madeOf makes the tree of some changes one by one.
func madeOf(t testing.TB, r *Repo, nums []uint32) state.Tree {
	t.Helper()
	b, err := r.openBlocks()
	check(t, err)
	f, err := r.newFuse(b.Tree(state.Root{}), r.newReach())
	check(t, err)
	for _, n := range nums {
		check(t, f.add(n))
	}
	tree, err := f.finish()
	check(t, err)
	return tree
}

// position holds a position of a log to what it must be, and gives its state. Nums are the changes up to it.
func position(t testing.TB, r *Repo, from uint32, nums []uint32) uint32 {
	t.Helper()
	s, err := r.atPosition(from, uint64(len(nums)))
	check(t, err)
	ref, err := r.stateRef(s)
	check(t, err)
	var h state.SetHash
	for _, n := range nums {
		h.Add(r.store.ChangeID(n))
	}
	if ref.Len != uint64(len(nums)) || ref.Num != NoState && ref.ID != h.Bytes() {
		t.Fatalf("position %d is %+v", len(nums), ref)
	}
	if got := logOf(t, r, ref); !slices.Equal(got, nums) {
		t.Fatalf("position %d has %v, not %v", len(nums), got, nums)
	}
	set, err := r.setOf(s)
	check(t, err)
	if !set.Equal(state.NewSet(nums...)) {
		t.Fatalf("position %d has the set %v, not %v", len(nums), slices.Collect(set.All()), nums)
	}
	return s
}

// positions looks at some positions of a log, in any order, each from the log's end or from a later one.
func (s *teller) positions(r *Repo, base StateRef) {
	nums := logOf(s.t, r, base)
	from := map[uint32]int{base.Num: len(nums)}
	for range 3 {
		starts := slices.Sorted(maps.Keys(from))
		at := starts[s.rnd.IntN(len(starts))]
		n := 1 + s.rnd.IntN(from[at])
		p := position(s.t, r, at, nums[:n])
		from[p] = n
		if isSpare(p) {
			s.seen["spares"]++
		}
		tree, err := r.tree(p)
		check(s.t, err)
		if d := cmp.Diff(entries(s.t, madeOf(s.t, r, nums[:n])), entries(s.t, tree)); d != "" {
			s.fail("position %d of %d: %s", n, len(nums), d)
		}
	}
}

// name gives a position of the log a name, or goes there.
func (s *teller) name(r *Repo, base StateRef) {
	if base.Num == NoState {
		return
	}
	n := s.rnd.IntN(int(base.Len))
	rev := fmt.Sprintf("@~%d", n)
	ref, err := r.ResolveState(rev)
	check(s.t, err)
	if s.rnd.IntN(2) == 0 {
		s.say("checkout %s", rev)
		_, err := r.Checkout(context.Background(), rev)
		s.no(err)
		return
	}
	s.say("bookmark at %s", rev)
	name := fmt.Sprint("at", s.step%3)
	if s.no(r.SetBookmark(name, ref, true)) {
		return
	}
	if now, err := r.ResolveState(name); err != nil || now.ID != ref.ID || now.Len != ref.Len || isSpare(now.Num) {
		s.fail("%s is %+v, not %+v: %v", name, now, ref, err)
	}
	s.seen["positions named"]++
	var names []string
	check(s.t, r.Log(LogOptions{State: &base}, func(c *ChangeInfo) error {
		if c.Position == ref.Len && c.Names != nil {
			names = c.Names.Bookmarks
		}
		return nil
	}))
	if !slices.Contains(names, name) && ref.Num != NoState {
		s.fail("the log has %q at position %d, not %s", names, ref.Len, name)
	}
}

// drop has all go that no name leads to. States that left changes out are told anew where these go.
func (s *teller) drop(r *Repo, base StateRef) {
	if base.Num == NoState {
		return
	}
	ids := func() (out []string) {
		base, err := r.Base()
		check(s.t, err)
		for _, n := range logOf(s.t, r, base) {
			out = append(out, r.store.ChangeID(n).String())
		}
		return out
	}
	s.say("gc")
	want := ids()
	res, err := r.GC(context.Background(), GCOptions{Prune: true, Anew: true})
	check(s.t, err)
	if got := ids(); !slices.Equal(got, want) {
		s.fail("the log is %v, not %v", got, want)
	}
	if res.Dropped.Changes > 0 {
		s.seen["changes dropped"]++
	}
}

// A change that is taken back deep down is left out: what is put into the store is one state, however many changes came since.
// A repository of format 1 has no such states, until it is told to change.
func TestUnrecordPutsOneState(t *testing.T) {
	for _, format := range []int{1, 2} {
		t.Run(fmt.Sprint("format ", format), func(t *testing.T) {
			w := born(t)
			if format == 1 {
				oldFormat(t, w.mem)
			}
			const many = 100
			for n := range many {
				put(t, w.mem, fmt.Sprint("f", n), "text\n")
				w.with(t, func(r *Repo) error {
					_, err := r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint(n), Time: at(int64(n))})
					return err
				})
			}
			back := func(rev string) {
				t.Helper()
				w.with(t, func(r *Repo) error {
					before, states := r.store.Format(), r.store.NumStates()
					s, err := r.Base()
					check(t, err)
					nums := logOf(t, r, s)
					res, err := r.Unrecord(context.Background(), []string{rev}, UnrecordOptions{})
					check(t, err)
					if n := r.store.NumStates() - states; n != 1 {
						t.Errorf("%d states", n)
					}
					want := slices.DeleteFunc(nums, func(n uint32) bool { return n == res.Went[0] })
					if got := logOf(t, r, res.State); !slices.Equal(got, want) {
						t.Errorf("the log is %v, not %v", got, want)
					}
					st, err := r.store.State(res.State.Num)
					check(t, err)
					if leaves := len(st.Without) > 0; leaves != (before >= 2) {
						t.Errorf("format %d: %+v", before, st)
					}
					return nil
				})
				fine(t, w.mem)
			}
			back("@~70")
			if format == 1 {
				w.with(t, func(r *Repo) error {
					from, to, err := r.Upgrade()
					if from != 1 || to != 2 {
						t.Errorf("from %d to %d", from, to)
					}
					return err
				})
			}
			back("@~30")
			back("@~80")
			w.with(t, func(r *Repo) error {
				_, err := r.Undo(context.Background())
				return err
			})
			back("@~80")
		})
	}
}

// Every change that came with a large merge can be named, looked at and gone to.
func TestPositionsInsideAStep(t *testing.T) {
	w := born(t)
	ctx := context.Background()
	main := ""
	w.commit(t, "first")
	w.with(t, func(r *Repo) error {
		v, err := r.view()
		main = v.Current
		check(t, r.SetBookmark("side", w.moments[0].state, false))
		return err
	})
	const many = 200
	for n := range many {
		put(t, w.mem, fmt.Sprint("f", n), "text\n")
		w.with(t, func(r *Repo) error {
			_, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint("change ", n), Time: at(int64(n))})
			return err
		})
	}
	w.with(t, func(r *Repo) error {
		_, err := r.Checkout(ctx, "side")
		check(t, err)
		put(t, w.mem, "beside", "text\n")
		_, err = r.Commit(ctx, CommitOptions{Message: "beside", Time: at(1000)})
		check(t, err)
		states := r.store.NumStates()
		_, err = r.Merge(ctx, main, MergeOptions{})
		check(t, err)
		if n := r.store.NumStates() - states; n != 1 {
			t.Errorf("%d states", n)
		}
		return nil
	})
	w.with(t, func(r *Repo) error {
		s, err := r.Base()
		check(t, err)
		nums := logOf(t, r, s)
		for _, n := range []int{len(nums) - 1, 3, 100, 101, 99, len(nums) - 2, 150} {
			p := position(t, r, s.Num, nums[:n])
			if !isSpare(p) {
				t.Errorf("position %d is state %d of the store", n, p)
			}
			ref, err := r.stateRef(p)
			check(t, err)
			if files := stored(t, r, ref); files["beside"] == "" || len(files) < n-2 {
				t.Errorf("position %d has %d files", n, len(files))
			}
			set, err := r.DiffChange(nums[n-1], nil)
			check(t, err)
			if len(set.Files) != 1 {
				t.Errorf("change %d has %d files", n-1, len(set.Files))
			}
		}
		before := r.store.NumStates()
		res, err := r.Checkout(ctx, "@~60")
		check(t, err)
		if r.store.NumStates() != before+1 || res.State.Len != s.Len-60 || isSpare(res.State.Num) {
			t.Errorf("%d states, %+v", r.store.NumStates()-before, res.State)
		}
		return nil
	})
	fine(t, w.mem)
	var subjects []string
	w.with(t, func(r *Repo) error {
		return r.Log(LogOptions{Limit: 2}, func(c *ChangeInfo) error {
			subjects = append(subjects, c.Message)
			return nil
		})
	})
	if got := strings.Join(subjects, ", "); got != "change 139, change 138" {
		t.Error(got)
	}
}
