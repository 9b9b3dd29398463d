package state

import (
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Edit says what stands at a path from now on.
type Edit struct {
	Path   string
	Delete bool  // nothing
	Entry  Entry // or this; its Path is not looked at
	// The file that stood there and now stands nowhere leaves a tombstone. That names By, the change that removed it and
	// the file's ordinal there, and keeps TombWeave and TombActs in case it comes back.
	By                  change.FileID
	TombWeave, TombActs Ref
	TombPath            string // where it would stand, if that is not Path
	// With Forget it leaves nothing, as when the change that added it is taken away.
	Forget bool
	// With Hide it exists on, hidden, and this is the path where it would stand. WithDisputes must then say what it is.
	Hide string
}

// FileEdit changes what is known of a file that stands nowhere before and after: it sets its tombstone, hides it, or
// forgets it.
type FileEdit struct {
	Tombstone
	Hide   bool // it exists, hidden: of the tombstone only File and Path count, where it would stand
	Forget bool
}

// Edit returns the tree after edits, which ascend by path without doubles. A file that stands at another path
// afterwards has moved. It is an error to delete where nothing stands, or to leave one file at two paths.
func (t Tree) Edit(edits []Edit) (Tree, error) {
	ops := make([]op[Entry], len(edits))
	items := make([]Entry, len(edits))
	for i := range edits {
		e := &edits[i]
		if i > 0 && ComparePaths(edits[i-1].Path, e.Path) >= 0 {
			return Tree{}, fmt.Errorf("edit the tree: %q comes after %q", e.Path, edits[i-1].Path)
		}
		ops[i].key = e.Path
		if len(e.Hide) > MaxPath {
			return Tree{}, fmt.Errorf("edit the tree: hide what stood at %q: %w", e.Path, checkPath(e.Hide))
		}
		if !e.Delete {
			items[i] = e.Entry
			items[i].Path = e.Path
			if err := checkEntry(&items[i]); err != nil {
				return Tree{}, fmt.Errorf("edit the tree: %w", err)
			}
			ops[i].item = &items[i]
		}
	}
	var files []fileOp
	ed := editor[Entry]{b: t.b, l: &pathLayout}
	ed.replaced = func(i int, old *Entry) error {
		e := &edits[i]
		if old != nil {
			t.root.Count--
			t.root.Bytes -= old.Size
			if e.Delete || e.Entry.File != old.File {
				files = append(files, e.left(old))
			}
		} else if e.Delete {
			return fmt.Errorf("delete %q: nothing stands there", e.Path)
		}
		if !e.Delete {
			t.root.Count++
			t.root.Bytes += e.Entry.Size
			if old == nil || old.File != e.Entry.File {
				files = append(files, fileOp{item: fileItem{file: e.Entry.File, path: e.Path}})
			}
		}
		return nil
	}
	var err error
	if t.root.Paths, err = ed.edit(t.root.Paths, ops); err != nil {
		return Tree{}, fmt.Errorf("edit the tree: %w", err)
	}
	if files, err = mergeMoves(files); err != nil {
		return Tree{}, fmt.Errorf("edit the tree: %w", err)
	}
	return t.editFiles(files)
}

// left says what becomes of the file that stood at an edit's path, unless it stands elsewhere.
func (e *Edit) left(old *Entry) fileOp {
	item := fileItem{file: old.File, path: old.Path, status: fileGone, by: e.By, weave: e.TombWeave, acts: e.TombActs}
	if e.TombPath != "" {
		item.path = e.TombPath
	}
	if e.Hide != "" {
		item = fileItem{file: old.File, path: e.Hide, status: fileHidden}
	}
	return fileOp{item: item, forget: e.Forget, left: true}
}

// EditFiles returns the tree after edits of files that stand nowhere, one for each file in any order.
func (t Tree) EditFiles(edits []FileEdit) (Tree, error) {
	files := make([]fileOp, 0, len(edits))
	for i := range edits {
		e := &edits[i]
		if err := checkPath(e.Path); err != nil && !e.Forget {
			return Tree{}, fmt.Errorf("edit what is known of file %v: %w", e.File, err)
		}
		item := fileItem{file: e.File, path: e.Path, status: fileGone, by: e.By, weave: e.Weave, acts: e.Acts}
		if e.Hide {
			item = fileItem{file: e.File, path: e.Path, status: fileHidden}
		}
		files = append(files, fileOp{item: item, forget: e.Forget})
	}
	slices.SortFunc(files, func(x, y fileOp) int { return compareFiles(x.item.file, y.item.file) })
	for i := range len(files) - 1 {
		if files[i].item.file == files[i+1].item.file {
			return Tree{}, fmt.Errorf("two edits of file %v", files[i].item.file)
		}
	}
	return t.editFiles(files)
}

// fileOp is an edit of the identity tree.
type fileOp struct {
	item   fileItem
	forget bool
	left   bool // its old path has another file or none now
}

// mergeMoves orders ops by file and makes one of a file's leaving and arriving.
func mergeMoves(ops []fileOp) ([]fileOp, error) {
	slices.SortStableFunc(ops, func(x, y fileOp) int { return compareFiles(x.item.file, y.item.file) })
	out := ops[:0]
	for _, o := range ops {
		if n := len(out); n > 0 && out[n-1].item.file == o.item.file {
			last := &out[n-1]
			if last.item.status == fileShown && o.item.status == fileShown {
				return nil, fmt.Errorf("file %v stands at both %q and %q", o.item.file, last.item.path, o.item.path)
			}
			if o.item.status == fileShown {
				last.item = o.item
			}
			last.left, last.forget = true, false
			continue
		}
		out = append(out, o)
	}
	return out, nil
}

func (t Tree) editFiles(files []fileOp) (Tree, error) {
	ops := make([]op[fileItem], len(files))
	for i := range files {
		f := &files[i]
		f.item.key = fileKey(f.item.file)
		ops[i].key = f.item.key
		if !f.forget {
			ops[i].item = &f.item
		}
	}
	ed := editor[fileItem]{b: t.b, l: &fileLayout}
	ed.replaced = func(i int, old *fileItem) error {
		f := &files[i]
		switch {
		case old == nil && f.forget:
			return fmt.Errorf("forget file %v: it is not known", f.item.file)
		case old != nil && old.status == fileShown && !f.left:
			return fmt.Errorf("file %v stands at %q", f.item.file, old.path)
		}
		return nil
	}
	var err error
	if t.root.Files, err = ed.edit(t.root.Files, ops); err != nil {
		return Tree{}, fmt.Errorf("edit the files of a tree: %w", err)
	}
	return t, nil
}
