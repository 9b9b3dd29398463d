package state

import "fmt"

// Check verifies the tree that a root finds, as Tree.Check does, and the set beside it.
func (b *Blocks) Check(r StateRoot) error {
	if r.Set != 0 {
		if _, err := b.Set(r.Set); err != nil {
			return err
		}
	}
	return b.Tree(r.Root).Check()
}

// Check reads all of a tree and verifies that it is well formed: orders, counts, levels, that each entry's file is
// known to stand there and no other file is said to; that what was done to each file can be read; that the disputes are
// of files that are as they say, and have every hidden one. It does not look into the weaves of what stands. What it
// finds wrong is ErrDamaged.
func (t Tree) Check() error {
	count, bytes, err := checkPages(t.b, &pathLayout, t.root.Paths)
	if err != nil {
		return fmt.Errorf("check the tree's paths: %w", err)
	}
	if count != t.root.Count || bytes != t.root.Bytes {
		return fmt.Errorf("check the tree's paths: %w", damaged(t.root.Paths, "holds another number of entries"))
	}
	if _, _, err := checkPages(t.b, &fileLayout, t.root.Files); err != nil {
		return fmt.Errorf("check the tree's files: %w", err)
	}
	if _, _, err := checkPages(t.b, &vacatedLayout, t.root.Vacated); err != nil {
		return fmt.Errorf("check the tree's vacated paths: %w", err)
	}
	return t.checkFiles()
}

func checkPages[T any](b *Blocks, l *layout[T], root Ref) (count, bytes uint64, err error) {
	if root == 0 {
		return 0, 0, nil
	}
	level, _, err := l.page(b, root)
	if err != nil {
		return 0, 0, err
	}
	last := ""
	return l.checkPage(b, cell{ref: root}, level, &last)
}

// checkPage verifies the page of a cell, all of whose keys must come after last, and moves last on to its last key.
func (l *layout[T]) checkPage(b *Blocks, c cell, level int, last *string) (count, bytes uint64, err error) {
	if level == 0 {
		items, err := l.leaf(b, c.ref, nil, &scratch{})
		if err != nil {
			return 0, 0, err
		}
		for i := range items {
			key := l.key(&items[i])
			if *last != "" && l.order.compare(*last, key) >= 0 || l.order.compare(key, c.sep) < 0 {
				return 0, 0, damaged(c.ref, "is out of order")
			}
			*last = key
			bytes += l.size(&items[i])
		}
		return uint64(len(items)), bytes, nil
	}
	cells, err := l.inner(b, c, level, nil, &scratch{})
	if err != nil {
		return 0, 0, err
	}
	for i := range cells {
		if *last != "" && l.order.compare(*last, cells[i].sep) >= 0 {
			return 0, 0, damaged(c.ref, "is out of order")
		}
		n, size, err := l.checkPage(b, cells[i], level-1, last)
		if err != nil {
			return 0, 0, err
		}
		if n != cells[i].count || size != cells[i].bytes {
			return 0, 0, damaged(c.ref, "has a wrong count")
		}
		count, bytes = count+n, bytes+size
	}
	return count, bytes, nil
}
