package repo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/oracle"
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

// label is what the repository adds to the path of a file that is shown aside.
func (m *mirror) label(x tree.File) string {
	id := m.files[x]
	name := m.r.store.ChangeID(id.Change).String()[:markDigits]
	if id.Ord > 0 {
		name += fmt.Sprintf(".%d", id.Ord)
	}
	return name
}

// block writes a block as the repository does.
func (m *mirror) block(x tree.File, it oracle.Item) string {
	texts, base := it.Block.Texts(), strings.Join(it.Block.Base(), "")
	eol := ""
	for _, s := range append(slices.Clone(texts), it.Block.Base()) {
		if i := strings.IndexByte(strings.Join(s, ""), '\n'); i >= 0 && eol == "" {
			if eol = "\n"; i > 0 && strings.Join(s, "")[i-1] == '\r' {
				eol = "\r\n"
			}
		}
	}
	if eol == "" {
		eol = "\n"
	}
	least := it.Block.Least()
	name := fmt.Sprintf("%s.%d", m.r.store.ChangeID(least.Change).String()[:markDigits], least.Hunk)
	var b strings.Builder
	line := func(text string) {
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteString(eol)
		}
		b.WriteString(text + eol)
	}
	words := func(i int, of string) string {
		by := it.Block.Sides[i].By
		label := "all together"
		if len(by) > 0 {
			var parts []string
			for _, c := range by {
				parts = append(parts, m.r.store.ChangeID(c).String()[:markDigits]+" "+firstLine(m.r.message(c)))
			}
			label = strings.Join(parts, ", ")
		}
		return fmt.Sprintf("%s %d%s: %s", name, i+1, of, label)
	}
	for i := range texts {
		text := strings.Join(texts[i], "")
		if i == 0 {
			line("<<<<<<< " + words(i, ""))
			b.WriteString(text)
			line("||||||| " + name + " base")
			b.WriteString(base)
			if line("======="); len(texts) == 1 {
				line(">>>>>>> " + name)
			}
			continue
		}
		b.WriteString(text)
		if i < len(texts)-1 {
			line("======= " + words(i, ", above"))
		} else {
			line(">>>>>>> " + words(i, ""))
		}
	}
	return b.String()
}

// alignLines pairs two texts as the repository does, which sees their bytes only: a line without a break and the one behind it are
// one to it.
func alignLines(old, now []string) (lines []string, stays []int) {
	a, b := strings.Join(old, ""), strings.Join(now, "")
	stays = make([]int, len(old))
	var d diff.Differ
	ai, at, bt := 0, 0, 0
	keep := func(to int) {
		for at < to {
			stays[ai] = len(lines)
			lines = append(lines, old[ai])
			at += len(old[ai])
			bt += len(old[ai])
			ai++
		}
	}
	for _, e := range d.Lines([]byte(a), []byte(b), diff.Options{}) {
		keep(e.AOff0)
		for at < e.AOff1 {
			stays[ai] = -1
			at += len(old[ai])
			ai++
		}
		for l := range strings.Lines(b[e.BOff0:e.BOff1]) {
			lines = append(lines, l)
		}
		bt = e.BOff1
	}
	keep(len(a))
	return lines, stays
}

// write makes the working copy what a map says.
func (m *mirror) write(want map[string]tree.Entry, moves tree.Moves) {
	disk := memDisk(m.t, m.w.mem)
	for p, text := range want2disk(want) {
		if disk[p] == text {
			delete(disk, p)
		}
	}
	same := want2disk(want)
	for p := range disk {
		drop(m.t, m.w.mem, p)
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			if m.w.mem.Remove(filepath.Join(memRoot, d)) != nil { // something is in it
				break
			}
		}
	}
	have := memDisk(m.t, m.w.mem)
	for _, p := range slices.Sorted(maps.Keys(same)) {
		if have[p] == same[p] {
			continue
		}
		if have[p] == "" { // an empty directory may be left there
			check(m.t, m.w.mem.RemoveAll(filepath.Join(memRoot, p)))
		}
		if e := want[p]; e.Kind == change.Link {
			check(m.t, m.w.mem.MkdirAll(filepath.Dir(filepath.Join(memRoot, p)), 0o777))
			d, err := m.w.mem.OpenDir(filepath.Dir(filepath.Join(memRoot, p)))
			check(m.t, err)
			check(m.t, d.Symlink(e.Content, path.Base(p)))
			check(m.t, d.Close())
		} else {
			perm := os.FileMode(0o666)
			if e.Exec {
				perm = 0o777
			}
			putAs(m.t, m.w.mem, p, e.Content, perm)
		}
	}
	p := &pending{}
	for _, from := range slices.Sorted(maps.Keys(moves)) {
		p.Moves = append(p.Moves, move{from, moves[from]})
	}
	check(m.t, m.r.savePending(p))
}

// want2disk tells a map as memDisk does.
func want2disk(want map[string]tree.Entry) map[string]string {
	out := map[string]string{}
	for p, e := range want {
		switch {
		case e.Kind == change.Link:
			out[p] = "link " + e.Content
		case e.Exec:
			out[p] = "exec " + e.Content
		default:
			out[p] = "file " + e.Content
		}
	}
	return out
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
			check(t, m.r.Close())
		})
	}
	t.Log(seen)
}
