package repo

import (
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// walkLog gives the changes of a state's log, latest first, with their positions and the states that they lead to, until
// fn returns false. A change that came together with others leads to none but the last.
func (r *Repo) walkLog(s uint32, fn func(n uint32, pos uint64, leads uint32) (bool, error)) error {
	return r.eachStep(s, func(step *logStep) (bool, error) {
		last := len(step.changes) - 1
		for i, n := range slices.Backward(step.changes) {
			leads := uint32(NoState)
			if i == last && step.whole {
				leads = step.at
			}
			if more, err := fn(n, step.pos-uint64(last-i), leads); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	})
}

// Log gives changes, latest first, until fn returns an error, which it returns.
func (r *Repo) Log(opt LogOptions, fn func(*ChangeInfo) error) error {
	told := 0
	_, err := mended(r, func() (struct{}, error) {
		n := 0
		return struct{}{}, r.tellLog(opt, func(c *ChangeInfo) error {
			if n++; n <= told { // before the trees had to be made again
				return nil
			}
			told++
			return fn(c)
		})
	})
	return err
}

func (r *Repo) tellLog(opt LogOptions, fn func(*ChangeInfo) error) error {
	v, err := r.view()
	if err != nil {
		return err
	}
	s := baseOf(v)
	if opt.State != nil {
		s = opt.State.Num
	}
	var touches func(n uint32) (bool, error)
	if len(opt.Paths) > 0 {
		if touches, err = r.touching(s, opt.Paths); err != nil {
			return err
		}
	}
	author, text := strings.ToLower(opt.Author), strings.ToLower(opt.Text)
	given := 0
	names := r.newNamer(v)
	return r.walkLog(s, func(n uint32, pos uint64, leads uint32) (bool, error) {
		t := r.store.ChangeTime(n)
		if opt.Since != 0 && t < opt.Since || opt.Until != 0 && t > opt.Until {
			return true, nil
		}
		if touches != nil {
			if ok, err := touches(n); err != nil || !ok {
				return true, err
			}
		}
		c, err := r.Info(n)
		if err != nil {
			return false, err
		}
		if author != "" && !strings.Contains(strings.ToLower(c.Author.String()), author) ||
			text != "" && !strings.Contains(strings.ToLower(c.Message), text) {
			return true, nil
		}
		c.Position = pos
		if c.Names, err = names.at(s, n, pos, leads); err != nil {
			return false, err
		}
		if err := fn(c); err != nil {
			return false, err
		}
		given++
		return opt.Limit == 0 || given < opt.Limit, nil
	})
}

// namesOf lists what points to each state. It looks at no state: there may be a hundred thousand tags.
func namesOf(v *store.View) map[uint32]*Names {
	out := make(map[uint32]*Names, len(v.Bookmarks)+len(v.Tags)+1)
	at := func(s uint32) *Names {
		n := out[s]
		if n == nil {
			n = &Names{}
			out[s] = n
		}
		return n
	}
	for name, s := range v.Bookmarks {
		n := at(s)
		n.Bookmarks = append(n.Bookmarks, name)
		n.Current = n.Current || name == v.Current
	}
	for name, s := range v.Tags {
		n := at(s)
		n.Tags = append(n.Tags, name)
	}
	for _, n := range out {
		n.sort(v.Current)
	}
	at(baseOf(v)).Here = true
	delete(out, NoState)
	return out
}

func (n *Names) sort(current string) {
	slices.SortFunc(n.Bookmarks, func(a, b string) int {
		switch current {
		case a:
			return -1
		case b:
			return 1
		}
		return strings.Compare(a, b)
	})
	slices.Sort(n.Tags)
}

// touching tells of each change, asked for from the latest on, whether it touched what stands, or stood, at one of the
// paths: the files there now, followed through their moves, and files that were removed from there.
func (r *Repo) touching(s uint32, paths []string) (func(n uint32) (bool, error), error) {
	t, err := r.tree(s)
	if err != nil {
		return nil, err
	}
	may, known, err := r.mayTouch(t, paths)
	if err != nil {
		return nil, err
	}
	return r.touchingOf(t, paths, may, known)
}

// touchingOf is touching, of which it may be known which changes are to be looked at.
func (r *Repo) touchingOf(t state.Tree, paths []string, may map[uint32]mayTouch, known bool) (func(n uint32) (bool, error), error) {
	var files map[change.FileID]bool
	whole := false
	for _, p := range paths {
		if p == "" {
			whole = true
			continue
		}
		// One file is looked for by name and followed; beneath a directory names alone decide, else a log of it
		// would list every file of the tree first.
		e, ok, err := t.Get(p)
		if err != nil {
			return nil, err
		}
		if ok {
			if files == nil {
				files = map[change.FileID]bool{}
			}
			files[e.File] = true
		}
	}
	return func(n uint32) (bool, error) {
		if whole {
			return true, nil
		}
		if known {
			if m, ok := may[n]; !ok || m.sure || !m.look {
				return m.sure || ok && files[m.edited], nil
			}
		}
		b, err := r.bodyOf(n)
		if err != nil {
			return false, storeError(err)
		}
		hit := false
		for i := range b.files {
			f := &b.files[i]
			switch {
			case files[f.ID]:
				hit = true
			case f.Path != "" && within(f.Path, paths):
				hit = true
				if files == nil {
					files = map[change.FileID]bool{}
				}
				files[f.ID] = true
			}
		}
		if hit {
			return true, nil
		}
		return r.editsWithin(b, t.ByFile, paths)
	}, nil
}

// editsWithin tells whether a change edits or removes a file that stands, or stood last, beneath one of the paths.
func (r *Repo) editsWithin(b *body, where func(change.FileID) (state.Whereabouts, bool, error), paths []string) (bool, error) {
	for i := range b.files {
		if f := &b.files[i]; f.Path == "" {
			at, ok, err := where(f.ID)
			if err != nil {
				return false, err
			}
			if ok && within(at.Path, paths) {
				return true, nil
			}
		}
	}
	return false, nil
}

// within tells whether path is one of paths or beneath one.
func within(path string, paths []string) bool {
	for _, p := range paths {
		if p == "" || path == p || len(path) > len(p) && path[len(p)] == '/' && path[:len(p)] == p {
			return true
		}
	}
	return false
}
