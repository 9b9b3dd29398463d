package vfs

import (
	"bytes"
	"math/rand/v2"
)

// crashBlock is the unit in which contents reach the disk: the page of the page cache.
const crashBlock = 4096

// Crash returns a new file system as m might be found after a power cut now; m itself goes on unharmed. The same state
// of rng gives the same outcome. What may happen:
//
// Contents. A file has for certain what it held at its last Sync. If it was written or truncated since, then with equal
// chances all of that is lost, all is kept, or it is torn: each block of 4 KiB independently is as it was after any of
// the unsynced writes or before the first, and the size independently so; what a kept size covers and no kept block
// does is zeros.
//
// Names. A create, mkdir, symlink, rename or remove is durable after SyncDir of the directory, for a rename of either
// directory. One that is not is kept or lost by an even chance, independently of those of other names and of all
// contents: nothing says that the contents come before the name, or the directory's earlier names before its later
// ones. A rename is kept as a whole or lost as a whole. Order holds only where the tree would fall apart without it: a
// change is kept only together with the earlier ones of the same name or the same file; a name put into a new directory
// only if the new directory's own name is kept, so SyncDir of a new directory is worth nothing before SyncDir of
// its parent; a removed directory only with what emptied it; directories move to other parents in the order they did.
//
// Modes. That of creation comes with the file; later ones are kept by chance even after a Sync, as fdatasync promises
// nothing of them. A link's target comes with the link. Locks and open files are gone. Times are kept as they are.
func (m *Mem) Crash(rng *rand.Rand) *Mem { return m.crash(rng) }

// CrashWorst is the Crash in which everything is lost that may be.
func (m *Mem) CrashWorst() *Mem { return m.crash(nil) }

func (m *Mem) crash(rng *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := crash{rng: rng, names: map[*inode]map[string]*inode{}, left: map[*inode]*inode{}}
	kept, _ := settle(m.pending, func(op *nameOp) bool { return op.wanted || c.chance() })
	for _, op := range kept {
		op.apply(c.namesOf)
	}
	found := &Mem{clock: m.clock, tick: m.tick, lastIno: m.lastIno}
	found.root = c.outcome(m.root, nil)
	found.root.parent = found.root
	return found
}

// crash works out one outcome.
type crash struct {
	rng   *rand.Rand // nil for the worst
	names map[*inode]map[string]*inode
	left  map[*inode]*inode // of files, which may have several names
}

func (c *crash) chance() bool { return c.rng != nil && c.rng.IntN(2) == 1 }

// namesOf gives the names of a directory after the crash: those that are durable and the changes that were kept.
func (c *crash) namesOf(dir *inode) map[string]*inode {
	names, ok := c.names[dir]
	if !ok {
		names = make(map[string]*inode, len(dir.durable))
		for name, node := range dir.durable {
			names[name] = node
		}
		c.names[dir] = names
	}
	return names
}

// outcome copies what is left of a node and all beneath it.
func (c *crash) outcome(n, parent *inode) *inode {
	if again := c.left[n]; again != nil {
		return again
	}
	left := &inode{kind: n.kind, mode: n.madeMode, mtime: n.mtime, ctime: n.ctime, ino: n.ino}
	if n.mode != n.madeMode && c.chance() {
		left.mode = n.mode
	}
	left.madeMode = left.mode
	switch n.kind {
	case KindFile:
		c.left[n] = left
		left.data = c.contents(n)
		left.synced = bytes.Clone(left.data)
	case KindLink:
		left.data = n.data
	case KindDir:
		left.parent = parent
		left.names, left.durable = map[string]*inode{}, map[string]*inode{}
		names := c.namesOf(n)
		for _, name := range sortedNames(names) { // in order, or the same rng would not give the same outcome
			node := c.outcome(names[name], left)
			left.names[name], left.durable[name] = node, node
		}
	}
	return left
}

func (c *crash) contents(n *inode) []byte {
	if c.rng == nil || len(n.unsynced) == 0 {
		return bytes.Clone(n.synced)
	}
	switch c.rng.IntN(3) {
	case 0:
		return bytes.Clone(n.synced)
	case 1:
		return bytes.Clone(n.data)
	}
	return c.torn(n)
}

// torn replays the unsynced writes and takes each block, and the size, from the moment drawn for it.
func (c *crash) torn(n *inode) []byte {
	moments := len(n.unsynced) + 1
	sizeAt := c.rng.IntN(moments)
	size := len(n.synced)
	if sizeAt > 0 {
		size = int(n.unsynced[sizeAt-1].size)
	}
	blocksAt := make([][]int, moments)
	for off := 0; off < size; off += crashBlock {
		at := c.rng.IntN(moments)
		blocksAt[at] = append(blocksAt[at], off)
	}
	result := make([]byte, size)
	contents := bytes.Clone(n.synced)
	for at, blocks := range blocksAt {
		if at > 0 {
			contents = n.unsynced[at-1].apply(contents)
		}
		for _, off := range blocks {
			if off < len(contents) {
				copy(result[off:min(size, off+crashBlock)], contents[off:])
			}
		}
	}
	return result
}
