package tree

import (
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

// sketch is a working copy being edited: for each path its entry, and the path that it was shown at.
type sketch struct {
	at  map[string]Entry
	was map[string]string
}

func (k *sketch) copy() *sketch { return &sketch{maps.Clone(k.at), maps.Clone(k.was)} }

// move renames all at once; false if two land on one path.
func (k *sketch) move(to map[string]string) bool {
	c := k.copy()
	for p := range to {
		k.remove(p)
	}
	for p, q := range to {
		if _, taken := k.at[q]; taken {
			return false
		}
		k.at[q], k.was[q] = c.at[p], c.was[p]
	}
	return true
}

func (k *sketch) remove(p string) {
	delete(k.at, p)
	delete(k.was, p)
}

// Valid reports whether no path is a file and a directory at once.
func Valid(paths map[string]Entry) bool {
	for p := range paths {
		for q := dirname(p); q != ""; q = dirname(q) {
			if _, file := paths[q]; file {
				return false
			}
		}
	}
	return true
}

// fits reports whether a path can be added.
func fits(paths map[string]Entry, p string) bool {
	m := maps.Clone(paths)
	m[p] = Entry{}
	return Valid(m)
}

func (s *Story) one(of []string) string { return of[s.Rand.Intn(len(of))] }

func (s *Story) anyPath() string {
	p := s.one(s.names)
	for s.Rand.Intn(2) == 0 && strings.Count(p, "/") < 2 {
		p += "/" + s.one(s.names)
	}
	return p
}

func (s *Story) anyEntry() Entry {
	return s.anyKind(s.Rand.Intn(4) > 0)
}

func (s *Story) anyKind(text bool) Entry {
	switch {
	case !text && s.Rand.Intn(2) == 0:
		return Entry{Kind: change.Link, Content: s.one([]string{"1", "2"})}
	case !text:
		return Entry{Kind: change.Binary, Exec: s.Rand.Intn(3) == 0, Content: s.one([]string{"1\x00", "2\x00"})}
	}
	return Entry{Exec: s.Rand.Intn(3) == 0, Content: s.anyText(s.Rand.Intn(1 + s.Rand.Intn(s.length)))}
}

func (s *Story) anyText(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(s.one(s.words))
	}
	return b.String()
}

// Under is the path that directory moves give to a path.
func Under(dirs map[string]string, p string) string {
	for d := dirname(p); d != ""; d = dirname(d) {
		if q, ok := dirs[d]; ok {
			return q + p[len(d):]
		}
	}
	return p
}

// Scribble edits what a view shows.
func (s *Story) Scribble(v *View) (map[string]Entry, Moves) {
	k := &sketch{v.Map(), map[string]string{}}
	for p := range k.at {
		k.was[p] = p
	}
	if len(v.dirs) > 0 && s.Rand.Intn(s.calm) == 0 {
		to := map[string]string{}
		dirs := s.dirMoves(slices.Sorted(maps.Keys(v.dirs)))
		for p := range k.at {
			to[p] = Under(dirs, p)
		}
		if c := k.copy(); c.move(to) && Valid(c.at) {
			k = c
		}
	}
	for range 1 + s.Rand.Intn(3) {
		if c := k.copy(); s.alter(v, c) && Valid(c.at) {
			k = c
		}
	}
	moves := Moves{}
	for q, p := range k.was {
		if p != "" && p != q {
			moves[p] = q
		}
	}
	return k.at, moves
}

// dirMoves moves a directory, into another too, swaps two, or three in a ring.
func (s *Story) dirMoves(dirs []string) map[string]string {
	p, q := s.one(dirs), s.one(dirs)
	switch s.Rand.Intn(5) {
	case 2:
		return map[string]string{p: q, q: p}
	case 3:
		return map[string]string{p: q, q: s.anyPath(), s.one(dirs): p}
	case 4:
		return map[string]string{p: q + "/" + s.one(s.names)}
	}
	return map[string]string{p: s.anyPath()}
}

// alter does one thing to a working copy; false if it cannot be.
func (s *Story) alter(v *View, c *sketch) bool {
	paths := slices.Sorted(maps.Keys(c.at))
	p := s.anyPath()
	if len(paths) > 0 && (s.texty || s.Rand.Intn(4) > 0) {
		p = s.one(paths)
	}
	for _, k := range v.conflicts {
		if k.Kind == "name" && s.Rand.Intn(3) == 0 {
			p = v.File(k.Files[0]).True // whose name another would have too
		}
	}
	now, there := c.at[p]
	what := s.Rand.Intn(15)
	if s.texty && s.Rand.Intn(3) > 0 {
		what = 1
	}
	switch what {
	case 0: // add, or replace
		c.at[p] = s.anyEntry()
	case 13, 14: // a text to a value and back
		if there {
			c.at[p] = s.anyKind(now.Kind != change.Text)
		}
	case 1, 2, 3: // edit
		if f := v.At(c.was[p]); there && f != nil && f.Text() != nil && now == f.Entry() {
			now.Content = s.scribbleText(f, s.Rand.Intn(2) == 0)
			c.at[p] = now
		}
	case 4:
		c.remove(p)
	case 5, 6:
		return there && c.move(map[string]string{p: s.anyPath()})
	case 7:
		q := s.one(append(paths, p))
		return there && q != p && c.move(map[string]string{p: q, q: p})
	case 8:
		q, r := s.one(append(paths, p)), s.one(append(paths, p))
		return there && q != p && q != r && r != p && c.move(map[string]string{p: q, q: r, r: p})
	case 9: // a file to a directory
		if there {
			c.remove(p)
			c.at[p+"/"+s.one(s.names)] = s.anyEntry()
		}
	case 10: // a directory to a file
		if q := dirname(p); q != "" {
			for x := range c.at {
				if strings.HasPrefix(x, q+"/") {
					c.remove(x)
				}
			}
			c.at[q] = s.anyEntry()
		}
	case 11, 12:
		if there && now.Kind != change.Link {
			now.Exec = !now.Exec
			c.at[p] = now
		}
	}
	return true
}

// scribbleText edits what a person sees: outside blocks at random; each block may be edited away, or all are.
func (s *Story) scribbleText(f *Shown, settle bool) string {
	st, out := f.Text(), s.NewPage(f.File)
	at := map[int]bool{s.Rand.Intn(len(st.Items) + 1): true}
	if s.Rand.Intn(3) == 0 {
		at[s.Rand.Intn(len(st.Items)+1)] = true
	}
	skip := 0
	for i := 0; i <= len(st.Items); i++ {
		if at[i] {
			out.WriteString(s.anyText(s.Rand.Intn(3)))
			skip = s.Rand.Intn(3)
		}
		if i == len(st.Items) {
			break
		}
		it := st.Items[i]
		switch {
		case it.Block != nil && (settle || s.Rand.Intn(4) == 0):
			out.WriteString(s.settled(it))
		case it.Block == nil && skip > 0:
			skip--
		default:
			out.Add(it)
		}
	}
	return out.String()
}

// settled is what a person might write in a block's place: other words, one side, or two.
func (s *Story) settled(it oracle.Item) string {
	sides := it.Block.Texts()
	switch s.Rand.Intn(4) {
	case 0:
		return s.anyText(s.Rand.Intn(3))
	case 1:
		return strings.Join(sides[0], "") + strings.Join(sides[len(sides)-1], "")
	}
	return strings.Join(sides[s.Rand.Intn(len(sides))], "")
}
