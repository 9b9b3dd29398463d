package tree

import (
	"path"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/oracle"
)

// Shown is a file that exists.
type Shown struct {
	File
	True   string   // its path if nothing met there
	Path   string   // where it is shown; a hidden twin has the path of the one shown
	Twins  []*Shown // that it hides
	Hidden bool

	v     *View
	open  int // conflicts of its own registers and existence
	entry *Entry
	text  *oracle.State
}

// Entry is what the edited map holds for a path.
type Entry struct {
	Kind    change.Kind
	Exec    bool // never of a link
	Content string
}

func dirname(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

func (v *View) findFiles() {
	for x := range v.acts {
		if !v.exists(x) {
			continue
		}
		f := &Shown{File: x, True: v.w.op(v.Values(x, Place)[0]).Path, v: v}
		for _, p := range v.Pairs {
			if p[0].File == x {
				f.open++
			}
		}
		for _, reg := range registers {
			f.open += len(v.divided(x, reg))
		}
		v.Files = append(v.Files, f)
		for d := dirname(f.True); d != ""; d = dirname(d) {
			v.dirs[d] = true
		}
	}
	slices.SortFunc(v.Files, func(f, g *Shown) int { return v.w.compare(f.File, g.File) })
}

// body is the value that is shown; nil if that is the text.
func (f *Shown) body() *Op {
	if o := f.v.w.op(f.v.Values(f.File, Body)[0]); o != nil && o.Kind != change.Text {
		return o
	}
	return nil
}

// Text is the state of the text that is shown; nil if it is a value.
func (f *Shown) Text() *oracle.State {
	if f.body() != nil {
		return nil
	}
	return f.woven()
}

// woven is the state of the file's text, whether it is shown or not.
func (f *Shown) woven() *oracle.State {
	if f.text == nil {
		f.text = f.v.w.texts[f.File].Render(f.v.Set)
	}
	return f.text
}

// Entry is what a person sees of the file.
func (f *Shown) Entry() Entry {
	if f.entry == nil {
		f.entry = &Entry{}
		if o := f.body(); o != nil {
			f.entry.Kind, f.entry.Content = o.Kind, o.Content
		} else {
			f.entry.Content = f.v.w.content(f.File, f.Text())
		}
		if f.entry.Kind != change.Link {
			f.entry.Exec = f.exec()
		}
	}
	return *f.entry
}

// exec is the mode that stands, which a link has but does not show.
func (f *Shown) exec() bool {
	return f.v.w.op(f.v.Values(f.File, Mode)[0]).Exec
}

// calm reports whether no conflict of its own is open in the file.
func (f *Shown) calm() bool { return f.open == 0 && (f.Text() == nil || len(f.Text().Open()) == 0) }

// twins reports whether two files that meet are one file twice.
func twins(f, g *Shown) bool { return f.Entry() == g.Entry() && f.calm() && g.calm() }

// giveNames: of files that meet, twins are shown once, at the least; of the rest the least keeps the name unless a directory has it,
// and each other is shown aside, as path~id.
func (v *View) giveNames() {
	groups := map[string][]*Shown{}
	var aside []*Shown
	for _, f := range v.Files {
		g := groups[f.True]
		if i := slices.IndexFunc(g, func(g *Shown) bool { return twins(f, g) }); i >= 0 {
			g[i].Twins, f.Hidden = append(g[i].Twins, f), true
			continue
		}
		groups[f.True] = append(g, f)
		if len(g) == 0 && !v.dirs[f.True] {
			f.Path = f.True
			v.byPath[f.Path] = f
		} else {
			aside = append(aside, f)
		}
	}
	for _, f := range aside { // in their order, after all that keep their names
		f.Path = f.True + "~" + v.w.label(f.File)
		for v.byPath[f.Path] != nil || v.dirs[f.Path] {
			f.Path += "~"
		}
		v.byPath[f.Path] = f
	}
	for _, f := range v.Files {
		for _, t := range f.Twins {
			t.Path = f.Path
		}
	}
}

func (w *World) label(x File) string {
	if w.Label != nil {
		return w.Label(x)
	}
	return w.ID(x)
}

// File finds a file that exists; else nil.
func (v *View) File(x File) *Shown {
	if i := slices.IndexFunc(v.Files, func(f *Shown) bool { return f.File == x }); i >= 0 {
		return v.Files[i]
	}
	return nil
}

// At finds the file that is shown at a path; else nil.
func (v *View) At(p string) *Shown { return v.byPath[p] }

// Map is what a person sees: by path.
func (v *View) Map() map[string]Entry {
	m := map[string]Entry{}
	for p, f := range v.byPath {
		m[p] = f.Entry()
	}
	return m
}
