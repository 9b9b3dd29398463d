package repo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle/tree"
)

var (
	mirrorStories = flag.Int64("mirrored", 150, "random stories that the definition tells along with the repository")
	mirrorFrom    = flag.Int64("mirrored-from", 0, "the first one's seed")
	mirrorSteps   = flag.Int("mirrored-steps", 14, "steps of each")
)

// mirror has a repository live the story of three people that the definition tells, each on a bookmark. The repository does each
// step first: where the definition leaves it open, as in which lines of a text are taken for moved, it is told what
// the repository did. Changes have the same numbers in both, and the first digits of their ids.
type mirror struct {
	*tree.Story
	t   *testing.T
	w   *world
	r   *Repo
	log []string
	now int // step

	files  map[tree.File]change.FileID
	back   map[change.FileID]tree.File
	states map[string]StateRef // by set
	on     int                 // the bookmark that the working copy is on
	seen   map[string]int
	first  StateRef // of the first change alone
	quiet  bool     // nothing is compared
	hands  int      // bookmarks that nothing keeps
}

var replicas = []string{"one", "two", "three"}

func newMirror(t *testing.T, seed int64, seen map[string]int) *mirror {
	m := &mirror{Story: tree.NewStory(seed), t: t, w: &world{mem: newMem()}, seen: seen, files: map[tree.File]change.FileID{}, back: map[change.FileID]tree.File{},
		states: map[string]StateRef{}}
	m.Label, m.Blocks = m.label, m.block
	m.SetAlign(alignLines)
	check(t, m.w.mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(m.w.mem))
	check(t, err)
	m.r = r
	m.write(m.Look(m.Replicas[0]).Map(), nil)
	_, err = r.Commit(context.Background(), CommitOptions{Message: "first", Time: at(0)})
	check(t, err)
	m.adopt(0)
	m.first, err = r.Base()
	check(t, err)
	for _, b := range replicas {
		check(t, r.SetBookmark(b, m.first, false))
	}
	_, err = r.Checkout(context.Background(), replicas[0])
	check(t, err)
	return m
}

func (m *mirror) say(format string, args ...any) { m.log = append(m.log, fmt.Sprintf(format, args...)) }

func (m *mirror) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\n%s\nseed %d, step %d: %s", strings.Join(m.log, "\n"), m.World, m.Seed, m.now, fmt.Sprintf(format, args...))
}

// adopt gives change n of the definition the repository's hash, and learns which files it added.
func (m *mirror) adopt(n uint32) {
	id := m.r.store.ChangeID(n)
	m.SetHash(n, uint32(id[0])<<16|uint32(id[1])<<8|uint32(id[2]))
	b, err := m.r.bodyOf(n)
	check(m.t, err)
	at := map[string]change.FileID{}
	for i := range b.files {
		if f := &b.files[i]; f.ID == (change.FileID{Change: n, Ord: uint32(i)}) {
			at[f.Path] = f.ID
		}
	}
	for _, o := range m.Changes[n].Ops {
		if o.File.Change == n && o.Reg == tree.Place {
			m.files[o.File], m.back[at[o.Path]] = at[o.Path], o.File
			delete(at, o.Path)
		}
	}
	if len(at) > 0 {
		m.fail("it added more: %v", at)
	}
}

// step has both do what comes next.
func (m *mirror) step() {
	m.now++
	ctx := context.Background()
	e := m.Draw()
	if e.Kind == tree.Pulled && m.Rand.Intn(2) == 0 {
		e.Pulled = m.Replicas[m.Rand.Intn(3)]
	}
	if e.Kind == tree.Edited && m.Rand.Intn(30) == 0 && m.Live(e.Before)[0] {
		e.Kind, e.Change = tree.RolledBack, 0
	}
	if m.Rand.Intn(4) == 0 {
		check(m.t, m.r.Close())
		r, err := Open(memRoot, memOptions(m.w.mem))
		check(m.t, err)
		m.r = r
	}
	if m.on != e.Replica {
		_, err := m.r.Checkout(ctx, replicas[e.Replica])
		check(m.t, err)
		m.on = e.Replica
	}
	id := func(c uint32) string { return m.r.store.ChangeID(c).String() }
	before, changes := m.r.store.NumChanges(), len(m.Changes)
	switch e.Kind {
	case tree.Edited:
		m.record(&e)
	case tree.Pulled:
		var revs []string
		for _, c := range e.Pulled.Sorted() {
			revs = append(revs, id(c))
		}
		var err error
		i := slices.IndexFunc(m.Replicas[:], func(s tree.Set) bool { return maps.Equal(s, e.Pulled) })
		if i >= 0 && m.Rand.Intn(4) > 0 {
			m.say("%s merges %s", replicas[m.on], replicas[i])
			_, err = m.r.Merge(ctx, replicas[i], MergeOptions{})
		} else if len(revs) > 0 {
			m.say("%s picks %v", replicas[m.on], e.Pulled.Sorted())
			_, err = m.r.Pick(ctx, revs, PickOptions{})
		}
		if m.no(err) != e.Before.Holds(e.Pulled) && len(revs) > 0 {
			m.fail("merge or pick: %v", err)
		}
		m.Do(&e)
	case tree.Unrecorded:
		m.say("%s unrecords %d", replicas[m.on], e.Change)
		_, err := m.r.Unrecord(ctx, []string{id(e.Change)}, UnrecordOptions{})
		check(m.t, err)
		m.Do(&e)
	case tree.RolledBack:
		m.say("%s rolls %d back", replicas[m.on], e.Change)
		if _, err := m.r.Rollback(ctx, id(e.Change), RollbackOptions{Message: fmt.Sprint("undo ", m.now), Time: at(int64(m.now))}); err != nil {
			m.fail("rollback: %v", err)
		}
		m.Do(&e)
	default:
		return
	}
	if made, is := int(m.r.store.NumChanges()-before), len(m.Changes)-changes; made != is {
		m.fail("%d changes were made, not %d", made, is)
	} else if made > 0 {
		m.adopt(before)
	}
	if m.quiet {
		return
	}
	if made := m.r.store.NumChanges() - before; made > 0 {
		m.change(before)
	}
	m.compare(e.After)
}

// no reports whether an honest answer was "no".
func (m *mirror) no(err error) bool {
	var e *Error
	if errors.As(err, &e) && e.No {
		return true
	}
	if err != nil {
		m.fail("%v", err)
	}
	return false
}

// record settles and edits the working copy, and commits; then the definition records the same.
func (m *mirror) record(e *tree.Event) {
	m.settle(e)
	if len(e.Settle) > 0 && m.Rand.Intn(2) == 0 {
		m.resolve(e)
	} else {
		m.write(e.Want, e.Moves)
	}
	m.say("%s records %q moves %q settles %d", replicas[m.on], want2disk(e.Want), e.Moves, len(e.Settle))
	res, err := m.r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint("c", m.now), Time: at(int64(m.now))})
	if m.no(err) {
		res = &CommitResult{}
	}
	e.Moves = tree.Moves{}
	for _, f := range res.Files {
		if f.What == Moved {
			e.Moves[f.Old.Path] = f.New.Path
		}
	}
	m.say("  moves %q", e.Moves)
	m.Do(e)
	if e.Err != nil {
		m.fail("the definition: %v", e.Err)
	}
	check(m.t, m.r.savePending(&pending{}))
}

// settle marks conflicts as decided: where one names several files at once, all of them.
func (m *mirror) settle(e *tree.Event) {
	base, err := m.r.Base()
	check(m.t, err)
	cs, err := m.r.Conflicts(base)
	check(m.t, err)
	of := func(k tree.Conflict) tree.File { return k.Files[len(k.Files)-1] }
	var ids []string
	for _, k := range m.Look(e.Before).Conflicts() {
		chosen := func(o tree.Conflict) bool { return o.Kind == k.Kind && of(o) == of(k) }
		if k.Kind == "text" || !slices.ContainsFunc(e.Settle, chosen) {
			continue
		}
		if !slices.ContainsFunc(e.Settle, func(o tree.Conflict) bool { return o.Key() == k.Key() }) {
			e.Settle = append(e.Settle, k)
		}
		i := slices.IndexFunc(cs, func(c Conflict) bool { return c.Kind == k.Kind && m.back[c.File] == of(k) })
		if i < 0 {
			m.fail("no conflict %v", k)
		}
		m.say("  settle %s of %s", k.Kind, cs[i].Path)
		ids = append(ids, cs[i].ID)
	}
	_, err = transact(m.r, func(t *tx) (bool, error) {
		if err := t.settle(ids); err != nil {
			return false, err
		}
		return true, t.commit("resolve")
	})
	check(m.t, err)
}

// resolve has the command take sides, where it can; what the working copy then holds is what is recorded.
func (m *mirror) resolve(e *tree.Event) {
	base, err := m.r.Base()
	check(m.t, err)
	cs, err := m.r.Conflicts(base)
	check(m.t, err)
	for _, c := range cs {
		if c.Kind == "name" || !slices.ContainsFunc(e.Settle, func(k tree.Conflict) bool { return k.Kind == c.Kind && m.back[c.File] == k.Files[0] }) {
			continue
		}
		opt := ResolveOptions{Paths: []string{c.Path}, Block: c.ID}
		switch n := len(c.Sides); {
		case c.Kind == "text" && m.Rand.Intn(4) == 0:
			opt.Base = true
		case c.Kind == "text" && m.Rand.Intn(3) == 0:
			opt.Take = []string{fmt.Sprint(n), fmt.Sprint(1 + m.Rand.Intn(n))}
		default:
			opt.Take = []string{fmt.Sprint(1 + m.Rand.Intn(n))}
		}
		_, err := m.r.Resolve(context.Background(), opt)
		var said *Error
		if err != nil && !errors.As(err, &said) {
			m.fail("resolve %v: %v", opt, err)
		}
		m.say("  resolve %s of %s, sides %v: %v", c.Kind, c.Path, opt.Take, err)
		m.seen["resolved"]++
	}
	e.Want = map[string]tree.Entry{}
	for p, text := range memDisk(m.t, m.w.mem) {
		k := tree.Entry{Content: text[5:], Exec: text[:5] == "exec "}
		if text[:5] == "link " {
			k.Kind = change.Link
		} else if strings.Contains(k.Content, "\x00") {
			k.Kind = change.Binary
		}
		e.Want[p] = k
	}
}

// Random stories, told by the definition and lived by a repository: after each step both show the same and say the same.
func TestMirrored(t *testing.T) {
	seen := map[string]int{}
	for seed := *mirrorFrom; seed < *mirrorFrom+*mirrorStories; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newMirror(t, seed, seen)
			m.compare(m.Replicas[0])
			for range *mirrorSteps {
				m.step()
			}
			m.gathered()
			check(t, m.r.Close())
		})
	}
	t.Log(seen)
}
