package state

import (
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Build stores a whole tree from entries in the order of ComparePaths, each good only until the next, its Path for
// ever. It costs far less than editing the empty tree. What the blocks hold afterwards counts as in use.
func Build(b *Blocks, entries iter.Seq[*Entry]) (Tree, error) {
	w := newPageWriter(b, pathLayout.leafFormat(), "")
	var files []fileItem
	var root Root
	for e := range entries {
		if err := checkEntry(e); err != nil {
			return Tree{}, fmt.Errorf("build a tree: %w", err)
		}
		if n := len(files); n > 0 && ComparePaths(files[n-1].path, e.Path) >= 0 {
			return Tree{}, fmt.Errorf("build a tree: %q comes after %q", e.Path, files[n-1].path)
		}
		w.add(e)
		files = append(files, fileItem{file: e.File, path: e.Path})
		root.Count++
		root.Bytes += e.Size
	}
	root.Paths = pathLayout.raise(b, w.close(), 1)
	if err := sortFiles(files); err != nil {
		return Tree{}, fmt.Errorf("build a tree: %w", err)
	}
	fw := newPageWriter(b, fileLayout.leafFormat(), "")
	for i := range files {
		fw.add(&files[i])
	}
	root.Files = fileLayout.raise(b, fw.close(), 1)
	b.mu.Lock()
	b.live = max(b.live, b.end())
	b.mu.Unlock()
	return Tree{b, root}, nil
}

// raise builds the inner pages from a level up over a row of pages until there is one, and returns that; 0 over none.
func (l *layout[T]) raise(b *Blocks, cells []cell, level int) Ref {
	if len(cells) == 0 {
		return 0
	}
	for ; len(cells) > 1; level++ {
		cells = l.innerFormat(level).paginate(b, cells, cells[0].sep, nil)
	}
	return cells[0].ref
}

// sortFiles orders files by identity and gives them their keys, as slices of one string.
func sortFiles(files []fileItem) error {
	byFile := func(i, j int) bool { return compareFiles(files[i].file, files[j].file) < 0 }
	if !sort.SliceIsSorted(files, byFile) { // those of one change mostly are
		slices.SortFunc(files, func(x, y fileItem) int { return compareFiles(x.file, y.file) })
	}
	buf := make([]byte, 8*len(files))
	for i := range files {
		putFileKey((*[8]byte)(buf[8*i:]), files[i].file)
	}
	keys := string(buf)
	for i := range files {
		files[i].key = keys[8*i : 8*i+8]
		if i > 0 && files[i].file == files[i-1].file {
			return fmt.Errorf("file %v stands at both %q and %q", files[i].file, files[i-1].path, files[i].path)
		}
	}
	return nil
}

func checkEntry(e *Entry) error {
	if err := checkPath(e.Path); err != nil {
		return err
	}
	if e.Kind > change.Subrepo {
		return fmt.Errorf("entry %q: %v", e.Path, e.Kind)
	}
	return nil
}
