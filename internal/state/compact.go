package state

import (
	"fmt"
	"slices"
)

const (
	// compactSlack lets small repositories alone: 128 KiB is a few dozen commits.
	compactSlack = 128 << 10
	// compactFlush bounds what a compaction holds in memory.
	compactFlush = 8 << 20
)

// ShouldCompact reports whether more than a third of the file is likely to be out of use. On a tree as large as Linux's
// that is once in 400 commits of one file.
func (b *Blocks) ShouldCompact() bool { return b.outgrew(1) }

// MustCompact is ShouldCompact for who goes on writing for long and compacts in the end: more than three fifths.
func (b *Blocks) MustCompact() bool { return b.outgrew(3) }

// outgrew tells whether the file has more beyond what was in use than so many halves of that.
func (b *Blocks) outgrew(halves uint64) bool { return b.Size() > b.live+halves*(b.live/2)+compactSlack }

// Compact writes a new generation with the trees of the states in keep and nothing else: what they share is written
// once, chains from their beginning. States without a stored tree are passed over. The caller publishes the
// hint that Flush of the result gives, and then may remove b's file. On an error nothing is left behind.
//
// pack, if not nil, stores the weaves of each file anew; else they are copied link by link.
func (b *Blocks) Compact(keep []uint32, generation uint64, pack PackWeaves) (*Blocks, error) {
	if generation == b.generation {
		return nil, fmt.Errorf("compact tree file: generation %d is the present one", generation)
	}
	to, err := OpenBlocks(b.fsys, b.dir, Hint{Generation: generation})
	if err != nil {
		return nil, err
	}
	c := compactor{
		from: b, to: to, moved: make(map[Ref]Ref),
		pathLeaves: pathLayout.leafFormat(), fileLeaves: fileLayout.leafFormat(),
	}
	if err := c.run(keep, pack); err != nil {
		_ = to.Close()
		if b.fsys != nil {
			_ = RemoveGeneration(b.fsys, b.dir, generation)
		}
		return nil, fmt.Errorf("compact tree file: %w", err)
	}
	to.live, to.moved = to.Size(), c.moved
	return to, nil
}

// TakeMoved tells once where a compaction that made these blocks put those of the generation before.
func (b *Blocks) TakeMoved() map[Ref]Ref {
	moved := b.moved
	b.moved = nil
	return moved
}

type compactor struct {
	from, to *Blocks
	moved    map[Ref]Ref // of all blocks but roots
	scratch  scratch
	entries  []Entry
	files    []fileItem

	pathLeaves *pageFormat[Entry]
	fileLeaves *pageFormat[fileItem]
}

func (c *compactor) run(keep []uint32, pack PackWeaves) error {
	var roots []StateRoot
	for _, state := range keep {
		r, ok, err := c.from.Root(state)
		if err != nil {
			return err
		}
		if ok {
			roots = append(roots, r)
		}
	}
	// The oldest first, so that the latest is found at once again.
	slices.SortFunc(roots, func(x, y StateRoot) int {
		return c.from.chain.ages[x.State] - c.from.chain.ages[y.State]
	})
	roots = slices.CompactFunc(roots, func(x, y StateRoot) bool { return x.State == y.State })
	if pack != nil {
		if err := c.packWeaves(roots, pack); err != nil {
			return err
		}
	}
	for _, r := range roots {
		var err error
		if r.Root.Paths, err = copyPages(c, &pathLayout, r.Root.Paths, maxLevel+1, c.pathLeaf); err != nil {
			return err
		}
		if r.Root.Files, err = copyPages(c, &fileLayout, r.Root.Files, maxLevel+1, c.fileLeaf); err != nil {
			return err
		}
		if r.Root.Vacated, err = copyPages(c, &vacatedLayout, r.Root.Vacated, maxLevel+1, c.vacatedLeaf); err != nil {
			return err
		}
		if r.Root.Disputes, err = c.chain(kindDisputes, r.Root.Disputes, c.disputesAgain); err != nil {
			return err
		}
		if r.Set, err = c.set(r.Set); err != nil {
			return err
		}
		c.to.PutRoot(r)
	}
	return nil
}

// copyPages copies a page that must be lower than above, and all beneath it.
func copyPages[T any](c *compactor, l *layout[T], ref Ref, above int, leaf func(Ref, []byte) (Ref, error)) (Ref, error) {
	if ref == 0 {
		return 0, nil
	}
	if at, ok := c.moved[ref]; ok {
		return at, nil
	}
	level, payload, err := l.page(c.from, ref)
	if err != nil {
		return 0, err
	}
	if level >= above {
		return 0, damaged(ref, "is a page of a wrong level")
	}
	var at Ref
	if level == 0 {
		if at, err = leaf(ref, payload); err != nil {
			return 0, err
		}
	} else {
		cells, err := l.inner(c.from, cell{ref: ref}, level, nil, &c.scratch)
		if err != nil {
			return 0, err
		}
		for i := range cells {
			if cells[i].ref, err = copyPages(c, l, cells[i].ref, level, leaf); err != nil {
				return 0, err
			}
		}
		at = c.to.put(l.innerKind, l.innerFormat(level).encode(cells))
	}
	c.moved[ref] = at
	return at, c.flush()
}

func (c *compactor) flush() error {
	if c.to.tail.size-c.to.flushed < compactFlush {
		return nil
	}
	_, err := c.to.Flush()
	c.from.Release() // or all of both is in memory in the end: 300 MB of git's own history
	c.to.Release()
	return err
}
