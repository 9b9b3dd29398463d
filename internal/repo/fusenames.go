package repo

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
)

// names decides which file stands at each path where files come, go or change: of those that meet there equal ones are
// shown once, the one of least id keeps the name unless a directory has it, and the others are shown beside it.
func (f *fuse) names() error {
	places := map[string]bool{}
	var queue []string
	want := func(p string) {
		if !places[p] {
			places[p] = true
			queue = append(queue, p)
		}
	}
	for _, x := range f.files {
		if x.was.alive {
			want(x.was.place)
		}
		if x.exists {
			want(x.entry.Path)
		}
	}
	asides := f.asides()
	above := map[string]bool{}
	for len(queue) > 0 {
		p := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		// A file that is shown aside takes the first free name.
		for _, a := range asides {
			if p == a.name || strings.HasPrefix(p, a.name) && strings.Trim(p[len(a.name):], "~") == "" {
				want(a.place)
			}
		}
		more, err := f.gather(p)
		if err != nil {
			return err
		}
		for _, x := range more {
			want(x.entry.Path)
			want(x.was.place)
		}
		for i := strings.LastIndexByte(p, '/'); i > 0; i = strings.LastIndexByte(p[:i], '/') {
			d := p[:i]
			if above[d] {
				break
			}
			above[d] = true
			if len(asides) > 0 || len(f.byPlace[d]) > 0 {
				want(d)
			} else if _, there, err := f.base.Get(d); err != nil {
				return err
			} else if there {
				want(d)
			}
		}
	}
	return f.giveNames(places)
}

// asideName is a file of base that is shown beside its place, and the name that it has there unless that is taken.
type asideName struct{ name, place string }

func (f *fuse) asides() (out []asideName) {
	for i := range f.disputes {
		if d := &f.disputes[i]; d.Hidden == nil && d.Shown != "" && d.Shown != d.Place {
			out = append(out, asideName{f.asideOf(d.Place, d.File), d.Place})
		}
	}
	return out
}

// asideOf is where a file is shown whose name another keeps.
func (f *fuse) asideOf(place string, id change.FileID) string {
	name := fmt.Sprintf("~%.*s", markDigits, f.h.id(id.Change))
	if id.Ord > 0 {
		name += fmt.Sprintf(".%d", id.Ord)
	}
	// No element of a path is longer than file systems bear; the id tells files apart.
	const maxElement = 255
	dir := strings.LastIndexByte(place, '/') + 1
	if over := len(place) - dir + len(name) - maxElement; over > 0 {
		place = place[:len(place)-over]
	}
	return place + name
}

// gather takes in the files of base whose place a path is, or that are shown there.
func (f *fuse) gather(p string) (more []*fused, err error) {
	take := func(id change.FileID) error {
		if f.files[id] != nil {
			return nil
		}
		x, err := f.file(id)
		more = append(more, x)
		return err
	}
	for _, id := range f.byPlace[p] {
		if err := take(id); err != nil {
			return nil, err
		}
	}
	e, ok, err := f.base.Get(p)
	if err == nil && ok {
		err = take(e.File)
	}
	return more, err
}

// giveNames decides on some places. All files of these are at hand.
func (f *fuse) giveNames(places map[string]bool) error {
	groups := map[string][]*fused{}
	for _, x := range f.files {
		x.shown, x.hidden, x.meets, x.dir = "", false, nil, false
		if x.exists {
			groups[x.entry.Path] = append(groups[x.entry.Path], x)
		}
	}
	shown := map[string]bool{}
	var aside []*fused
	for p, g := range groups {
		if !places[p] {
			return errors.New("a file's place was not looked at") // cannot be
		}
		slices.SortFunc(g, f.byID)
		dir, err := f.directory(p)
		if err != nil {
			return err
		}
		var alone []*fused // that are no twins of one before
		for _, x := range g {
			if i := slices.IndexFunc(alone, func(o *fused) bool { return twins(o, x) }); i >= 0 {
				x.hidden = true
				continue
			}
			x.dir = dir
			for _, o := range alone {
				x.meets = append(x.meets, o.id)
			}
			slices.SortFunc(x.meets, compareFiles)
			if alone = append(alone, x); len(alone) == 1 && !dir {
				x.shown = p
				shown[p] = true
			} else {
				aside = append(aside, x)
			}
		}
	}
	slices.SortFunc(aside, f.byID)
	for _, x := range aside {
		name := f.asideOf(x.entry.Path, x.id)
		for {
			taken, err := f.taken(name, shown)
			if err != nil {
				return err
			}
			if !taken {
				break
			}
			name += "~"
		}
		x.shown, shown[name] = name, true
	}
	for _, g := range groups {
		for _, x := range g {
			if x.hidden {
				i := slices.IndexFunc(g, func(o *fused) bool { return !o.hidden && twins(o, x) })
				x.shown = g[i].shown
			}
		}
	}
	return nil
}

// byID orders files as their ids do that a person sees.
func (f *fuse) byID(a, b *fused) int {
	x, y := f.h.id(a.id.Change), f.h.id(b.id.Change)
	return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(a.id.Ord, b.id.Ord))
}

// twins: two files at one place that are equal, with nothing disputed of either.
func twins(a, b *fused) bool {
	x, y := &a.entry, &b.entry
	const calm = ^(state.Several | state.DisputedName)
	return a.kinds&calm == 0 && b.kinds&calm == 0 && x.Kind == y.Kind && x.Size == y.Size && x.Hash == y.Hash &&
		(x.Exec == y.Exec || x.Kind == change.Link)
}

// taken tells whether another file is shown at a path, or something lives beneath it.
func (f *fuse) taken(p string, shown map[string]bool) (bool, error) {
	if shown[p] {
		return true, nil
	}
	e, ok, err := f.base.Get(p)
	if err != nil || ok && f.files[e.File] == nil {
		return true, err
	}
	return f.directory(p)
}

var errFound = errors.New("found")

// directory tells whether something lives beneath a path.
func (f *fuse) directory(p string) (bool, error) {
	if f.beneath == nil {
		f.beneath = map[string]bool{}
		for _, x := range f.files {
			if !x.exists {
				continue
			}
			for i := strings.LastIndexByte(x.entry.Path, '/'); i > 0; i = strings.LastIndexByte(x.entry.Path[:i], '/') {
				f.beneath[x.entry.Path[:i]] = true
			}
		}
	}
	if f.beneath[p] {
		return true, nil
	}
	err := f.base.Walk(p, func(e *state.Entry) error {
		if e.Path != p && f.files[e.File] == nil {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}
