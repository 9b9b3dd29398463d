package state

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
)

// fileCheck holds what is known of a tree's files by path, by identity and as disputes against each other.
type fileCheck struct {
	t      Tree
	stands map[change.FileID]string
	hidden map[change.FileID]string // where they would stand
	chains map[Ref]bool             // those that were read
}

func (t Tree) checkFiles() error {
	c := fileCheck{
		t: t, chains: map[Ref]bool{}, hidden: map[change.FileID]string{},
		stands: make(map[change.FileID]string, t.root.Count),
	}
	err := t.Walk("", func(e *Entry) error {
		c.stands[e.File] = e.Path
		return c.acts(e.Acts)
	})
	if err != nil {
		return fmt.Errorf("check the tree's entries: %w", err)
	}
	if uint64(len(c.stands)) != t.root.Count {
		return fmt.Errorf("check the tree's entries: %w", damaged(t.root.Paths, "has a file at two paths"))
	}
	if err := c.files(); err != nil {
		return fmt.Errorf("check the tree's files: %w", err)
	}
	if err := c.disputes(); err != nil {
		return fmt.Errorf("check the tree's disputes: %w", err)
	}
	return nil
}

func (c *fileCheck) files() error {
	files, err := newCursor(c.t.b, &fileLayout, c.t.root.Files)
	if err != nil {
		return err
	}
	standing := 0
	for {
		f, err := files.item()
		if err != nil {
			return err
		}
		if f == nil {
			break
		}
		path, stands := c.stands[f.file]
		switch {
		case stands != (f.status == fileShown), stands && path != f.path:
			return fmt.Errorf("file %v at %q: %w", f.file, f.path, ErrDamaged)
		case stands:
			standing++
		case f.status == fileHidden:
			c.hidden[f.file] = f.path
		}
		if err := c.history(f.weave, f.acts); err != nil {
			return fmt.Errorf("file %v at %q: %w", f.file, f.path, err)
		}
		files.next()
	}
	if standing != len(c.stands) {
		return fmt.Errorf("%d files that stand are not known: %w", len(c.stands)-standing, ErrDamaged)
	}
	return nil
}

func (c *fileCheck) disputes() error {
	list, err := c.t.Disputes()
	if err != nil {
		return err
	}
	hidden := 0
	for i := range list {
		d := &list[i]
		ok, err := c.dispute(d)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("that of file %v at %q: %w", d.File, d.Place, ErrDamaged)
		}
		if d.Hidden != nil {
			hidden++
			if err := c.history(d.Hidden.Weave, d.Hidden.Acts); err != nil {
				return fmt.Errorf("that of file %v at %q: %w", d.File, d.Place, err)
			}
		}
	}
	if hidden != len(c.hidden) {
		return fmt.Errorf("%d of %d hidden files: %w", hidden, len(c.hidden), ErrDamaged)
	}
	return nil
}

// dispute reports whether the files that a dispute names are what it says.
func (c *fileCheck) dispute(d *Dispute) (bool, error) {
	for _, id := range d.Meets {
		_, stands := c.stands[id]
		if _, hidden := c.hidden[id]; !stands && !hidden {
			return false, nil
		}
	}
	place, hidden := c.hidden[d.File]
	shown, stands := c.stands[d.File]
	switch {
	case d.Hidden != nil:
		_, instead, err := c.t.Get(d.Shown)
		return hidden && place == d.Place && instead, err
	case d.Shown != "":
		return stands && shown == d.Shown, nil
	}
	_, gone, err := c.t.Tombstone(d.File)
	return gone, err
}

// history reads the chains of a file that does not stand: nobody else would.
func (c *fileCheck) history(weave, acts Ref) error {
	for weave != 0 && !c.chains[weave] {
		prev, _, err := c.t.b.GetWeave(weave)
		if err != nil {
			return err
		}
		c.chains[weave] = true
		weave = prev
	}
	return c.acts(acts)
}

func (c *fileCheck) acts(ref Ref) error {
	for ref != 0 && !c.chains[ref] {
		prev, payload, err := c.t.b.getLink(kindActs, ref)
		if err != nil {
			return err
		}
		if _, ok := decodeActs(payload, nil); !ok {
			return damaged(ref, "has no acts")
		}
		c.chains[ref] = true
		ref = prev
	}
	return nil
}
