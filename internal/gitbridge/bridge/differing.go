package bridge

import (
	"fmt"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/tree"
	"github.com/oxy-vcs/oxy/internal/state"
)

// differing makes of what differs between two states the edits of Git's trees.
type differing struct {
	f       object.Format
	hasher  *object.Hasher
	builder *tree.Builder
	base    tree.Tree
	modes   map[string]object.Mode // of files, that oxy's states do not tell
	dirs    map[string]tree.Side   // directories by themselves, without a mode for none
	blobs   map[string]object.ID   // that Git lacked
	give    func(tree.Side, []byte) error
	files   int
	list    []tree.Edit
}

// add takes in a path.
func (d *differing) add(old, new *state.Entry, content func() ([]byte, error)) error {
	if new == nil {
		d.list = append(d.list, tree.Edit{Path: old.Path})
		return nil
	}
	e := tree.Edit{Path: new.Path}
	b, err := content()
	if err != nil {
		return err
	}
	if e.Side, err = sideOf(d.f, d.hasher, new, b); err != nil {
		return err
	}
	return d.put(e, b)
}

// put takes in what Git has at a path by what differs there.
func (d *differing) put(e tree.Edit, content []byte) error {
	d.files++
	if mode, ok := d.modes[e.Path]; ok {
		e.Mode = mode
		delete(d.modes, e.Path)
	}
	if id, ok := d.blobs[e.Path]; ok {
		e.ID = id
		delete(d.blobs, e.Path)
	} else if d.give != nil {
		if err := d.give(e.Side, content); err != nil {
			return err
		}
	}
	d.list = append(d.list, e)
	return nil
}

// edits gives what is to be done to the first parent's tree.
func (d *differing) edits() ([]tree.Edit, error) {
	for path, mode := range d.modes {
		side, err := d.builder.Get(d.base, path) // the content is the same, and the mode another
		if err != nil {
			return nil, err
		}
		d.list = append(d.list, tree.Edit{Path: path, Side: tree.Side{Mode: mode, ID: side.ID}})
	}
	for path, side := range d.dirs {
		d.list = append(d.list, tree.Edit{Path: path, Side: side})
	}
	for path := range d.blobs {
		return nil, fmt.Errorf("%q differs in nothing, and should", path)
	}
	return d.list, nil
}

// sideOf is how Git has a file with a content.
func sideOf(f object.Format, h *object.Hasher, e *state.Entry, content []byte) (s tree.Side, err error) {
	switch {
	case e.Kind == change.Subrepo:
		if len(content) != f.Size() {
			return s, fmt.Errorf("%q is a subrepo by another id than Git's", e.Path)
		}
		return tree.Side{Mode: object.ModeSubmodule, ID: f.ID(content)}, nil
	case e.Kind == change.Link:
		s.Mode = object.ModeLink
	case e.Exec:
		s.Mode = object.ModeExec
	default:
		s.Mode = object.ModeFile
	}
	s.ID, err = h.Sum(object.BlobKind, content)
	return s, err
}

// odd reads what the commit had that states do not tell.
func (m *remembered) odd(d *differing) (err error) {
	if d.blobs, err = parseBlobs(d.f, m.blobs); err != nil {
		return err
	}
	d.modes, d.dirs = map[string]object.Mode{}, map[string]tree.Side{}
	for s := m.modes; s != ""; {
		one, rest, ok := strings.Cut(s, "\x00")
		word, path, ok2 := strings.Cut(one, " ")
		if !ok || !ok2 || word == "" {
			return object.ErrField
		}
		s = rest
		var mode object.Mode
		for _, c := range word {
			if c < '0' || c > '7' || mode > 0o777777 {
				return object.ErrField
			}
			mode = mode*8 + object.Mode(c-'0')
		}
		if word[0] == '0' && mode != 0 {
			mode |= object.ModePadded
		}
		if mode == 0 || mode.Bare() == object.ModeTree {
			side := tree.Side{Mode: mode}
			if mode == object.ModeTree || strings.HasPrefix(word, "00") {
				side.ID = d.builder.Empty().ID()
			}
			d.dirs[path] = side
		} else {
			d.modes[path] = mode
		}
	}
	return nil
}
