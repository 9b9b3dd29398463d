package worktree

import (
	"sync"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/ignore"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/zeebo/blake3"
	"github.com/zeebo/xxh3"
)

// place is a directory on a walk's way and the ignore rules for what is in it. The rules are read only when a name is to
// be judged: a clean status needs their fingerprint alone.
type place struct {
	up    *place
	name  string
	path  string   // "" for the root
	files DirFlags // which ignore files are here
	print uint64   // fingerprint of all rules that hold here

	once    sync.Once
	stack   *ignore.Stack
	ignored bool // the directory itself: then so is all that is untracked in it
}

// The ignore files of a directory, in the order in which a later one overrides.
var ignoreFiles = [...]struct {
	name string
	flag DirFlags
}{
	{ignore.GitFile, HasGitignore},
	{ignore.OxyFile, HasOxyignore},
}

// ignoreFlag is the flag of an ignore file's name, 0 for any other name.
func ignoreFlag(name string) DirFlags {
	if len(name) != len(ignore.GitFile) || name[0] != '.' {
		return 0
	}
	for _, f := range ignoreFiles {
		if name == f.name {
			return f.flag
		}
	}
	return 0
}

// rules are the ignore rules of a walk.
type rules struct {
	root     vfs.Dir
	excludes [][]byte
	fail     func(path string, err error)
}

// print is the fingerprint of the rules from outside the tree.
func (r *rules) print() uint64 {
	sum := uint64(len(r.excludes))
	for _, text := range r.excludes {
		sum = xxh3.HashSeed(text, sum)
	}
	return sum
}

// mixPrint adds an ignore file to the fingerprint of the rules above it.
func mixPrint(above uint64, flag DirFlags, content change.Hash) uint64 {
	return xxh3.HashSeed(content[:], above^uint64(flag)*0x9e3779b97f4a7c15)
}

// load makes the stack of rules. It reads ignore files by path, since the directories around may be closed by now.
func (p *place) load(r *rules) {
	p.once.Do(func() {
		if p.up == nil {
			list := make([]*ignore.Rules, 0, len(r.excludes)+len(ignoreFiles))
			for _, text := range r.excludes {
				list = append(list, ignore.Parse(text))
			}
			p.stack = ignore.NewStack(p.own(r, list)...)
			return
		}
		p.up.load(r)
		if p.ignored = p.up.ignored || p.up.stack.Match(p.name, true) == ignore.Ignored; p.ignored {
			return
		}
		p.stack = p.up.stack.Push(p.name, p.own(r, nil)...)
	})
}

// own appends the directory's own rules.
func (p *place) own(r *rules, list []*ignore.Rules) []*ignore.Rules {
	if p.files == 0 {
		return list
	}
	d, err := openChain(r.root, p.path)
	if err != nil {
		r.fail(p.path, err)
		return list
	}
	defer closeChain(d, r.root)
	for _, f := range ignoreFiles {
		if p.files&f.flag == 0 {
			continue
		}
		text, err := readIgnoreFile(d, f.name)
		if err != nil {
			r.fail(join(p.path, f.name), err)
			continue
		}
		list = append(list, ignore.Parse(text))
	}
	return list
}

// matches tells whether an untracked name in the directory is ignored.
func (p *place) matches(r *rules, name string, isDir bool) bool {
	p.load(r)
	return p.ignored || p.stack.Match(name, isDir) == ignore.Ignored
}

// readIgnoreFile reads rules; a link or directory of that name holds none, as in Git.
func readIgnoreFile(d vfs.Dir, name string) ([]byte, error) {
	var st vfs.Stat
	if err := d.Lstat(name, &st); err != nil || st.Kind != vfs.KindFile {
		if isGone(err) {
			err = nil
		}
		return nil, err
	}
	text, _, err := ReadFile(d, name, nil, ignore.MaxFileSize)
	if p, ok := err.(*PathError); ok {
		err = p.Err
	}
	return text, err
}

// printOf computes a directory's fingerprint. clean has the contents of ignore files that are known without reading.
func printOf(d vfs.Dir, above uint64, files DirFlags, clean *[len(ignoreFiles)]change.Hash) (uint64, error) {
	for i, f := range ignoreFiles {
		if files&f.flag == 0 {
			continue
		}
		sum := clean[i]
		if sum == (change.Hash{}) {
			text, err := readIgnoreFile(d, f.name)
			if err != nil {
				return above, &PathError{f.name, err}
			}
			sum = blake3.Sum256(text)
		}
		above = mixPrint(above, f.flag, sum)
	}
	return above, nil
}

// findIgnoreFiles looks for ignore files where no list of names is at hand.
func findIgnoreFiles(d vfs.Dir) (flags DirFlags) {
	var st vfs.Stat
	for _, f := range ignoreFiles {
		if d.Lstat(f.name, &st) == nil {
			flags |= f.flag
		}
	}
	return flags
}
