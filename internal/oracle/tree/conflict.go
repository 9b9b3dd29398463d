package tree

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/oracle"
)

// Conflict is one thing left to decide.
type Conflict struct {
	Kind  string // place, mode, body, life, name, text
	Files []File // one; of a name two
	Dir   bool   // of a name: the other is a directory, and Files has one
	Refs  []Ref  // the acts that clash, by numbers; of a life one for each change, without register; or unlike values; none of a name
	Block *oracle.Region
}

// Key is the same in every set that holds the conflict; of a text in every set with the same region.
func (k Conflict) Key() string {
	if k.Block != nil {
		return fmt.Sprint(k.Kind, k.Files, k.Block.Pairs)
	}
	return fmt.Sprint(k.Kind, k.Files, k.Dir, k.Refs)
}

// Changes lists the changes that are at odds; of a name none.
func (k Conflict) Changes() []uint32 {
	s := Set{}
	for _, r := range k.Refs {
		s[r.Change] = true
	}
	return s.Sorted()
}

var registers = []Reg{Place, Mode, Body}

var kinds = map[Reg]string{Place: "place", Mode: "mode", Body: "body"}

// findConflicts names what is open: a clash on a register while its file exists, one on existence once for two changes, unlike
// values in a register of which no clash speaks, and names that meet.
func (v *View) findConflicts() {
	for _, p := range v.Pairs {
		k := Conflict{Kind: kinds[p[0].On()], Files: []File{p[0].File}, Refs: []Ref{p[0], p[1]}}
		if v.w.Life(p) {
			k.Kind, k.Refs = "life", []Ref{{Change: p[0].Change, File: p[0].File}, {Change: p[1].Change, File: p[0].File}}
		} else if v.File(p[0].File) == nil {
			continue
		}
		v.note(k)
	}
	for _, f := range v.Files {
		for _, reg := range registers {
			for _, r := range v.divided(f.File, reg) {
				v.note(Conflict{Kind: kinds[reg], Files: []File{f.File}, Refs: []Ref{v.Values(f.File, reg)[0], r}})
			}
		}
	}
	met := map[string][]File{}
	for _, f := range v.Files {
		if f.Hidden {
			continue
		}
		if v.dirs[f.True] {
			v.note(Conflict{Kind: "name", Files: []File{f.File}, Dir: true})
		}
		for _, g := range met[f.True] {
			v.note(Conflict{Kind: "name", Files: []File{g, f.File}})
		}
		met[f.True] = append(met[f.True], f.File)
	}
	slices.SortFunc(v.conflicts, byKey)
}

func (v *View) note(k Conflict) {
	if !v.has(k.Key()) {
		v.conflicts = append(v.conflicts, k)
	}
}

// has reports whether a conflict outside texts is open.
func (v *View) has(key string) bool {
	return slices.ContainsFunc(v.conflicts, func(k Conflict) bool { return k.Key() == key })
}

func byKey(a, b Conflict) int {
	switch ka, kb := a.Key(), b.Key(); {
	case ka < kb:
		return -1
	case ka > kb:
		return 1
	}
	return 0
}

// Conflicts lists all that is left to decide: of texts each block that is shown, the hidden twins' left out, for they have none.
func (v *View) Conflicts() []Conflict {
	out := slices.Clone(v.conflicts)
	for _, f := range v.Files {
		st := f.Text()
		if st == nil {
			continue
		}
		for _, r := range st.Regions {
			if r.First > r.Last {
				continue
			}
			k := Conflict{Kind: "text", Files: []File{f.File}, Block: r}
			s := Set{}
			for _, p := range r.Pairs {
				s[p[0].Change], s[p[1].Change] = true, true
			}
			for _, c := range s.Sorted() {
				k.Refs = append(k.Refs, Ref{c, f.File, Edit})
			}
			out = append(out, k)
		}
	}
	slices.SortFunc(out, byKey)
	return out
}

// TextPair is two hunks at odds in one text.
type TextPair struct {
	File File
	oracle.Pair
}

// TextPairs lists the open pairs of all texts of a set, of those that are not shown too.
func (v *View) TextPairs() (out []TextPair) {
	for _, x := range v.w.Texts(v.Set) {
		for _, p := range v.w.texts[x].See(v.Set).Open() {
			out = append(out, TextPair{x, p})
		}
	}
	return
}
