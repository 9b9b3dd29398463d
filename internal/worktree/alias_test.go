package worktree

import (
	"io/fs"
	"testing"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// foldingDir makes names that differ in case one, and keeps the one made first.
type foldingDir struct{ vfs.Dir }

func (d foldingDir) real(name string) string {
	names, _ := d.Dir.ReadDir(nil)
	for _, n := range names {
		if safepath.Fold(n.Name) == safepath.Fold(name) {
			return n.Name
		}
	}
	return name
}

func (d foldingDir) Lstat(name string, st *vfs.Stat) error { return d.Dir.Lstat(d.real(name), st) }
func (d foldingDir) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	return d.Dir.OpenFile(d.real(name), flag, perm)
}
func (d foldingDir) OpenDir(name string) (vfs.Dir, error) {
	sub, err := d.Dir.OpenDir(d.real(name))
	return foldingDir{sub}, err
}
func (d foldingDir) Remove(name string) error { return d.Dir.Remove(d.real(name)) }
func (d foldingDir) Rmdir(name string) error  { return d.Dir.Rmdir(d.real(name)) }
func (d foldingDir) Rename(from string, to vfs.Dir, name string) error {
	return d.Dir.Rename(d.real(from), to.(foldingDir).Dir, to.(foldingDir).real(name))
}
func (d foldingDir) Exchange(a, b string) error { return d.Dir.Exchange(d.real(a), d.real(b)) }

func TestNamesThatDifferInCaseOnly(t *testing.T) {
	b := newMem(t)
	b.recorded(tree{})
	b.root = foldingDir{b.root}
	one := tree{"d/Makefile": text("M"), "d/makefile": text("m"), "d/makefile!": text("!"), "d/MAKEFILE": text("MM")}
	b.must(b.apply(tree{}, one, ApplyOptions{}))
	b.wantFiles(tree{"d/MAKEFILE": text("MM"), "d/Makefile~2": text("M"), "d/makefile~3": text("m"), "d/makefile!": text("!")})
	b.pass()
	b.want(Options{})
	b.reload()
	b.want(Options{})
	b.put("d/makefile~3", text("edited"))
	b.want(Options{}, "modified d/makefile")
	b.want(Options{Paths: []string{"d/makefile"}}, "modified d/makefile")
	b.put("d/makefile~3", text("m"))
	two := tree{"d/makefile": text("m2"), "d/Makefile!": text("!")}
	b.must(b.apply(one, two, ApplyOptions{}))
	b.wantFiles(tree{"d/makefile~3": text("m2"), "d/Makefile!": text("!")})
	b.want(Options{})
}
