package worktree

import (
	"fmt"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// foldsCase tells whether the file system takes names that differ in case for one: then the repository's own directory
// is found in capitals.
func foldsCase(root vfs.Dir) bool {
	var lower, upper vfs.Stat
	return root.Lstat(".OXY", &upper) == nil && root.Lstat(".oxy", &lower) == nil && upper.Ino == lower.Ino
}

// findAliases gives the files that the plan writes other names on disk where theirs are taken on a file system that
// folds case. Whoever has a name keeps it.
func (c *checkout) findAliases() error {
	if !foldsCase(c.root) {
		return nil
	}
	for lo := 0; lo < len(c.jobs); {
		dir, _ := split(c.jobs[lo].Path)
		hi := lo + 1
		for hi < len(c.jobs) {
			if d, _ := split(c.jobs[hi].Path); d != dir {
				break
			}
			hi++
		}
		if err := c.aliasDir(dir, c.jobs[lo:hi]); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

func (c *checkout) aliasDir(dir string, jobs []job) error {
	files, err := c.m.appendEntries(nil, c.m.ref(dir))
	if err != nil {
		return err
	}
	going := map[string]bool{}
	for i := range jobs {
		if j := &jobs[i]; j.Op == Remove {
			going[j.Path] = true
		}
	}
	taken, freed := map[string]bool{}, map[string]bool{}
	for i := range files {
		key := safepath.Fold(diskName(&files[i]))
		if going[join(dir, files[i].name)] {
			freed[key] = true
		} else {
			taken[key] = true
		}
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Op != Write || j.tracked {
			continue
		}
		for taken[safepath.Fold(j.name())] {
			if j.alias = max(2, j.alias+1); j.alias > maxAlias {
				return fmt.Errorf("check out %q: too many names that differ only in case", j.Path)
			}
		}
		key := safepath.Fold(j.name())
		taken[key] = true
		j.inherits = freed[key]
	}
	return nil
}
