package repo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/state"
)

var storySeeds = flag.Uint64("stories", 400, "random stories of the algebra")
var storyFrom = flag.Uint64("from", 0, "the first one's seed")

// picture is all that a state shows: its files, and what is left to decide.
type picture struct {
	Files     map[string]string
	Conflicts []string
}

func pictureOf(t testing.TB, r *Repo, s StateRef) picture {
	t.Helper()
	p := picture{Files: stored(t, r, s)}
	cs, err := r.Conflicts(s)
	check(t, err)
	for _, c := range cs {
		text := fmt.Sprint(c.Kind, " ", c.Path, " ", c.Place, " ", c.ID, " ", c.Line)
		for _, side := range c.Sides {
			text += fmt.Sprint(" | ", side.Changes, side.What, side.Path, string(side.Text))
		}
		p.Conflicts = append(p.Conflicts, text)
	}
	return p
}

func (p picture) equal(o picture) bool {
	return maps.Equal(p.Files, o.Files) && slices.Equal(p.Conflicts, o.Conflicts)
}

// bare opens the repository as if nothing derived of its trees were there.
func bare(t testing.TB, w *world) *Repo {
	t.Helper()
	r, err := Open(memRoot, memOptions(w.mem))
	check(t, err)
	r.blocksMu.Lock()
	_, err = r.freshBlocks()
	r.blocksMu.Unlock()
	check(t, err)
	return r
}

// teller tells a random story of several people, each on a bookmark, and holds the laws after each step.
type teller struct {
	t    *testing.T
	w    *world
	rnd  *rand.Rand
	step int
	log  []string

	old   bool // the repository has format 1
	names bool // positions of a log are named and gone to

	seen  map[string]int
	first string // change that nearly all depend on
}

func (s *teller) say(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *teller) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\nstep %d: %s", strings.Join(s.log, "\n"), s.step, fmt.Sprintf(format, args...))
}

var storyPaths = []string{"a", "b", "d/a", "d/b", "d/e/a", "e"}

func (s *teller) text() string {
	var b strings.Builder
	for range s.rnd.IntN(5) {
		b.WriteString([]string{"x\n", "y\n", "z\n", "w\r\n"}[s.rnd.IntN(4)])
	}
	if s.rnd.IntN(6) == 0 {
		b.WriteString("end")
	}
	return b.String()
}

// scribble edits the working copy.
func (s *teller) scribble(r *Repo) {
	disk := memDisk(s.t, s.w.mem)
	for range 1 + s.rnd.IntN(3) {
		paths := slices.Sorted(maps.Keys(disk))
		p := storyPaths[s.rnd.IntN(len(storyPaths))]
		if len(paths) > 0 && s.rnd.IntN(3) > 0 {
			p = paths[s.rnd.IntN(len(paths))]
		}
		_, there := disk[p]
		switch k := s.rnd.IntN(8); {
		case k == 0 && there:
			s.say("  remove %s", p)
			drop(s.t, s.w.mem, p)
		case k == 1 && there:
			q := storyPaths[s.rnd.IntN(len(storyPaths))]
			if err := r.Move(context.Background(), p, q); err == nil {
				s.say("  move %s to %s", p, q)
			}
		case k == 2 && there && !strings.HasPrefix(disk[p], "link"):
			s.say("  mode of %s", p)
			mode := os.FileMode(0o777)
			f, err := s.w.mem.OpenFile(memRoot+"/"+p, os.O_RDWR, 0)
			check(s.t, err)
			if s.rnd.IntN(2) == 0 {
				mode = 0o644
			}
			check(s.t, f.Chmod(mode))
			check(s.t, f.Close())
		case k == 3:
			s.write(p, "bin\x00"+s.text())
		case there && (k == 4 || k == 5) && !strings.Contains(disk[p], "link "):
			text := disk[p][5:]
			lines := strings.SplitAfter(text, "\n")
			i := s.rnd.IntN(len(lines))
			if s.rnd.IntN(2) == 0 && !strings.ContainsAny(lines[i], "<>|=") {
				lines[i] = ""
			}
			s.write(p, strings.Join(lines[:i], "")+s.text()+strings.Join(lines[i:], ""))
		default:
			s.write(p, s.text())
		}
		disk = memDisk(s.t, s.w.mem)
	}
}

func (s *teller) write(p, text string) {
	disk := memDisk(s.t, s.w.mem)
	for q := range disk {
		if strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/") {
			return
		}
	}
	s.say("  write %s %q", p, text)
	if disk[p] != "" {
		drop(s.t, s.w.mem, p)
	}
	put(s.t, s.w.mem, p, text)
}

// no reports whether an honest answer was "no", or a half block was left.
func (s *teller) no(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		s.say("  no: %v", e)
		if strings.Contains(e.Text, "cannot be made anew") || strings.Contains(e.Text, "leaves a conflict open") {
			s.seen["not rewritten"]++
		}
		return true
	}
	if err != nil {
		s.fail("%v", err)
	}
	return false
}

func (s *teller) settleSome(r *Repo) {
	base, err := r.Base()
	check(s.t, err)
	cs, err := r.Conflicts(base)
	check(s.t, err)
	var ids []string
	for _, c := range cs {
		if s.rnd.IntN(2) == 0 && c.Kind != "text" {
			s.say("  settle %s %s", c.ID, c.Path)
			ids = append(ids, c.ID)
		}
	}
	_, err = transact(r, func(t *tx) (bool, error) {
		if err := t.settle(ids); err != nil {
			return false, err
		}
		return true, t.commit("resolve")
	})
	check(s.t, err)
}

func (s *teller) act(r *Repo) {
	ctx := context.Background()
	s.step++
	if s.old && s.rnd.IntN(30) == 0 {
		s.say("upgrade")
		s.old = false
		_, _, err := r.Upgrade()
		check(s.t, err)
	}
	all, err := r.Bookmarks()
	check(s.t, err)
	base, err := r.Base()
	check(s.t, err)
	any := func() string {
		var nums []uint32
		check(s.t, r.Log(LogOptions{State: &base}, func(c *ChangeInfo) error { nums = append(nums, c.Num); return nil }))
		return r.store.ChangeID(nums[s.rnd.IntN(len(nums))]).String()
	}
	switch k := s.rnd.IntN(16); {
	case len(all) == 0 || k < 5:
		s.settleSome(r)
		if s.rnd.IntN(3) > 0 {
			s.scribble(r)
		}
		s.say("commit %d", s.step)
		want := memDisk(s.t, s.w.mem)
		res, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint(s.step), Time: at(int64(s.step))})
		if s.no(err) {
			s.discard(r, base)
			return
		}
		if got := stored(s.t, r, res.State); !maps.Equal(got, want) {
			s.fail("recorded\n %q\nnot\n %q", got, want)
		}
		s.freshRecord(r, base, res.State)
	case k < 8:
		b := all[s.rnd.IntN(len(all))].Name
		s.say("merge %s", b)
		_, err := r.Merge(ctx, b, MergeOptions{})
		s.no(err)
	case k == 8:
		b := all[s.rnd.IntN(len(all))].Name
		n, err := r.ResolveState(b)
		check(s.t, err)
		var nums []uint32
		check(s.t, r.Log(LogOptions{State: &n}, func(c *ChangeInfo) error { nums = append(nums, c.Num); return nil }))
		if len(nums) == 0 {
			return
		}
		id := r.store.ChangeID(nums[s.rnd.IntN(len(nums))]).String()
		s.say("pick %.8s", id)
		_, err = r.Pick(ctx, []string{id}, PickOptions{})
		s.no(err)
	case k == 9:
		if base.Num == NoState {
			return
		}
		id := any()
		s.say("unrecord %.8s", id)
		if strings.HasPrefix(id, s.first) && s.rnd.IntN(4) > 0 {
			return
		}
		_, err := r.Unrecord(ctx, []string{id}, UnrecordOptions{})
		s.no(err)
	case k == 10:
		if base.Num == NoState {
			return
		}
		id := any()
		s.say("rollback %.8s", id)
		_, err := r.Rollback(ctx, id, RollbackOptions{Time: at(int64(s.step))})
		s.no(err)
	case k >= 12 && base.Num != NoState:
		s.rewrite(r, base, any)
	case s.names && s.rnd.IntN(3) == 0:
		s.drop(r, base)
	case s.names && s.rnd.IntN(2) == 0:
		s.name(r, base)
	default:
		b := all[s.rnd.IntN(len(all))].Name
		s.say("checkout %s", b)
		_, err := r.Checkout(ctx, b)
		s.no(err)
	}
}

// rewrite makes changes anew. Where no conflict is open, what shows stays as it was; an amend adds what was edited.
func (s *teller) rewrite(r *Repo, base StateRef, any func() string) {
	ctx := context.Background()
	want := memDisk(s.t, s.w.mem)
	id := any()
	opt := RewriteOptions{Message: fmt.Sprint("anew ", s.step)}
	var res *RewriteResult
	var err error
	switch s.rnd.IntN(4) {
	case 0:
		s.say("reword %.8s", id)
		res, err = r.Reword(ctx, id, opt)
	case 1:
		other := any()
		s.say("squash %.8s %.8s", id, other)
		res, err = r.Squash(ctx, []string{id, other}, opt)
	case 2:
		s.say("amend %.8s", id)
		s.scribble(r)
		want = memDisk(s.t, s.w.mem)
		if res, err = r.Amend(ctx, id, AmendOptions{RewriteOptions: opt}); err != nil {
			s.no(err)
			s.discard(r, base)
			return
		}
	default:
		hs, hunksErr := r.ChangeHunks(ctx, id)
		if s.no(hunksErr) || len(hs) == 0 {
			return
		}
		h := hs[s.rnd.IntN(len(hs))].ID
		s.say("split %.8s %s", id, h)
		res, err = r.Split(ctx, id, SplitOptions{Hunks: []string{h}, Messages: [2]string{opt.Message, "the rest"}})
	}
	if s.no(err) {
		return
	}
	s.seen["rewritten"]++
	before, err := r.tree(base.Num)
	check(s.t, err)
	if got := stored(s.t, r, res.State); !before.Disputed() && !maps.Equal(got, want) {
		s.fail("made anew\n %q\nnot\n %q", got, want)
	}
	for _, n := range res.Went {
		if !slices.ContainsFunc(res.Changes, func(c Rewritten) bool { return c.Old == n }) {
			s.fail("nothing stands in the stead of %d: %+v", n, res.Changes)
		}
	}
}

func (s *teller) discard(r *Repo, base StateRef) {
	_, err := r.Discard(context.Background(), nil, nil)
	s.no(err)
	for p := range memDisk(s.t, s.w.mem) {
		if _, ok := stored(s.t, r, base)[p]; !ok {
			drop(s.t, s.w.mem, p)
		}
	}
	check(s.t, r.savePending(&pending{}))
}

// freshRecord: a record opens no conflict that was not open before.
func (s *teller) freshRecord(r *Repo, before, after StateRef) {
	step, err := r.newConflicts(before, after)
	check(s.t, err)
	if len(step.came) > 0 {
		s.fail("the record conflicts with what it was recorded on: %+v", step.came)
	}
}

// laws holds what must be true of the working copy's state.
func (s *teller) laws() {
	r, err := Open(memRoot, memOptions(s.w.mem))
	check(s.t, err)
	defer r.Close()
	base, err := r.Base()
	check(s.t, err)
	now := pictureOf(s.t, r, base)
	for _, c := range now.Conflicts {
		kind, _, _ := strings.Cut(c, " ")
		s.seen[kind]++
	}
	s.seen["states"]++
	if disk := memDisk(s.t, s.w.mem); !maps.Equal(disk, now.Files) {
		s.fail("the disk has\n %q\nthe state\n %q", disk, now.Files)
	}
	st, err := r.Status(context.Background(), StatusOptions{})
	check(s.t, err)
	if len(st.Files)+len(st.Untracked) > 0 {
		s.fail("status: %+v %q", st.Files, st.Untracked)
	}
	if base.Num == NoState {
		return
	}
	tree, err := r.tree(base.Num)
	check(s.t, err)
	if err := tree.Check(); err != nil {
		s.fail("the tree: %v", err)
	}
	b := bare(s.t, s.w)
	defer b.Close()
	if again := pictureOf(s.t, b, base); !again.equal(now) {
		s.fail("kept\n %q\nmade again\n %q", now, again)
	}
	s.positions([]*Repo{r, b}[s.rnd.IntN(2)], base)
	s.orderless(r, base, now)
}

// orderless: the changes of a state, in another order that their dependencies allow, make the same.
func (s *teller) orderless(r *Repo, base StateRef, now picture) {
	set, err := r.setOf(base.Num)
	check(s.t, err)
	left := slices.Collect(set.All())
	done := map[uint32]bool{}
	f, err := r.newFuse(r.blocks.Tree(state.Root{}), r.newReach())
	check(s.t, err)
	for len(left) > 0 {
		i := s.rnd.IntN(len(left))
		n := left[i]
		if slices.ContainsFunc(r.store.Deps(n), func(d uint32) bool { return !done[d] }) {
			continue
		}
		if err := f.add(n); err != nil {
			s.fail("add %d: %v", n, err)
		}
		done[n] = true
		left = slices.Delete(left, i, i+1)
	}
	tree, err := f.finish()
	if err != nil {
		s.fail("in another order: %v", err)
	}
	got := map[string]string{}
	check(s.t, tree.Walk("", func(e *state.Entry) error {
		got[e.Path] = fmt.Sprint(e.Kind, e.Exec, e.Size, e.Hash)
		return nil
	}))
	kept, err := r.tree(base.Num)
	check(s.t, err)
	want := map[string]string{}
	check(s.t, kept.Walk("", func(e *state.Entry) error {
		want[e.Path] = fmt.Sprint(e.Kind, e.Exec, e.Size, e.Hash)
		return nil
	}))
	if !maps.Equal(got, want) {
		s.fail("in another order\n %v\nnot\n %v", got, want)
	}
}

// Random stories: commits, merges, picks, unrecords and rollbacks of files that are edited, moved and replaced. The working
// copy is what the state shows, and the state the same when it is made again or in another order.
func TestStories(t *testing.T) {
	seen := map[string]int{}
	for seed := *storyFrom; seed < *storyFrom+*storySeeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := &teller{t: t, w: &world{mem: newMem()}, rnd: rand.New(rand.NewPCG(seed, 77)), seen: seen}
			check(t, s.w.mem.MkdirAll(memRoot, 0o777))
			put(t, s.w.mem, "a", "x\ny\nz\n")
			put(t, s.w.mem, "d/a", "x\nx\nx\ny\n")
			r, err := Init(memRoot, memOptions(s.w.mem))
			check(t, err)
			_, err = r.Commit(context.Background(), CommitOptions{Message: "first", Time: at(0)})
			check(t, err)
			base, err := r.Base()
			check(t, err)
			s.first = r.store.ChangeID(0).String()
			for _, b := range []string{"one", "two"} {
				check(t, r.SetBookmark(b, base, false))
			}
			check(t, r.Close())
			s.names = seed%4 == 1
			if s.old = seed%5 == 0; s.old {
				oldFormat(t, s.w.mem)
			}
			for range 24 {
				s.w.with(t, func(r *Repo) error {
					r.maxSteps = 1 + s.rnd.IntN(4)
					s.act(r)
					return nil
				})
				s.laws()
			}
			fine(t, s.w.mem)
		})
	}
	t.Log(seen)
	for _, kind := range []string{"text", "body", "life", "name", "spares", "positions named", "changes dropped"} {
		if *storySeeds >= 400 && seen[kind] == 0 {
			t.Errorf("no story has %s", kind)
		}
	}
}
