package repo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
	"github.com/oxy-vcs/oxy/internal/oracle/tree"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// What a repository says beside what the definition says.

// same fails with the difference of two lists of words, which need no order.
func (m *mirror) same(what string, want, got []string) {
	m.t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		m.fail("%s (-definition +repository)\n%s", what, cmp.Diff(want, got))
	}
}

var registerWords = map[change.Writes]string{change.WritesPlace: "place", change.WritesMode: "mode", change.WritesBody: "body"}

var regs = map[tree.Reg]change.Writes{tree.Place: change.WritesPlace, tree.Mode: change.WritesMode, tree.Body: change.WritesBody}

// change compares what was just recorded: ops, hunks and dependencies.
func (m *mirror) change(n uint32) {
	b, err := m.r.bodyOf(n)
	check(m.t, err)
	c := m.Changes[n]
	var want, got []string
	for _, o := range c.Ops {
		w := fmt.Sprint(o.File, " ")
		switch o.Reg {
		case tree.Place:
			w += fmt.Sprintf("place %q", o.Path)
		case tree.Mode:
			w += fmt.Sprint("mode ", o.Exec)
		case tree.Body:
			if w += fmt.Sprint("body ", o.Kind); o.Kind != change.Text {
				w += fmt.Sprint(hashOf([]byte(o.Content)))
			}
		case tree.Keep:
			w += "keep"
		case tree.Gone:
			w += "gone"
		}
		want = append(want, w)
		for _, r := range o.Over {
			want = append(want, fmt.Sprint(o.File, " over ", registerWords[regs[r.Reg]], r.Change))
		}
	}
	for _, x := range m.Texts(oracle.Of(n).Union(c.Past)) {
		if x.Change == n {
			continue
		}
		hunks := m.Text(x).Export(n)
		gains := m.Text(x).Changes[n].Gains()
		for i := range hunks {
			hunks[i].Gains = slices.Contains(gains, uint32(i))
			want = append(want, fmt.Sprintf("%v %+v", x, hunks[i]))
		}
	}
	for i := range b.files {
		f := &b.files[i]
		x, known := m.back[f.ID]
		if !known {
			m.fail("file %v is not known", f.ID)
		}
		say := func(format string, args ...any) { got = append(got, fmt.Sprint(x, " ", fmt.Sprintf(format, args...))) }
		if f.Writes&change.WritesPlace != 0 {
			say("place %q", f.Path)
		}
		if f.Writes&change.WritesMode != 0 {
			say("mode %v", f.Exec)
		}
		if f.Writes&change.WritesBody != 0 {
			if f.Kind == change.Text {
				say("body text")
			} else {
				say("body %v%v", f.Kind, f.Content)
			}
		}
		if f.Writes&change.Keep != 0 {
			say("keep")
		}
		if f.Writes&change.Gone != 0 {
			say("gone")
		}
		for _, o := range f.Over {
			say("over %s%d", registerWords[o.Reg], o.Change)
		}
		for _, h := range f.Hunks {
			say("%+v", h)
		}
	}
	m.same("what it does", want, got)
	deps := slices.Clone(m.r.store.Deps(n))
	slices.Sort(deps)
	if !slices.Equal(deps, c.Deps) {
		m.fail("dependencies of %d: %v, want %v", n, deps, c.Deps)
	}
	m.seen["changes"]++
}

// compare holds the state that the working copy stands on to the set that it should be.
func (m *mirror) compare(s tree.Set) {
	base, err := m.r.Base()
	check(m.t, err)
	key := fmt.Sprint(s.Sorted())
	if was, ok := m.states[key]; ok && was.ID != base.ID {
		m.fail("%s has two ids", key)
	}
	for k, was := range m.states {
		if k != key && was.ID == base.ID {
			m.fail("%s and %s have one id", k, key)
		}
	}
	m.states[key] = base
	v := m.Look(s)
	want := want2disk(v.Map())
	if disk := memDisk(m.t, m.w.mem); !maps.Equal(disk, want) {
		m.fail("the disk (-definition +repository)\n%s", cmp.Diff(want, disk))
	}
	if got := stored(m.t, m.r, base); !maps.Equal(got, want) {
		m.fail("the state (-definition +repository)\n%s", cmp.Diff(want, got))
	}
	m.seen["sets"]++
	m.logs(want, base)
	m.conflicts(v, base)
	m.judged(v, base)
}

// logs checks that what is kept of a file tells which changes touched it as a look at each does, but for undoings, which name no file.
func (m *mirror) logs(disk map[string]string, base StateRef) {
	t, err := m.r.tree(base.Num)
	check(m.t, err)
	paths := slices.Sorted(maps.Keys(disk))
	if len(paths) > 4 {
		paths = paths[:4]
	}
	for _, p := range append(paths, "gone", "a", "b") {
		may, known, err := m.r.mayTouch(t, []string{p})
		check(m.t, err)
		if !known {
			continue
		}
		fast, err := m.r.touchingOf(t, []string{p}, may, true)
		check(m.t, err)
		slow, err := m.r.touchingOf(t, []string{p}, nil, false)
		check(m.t, err)
		check(m.t, m.r.walkLog(base.Num, func(n uint32, _ uint64, _ uint32) (bool, error) {
			want, err := slow(n)
			check(m.t, err)
			got, err := fast(n)
			check(m.t, err)
			if got != want && !(got && m.r.undoing(n)) {
				m.fail("change %d touched %s: %v, and a look at it says %v", n, p, got, want)
			}
			if got {
				m.seen["touched"]++
			}
			return true, nil
		}))
	}
}

// conflicts compares what is left to decide: its kind, file and who is at odds.
func (m *mirror) conflicts(v *tree.View, base StateRef) {
	cs, err := m.r.Conflicts(base)
	check(m.t, err)
	var want, got []string
	who := map[string]tree.Set{}
	for _, k := range v.Conflicts() {
		m.seen["conflicts "+k.Kind]++
		x := k.Files[len(k.Files)-1]
		of := tree.Set{}
		for _, c := range k.Changes() {
			of[c] = true
		}
		switch {
		case k.Kind == "text":
			var pairs []string
			for _, p := range k.Block.Pairs {
				pairs = append(pairs, fmt.Sprint(weave.Pair{{Change: p[0].Change, Index: uint32(p[0].Hunk)}, {Change: p[1].Change, Index: uint32(p[1].Hunk)}}))
			}
			slices.Sort(pairs)
			want = append(want, fmt.Sprint("text ", x, strings.Join(pairs, "")))
			continue
		case k.Kind == "name":
			of[1000+uint32(len(k.Files))] = true
			for _, y := range k.Files[:len(k.Files)-1] {
				of[y.Change*100+y.Ord] = true
			}
		}
		key := fmt.Sprint(k.Kind, " ", x)
		if who[key] == nil {
			who[key] = tree.Set{}
		}
		who[key] = who[key].Union(of)
	}
	for key, of := range who {
		want = append(want, fmt.Sprint(key, " ", of.Sorted()))
	}
	tr, err := m.r.tree(base.Num)
	check(m.t, err)
	ds, err := tr.Disputes()
	check(m.t, err)
	for _, c := range cs {
		of := tree.Set{}
		switch c.Kind {
		case "text":
			pairs := slices.Clone(c.parts)
			slices.Sort(pairs)
			got = append(got, fmt.Sprint("text ", m.back[c.File], strings.Join(pairs, "")))
			continue
		case "name":
			d := disputeOf(ds, c.File)
			if d.Dir {
				of[1001] = true
			}
			for _, id := range d.Meets {
				y := m.back[id]
				of[1002], of[y.Change*100+y.Ord] = true, true
			}
		default:
			for _, s := range c.Sides {
				for _, n := range s.Changes {
					of[n] = true
				}
			}
		}
		got = append(got, fmt.Sprint(c.Kind, " ", m.back[c.File], of.Sorted()))
	}
	m.same("conflicts", want, got)
}

// judged compares of every file what stands in its registers, and which twins are hidden.
func (m *mirror) judged(v *tree.View, base StateRef) {
	tr, err := m.r.tree(base.Num)
	check(m.t, err)
	ds, err := tr.Disputes()
	check(m.t, err)
	h := m.r.newReach()
	var want, got []string
	for _, f := range v.Files {
		if f.Hidden {
			want = append(want, fmt.Sprint("hidden ", f.File, f.True))
		}
		for _, reg := range []tree.Reg{tree.Place, tree.Mode, tree.Body} {
			for _, r := range v.Values(f.File, reg) {
				if r.Reg != tree.Edit {
					want = append(want, fmt.Sprint(f.File, registerWords[regs[reg]], r.Change))
				}
			}
		}
		w, err := wasIn(tr, ds, m.files[f.File])
		check(m.t, err)
		if !w.alive {
			m.fail("file %v is not there", f.File)
		}
		if w.hidden {
			got = append(got, fmt.Sprint("hidden ", f.File, w.place))
		}
		verdict, _, err := m.r.verdict(m.files[f.File], &w.entry, h)
		check(m.t, err)
		for _, s := range []struct {
			reg   change.Writes
			deeds []*state.Deed
		}{{change.WritesPlace, verdict.Place}, {change.WritesMode, verdict.Mode}, {change.WritesBody, verdict.Body}} {
			for _, d := range s.deeds {
				if d.Did.Writes&s.reg != 0 {
					got = append(got, fmt.Sprint(m.back[m.files[f.File]], registerWords[s.reg], d.Change))
				}
			}
		}
	}
	m.same("what stands", want, got)
	for x, id := range m.files {
		if v.Set[x.Change] && v.File(x) == nil {
			if at, ok, err := tr.ByFile(id); err != nil || ok && at.Alive {
				m.fail("file %v is there: %v", x, err)
			}
		}
	}
	check(m.t, tr.Check())
}
