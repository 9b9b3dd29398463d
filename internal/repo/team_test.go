package repo

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle/tree"
)

// team tells a story of several people in words, and lives it in a repository. A line of it is one of
//
//	name = new TREE             files
//	name = edit SET: TREE       the tree replaced; moves among it
//	name = settle SET: TREE     the same, and all that is left to decide decided as TREE has it; no TREE: as it is shown
//	name = amend SET: TREE      the last change of a set made anew
//	name = rollback SET NAME    the change that NAME recorded undone
//	name = set SET              a name for it
//	show SET: TREE              what is there, and in braces what is left to decide: kinds and paths; "or" stands between outcomes that hashes decide between
//	deps NAME: NAMES            what the change depends on
//	refuse SET: TREE            an edit that is no record
//	stuck SET - NAME: NAMES     the change cannot be taken away, for those depend on it
//
// where SET is names joined by +, a name standing for all that was there after its step, and - NAME for that change taken away. TREE is
// words path=content: a text's lines stand between commas, @ begins a link and % a binary, ! ends what may be executed. A block is
// [side; side; base lines], its sides sorted; edited, {} stands for the next block as it is, { for its first line alone. A line ends with
// a line break, after $ with none, after ^ with that of Windows. A move is old>new, of a directory old/>new. Of a file that is shown aside the path ends
// with ~ alone.
//
// What a set shows is looked at by whoever unites it in the order of its names and by whoever does so in the other order, as kept and as made again.
type team struct {
	t     *testing.T
	w     *world
	r     *Repo
	line  string
	steps int64
	hands int               // bookmarks that nothing keeps
	made  map[string]uint32 // the change of each step
}

func newTeam(t *testing.T) *team {
	s := &team{t: t, w: &world{mem: newMem()}, made: map[string]uint32{}}
	check(t, s.w.mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(s.w.mem))
	check(t, err)
	s.r = r
	return s
}

func tell(t *testing.T, story string) {
	s := newTeam(t)
	for line := range strings.Lines(story) {
		s.do(line)
	}
	check(t, s.r.Close())
}

func (s *team) do(line string) {
	if s.line = strings.TrimSpace(line); s.line != "" && !strings.HasPrefix(s.line, "#") {
		s.step()
	}
}

func (s *team) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s\n%s", s.line, fmt.Sprintf(format, args...))
}

func (s *team) ok(err error) {
	s.t.Helper()
	if err != nil {
		s.fail("%v", err)
	}
}

func (s *team) step() {
	head, words, given := strings.Cut(s.line, ":")
	f := strings.Fields(head)
	rest := func(n int) string { return strings.Join(f[n:], "") }
	switch {
	case f[0] == "show":
		s.show(rest(1), words)
	case f[0] == "deps":
		deps := s.r.store.Deps(s.made[f[1]])
		if got := s.names(deps); got != strings.Join(sorted(strings.Fields(words)), " ") {
			s.fail("it depends on %s", got)
		}
	case f[0] == "refuse":
		s.stand(rest(1), false)
		s.write(words)
		if _, err := s.commit(); err == nil {
			s.fail("it was recorded")
		}
		_, err := s.r.Discard(context.Background(), nil, nil)
		s.ok(err)
	case f[0] == "stuck":
		set, name, _ := strings.Cut(rest(1), "-")
		s.stand(set, false)
		_, err := s.r.Unrecord(context.Background(), []string{s.id(name)}, UnrecordOptions{})
		e, _ := err.(*Error)
		if e == nil {
			s.fail("it was not refused: %v", err)
		}
		d, _ := e.Err.(*DependentsError)
		if d == nil || s.names(d.Changes) != strings.Join(sorted(strings.Fields(words)), " ") {
			s.fail("%v", e.Err)
		}
	case f[2] == "set":
		s.stand(rest(3), false)
		s.name(f[0])
	case f[2] == "new":
		s.write(strings.Join(f[3:], " "))
		s.record(f[0])
	case f[2] == "edit", f[2] == "settle":
		s.stand(rest(3), false)
		if f[2] == "settle" {
			cs, err := s.r.ConflictsHere()
			s.ok(err)
			for _, c := range cs {
				if c.Kind != "text" {
					_, err := s.r.Resolve(context.Background(), ResolveOptions{Paths: []string{c.Path}, Block: c.ID})
					s.ok(err)
				}
			}
		}
		if given {
			s.write(words)
		}
		s.record(f[0])
	case f[2] == "amend":
		s.stand(rest(3), false)
		s.write(words)
		_, err := s.r.Commit(context.Background(), CommitOptions{Message: f[0], Time: at(s.steps), Amend: true})
		s.ok(err)
		s.made[f[0]] = s.r.store.NumChanges() - 1
		s.name(f[0])
	case f[2] == "rollback":
		s.stand(strings.Join(f[3:len(f)-1], ""), false)
		_, err := s.r.Rollback(context.Background(), s.id(f[len(f)-1]), RollbackOptions{Message: f[0], Time: at(s.steps)})
		s.ok(err)
		s.made[f[0]] = s.r.store.NumChanges() - 1
		s.name(f[0])
	default:
		s.fail("no step")
	}
	s.steps++
}

func sorted(w []string) []string {
	slices.Sort(w)
	return w
}

func (s *team) id(name string) string { return s.r.store.ChangeID(s.made[name]).String() }

func (s *team) names(nums []uint32) string {
	var out []string
	for name, c := range s.made {
		if slices.Contains(nums, c) {
			out = append(out, name)
		}
	}
	return strings.Join(sorted(out), " ")
}

// stand brings the working copy to a set, on a bookmark of its own.
func (s *team) stand(set string, backward bool) {
	ctx := context.Background()
	set, without, less := strings.Cut(set, "-")
	names := strings.Split(set, "+")
	if backward {
		slices.Reverse(names)
	}
	first, err := s.r.ResolveState(names[0])
	s.ok(err)
	s.hands++
	hand := fmt.Sprint("hand", s.hands)
	s.ok(s.r.SetBookmark(hand, first, false))
	_, err = s.r.Checkout(ctx, hand)
	s.ok(err)
	for _, n := range names[1:] {
		if _, err := s.r.Merge(ctx, n, MergeOptions{}); err != nil {
			if e, ok := err.(*Error); !ok || !e.No {
				s.fail("%v", err)
			}
		}
	}
	if less {
		_, err := s.r.Unrecord(ctx, []string{s.id(without)}, UnrecordOptions{})
		s.ok(err)
	}
}

// name gives the state of the working copy a name.
func (s *team) name(name string) {
	base, err := s.r.Base()
	s.ok(err)
	s.ok(s.r.SetBookmark(name, base, false))
}

func (s *team) commit() (*CommitResult, error) {
	return s.r.Commit(context.Background(), CommitOptions{Message: fmt.Sprint("step ", s.steps), Time: at(s.steps)})
}

func (s *team) record(name string) {
	_, err := s.commit()
	s.ok(err)
	s.made[name] = s.r.store.NumChanges() - 1
	s.name(name)
}

// write makes the working copy a tree.
func (s *team) write(words string) {
	disk := memDisk(s.t, s.w.mem)
	moves, dirs := map[string]string{}, map[string]string{}
	for _, w := range strings.Fields(words) {
		p, q, move := strings.Cut(w, ">")
		if d, dir := strings.CutSuffix(p, "/"); dir {
			dirs[d] = q
		} else if move && !strings.Contains(w, "=") {
			moves[s.aside(disk, p)] = q
		}
	}
	for p := range disk {
		if q := tree.Under(dirs, p); q != p {
			moves[p] = q
		}
	}
	m := mirror{t: s.t, w: s.w, r: s.r}
	want := map[string]tree.Entry{}
	for _, w := range strings.Fields(words) {
		if p, c, file := strings.Cut(w, "="); file {
			p = s.aside(disk, p)
			was := p
			for from, to := range moves {
				if to == p {
					was = from
				}
			}
			want[p] = entryOf(c, disk[was])
		}
	}
	m.write(want, moves)
}

// aside finds the whole path of what is shown as path~id.
func (s *team) aside(disk map[string]string, p string) string {
	if strings.HasSuffix(p, "~") {
		for q := range disk {
			if strings.HasPrefix(q, p) {
				return q
			}
		}
	}
	return p
}

var blockText = regexp.MustCompile(`(?s)<<<<<<< (\S+) .*?>>>>>>> [^\n]*\n?`)

func entryOf(c, was string) (e tree.Entry) {
	c, e.Exec = strings.CutSuffix(c, "!")
	switch {
	case strings.HasPrefix(c, "@"):
		e.Kind, e.Content = change.Link, c[1:]
		return e
	case strings.HasPrefix(c, "%"):
		e.Kind, e.Content = change.Binary, "\x00"+c[1:]
		return e
	}
	blocks := blockText.FindAllString(was, -1)
	for _, l := range strings.Split(c, ",") {
		switch {
		case l == "{}":
			e.Content, blocks = e.Content+blocks[0], blocks[1:]
		case l == "{":
			e.Content += strings.SplitAfter(blocks[0], "\n")[0]
		case strings.HasSuffix(l, "$"):
			e.Content += strings.TrimSuffix(l, "$")
		case l != "":
			e.Content += strings.Replace(l, "^", "\r", 1) + "\n"
		}
	}
	return e
}

// inWords is a text in the notation.
func inWords(text string) string {
	var out []string
	for len(text) > 0 {
		at := blockText.FindStringIndex(text)
		end := len(text)
		if at != nil {
			end = at[0]
		}
		out = append(out, lineWords(text[:end])...)
		if at == nil {
			break
		}
		out = append(out, blockWords(text[at[0]:at[1]]))
		text = text[at[1]:]
	}
	return strings.Join(out, ",")
}

func lineWords(text string) (out []string) {
	for l := range strings.Lines(text) {
		line, whole := strings.CutSuffix(l, "\n")
		if line = strings.Replace(line, "\r", "^", 1); !whole {
			line += "$"
		}
		out = append(out, line)
	}
	return out
}

// blockWords is a block, its sides sorted: which comes first is for hashes to say.
func blockWords(block string) string {
	var sides []string
	base, part := "", ""
	inBase := false
	for l := range strings.Lines(block) {
		switch {
		case strings.HasPrefix(l, "<<<<<<< "):
		case strings.HasPrefix(l, "||||||| "):
			sides, part, inBase = append(sides, part), "", true
		case strings.HasPrefix(l, "======="), strings.HasPrefix(l, ">>>>>>> "):
			if inBase {
				base, inBase = part, false
			} else {
				sides = append(sides, part)
			}
			part = ""
		default:
			part += l
		}
	}
	for i := range sides {
		sides[i] = strings.Join(lineWords(sides[i]), ",")
	}
	slices.Sort(sides)
	return "[" + strings.Join(append(sides, strings.TrimSpace("base "+strings.Join(lineWords(base), ","))), "; ") + "]"
}

var asideID = regexp.MustCompile(`~[0-9a-f]{8}(\.\d+)?`)

// seen is what the working copy shows, and what is left to decide, in the notation.
func (s *team) seen() string {
	disk := memDisk(s.t, s.w.mem)
	var out []string
	for _, p := range slices.Sorted(maps.Keys(disk)) {
		kind, text := disk[p][:5], disk[p][5:]
		w := inWords(text)
		switch {
		case kind == "link ":
			w = "@" + text
		case strings.HasPrefix(text, "\x00"):
			w = "%" + text[1:]
		}
		if kind == "exec " {
			w += "!"
		}
		out = append(out, asideID.ReplaceAllString(p, "~")+"="+w)
	}
	cs, err := s.r.ConflictsHere()
	s.ok(err)
	var ks []string
	for _, c := range cs {
		ks = append(ks, c.Kind+" "+asideID.ReplaceAllString(c.Path, "~"))
	}
	slices.Sort(ks)
	if len(ks) > 0 {
		out = append(out, "{"+strings.Join(ks, "; ")+"}")
	}
	return strings.Join(out, " ")
}

func (s *team) show(set, want string) {
	s.stand(set, false)
	got := s.seen()
	if !slices.Contains(strings.Split(strings.TrimSpace(want), " or "), got) {
		s.fail("it shows %s", got)
	}
	one, err := s.r.Base()
	s.ok(err)
	now := pictureOf(s.t, s.r, one)
	if disk := memDisk(s.t, s.w.mem); !maps.Equal(disk, now.Files) {
		s.fail("the disk has\n %q\nthe state\n %q", disk, now.Files)
	}
	s.stand(set, true)
	two, err := s.r.Base()
	s.ok(err)
	if one.ID != two.ID {
		s.fail("whoever unites them in the other order has another state")
	}
	if again := pictureOf(s.t, s.r, two); !again.equal(now) {
		s.fail("%q\nin the other order\n%q", now, again)
	}
	b := bare(s.t, s.w)
	defer b.Close()
	if again := pictureOf(s.t, b, one); !again.equal(now) {
		s.fail("%q\nmade again\n%q", now, again)
	}
	tr, err := s.r.tree(one.Num)
	s.ok(err)
	s.ok(tr.Check())
}
