// Package odb reads the objects of a Git repository, loose and packed, and writes new ones. It trusts no byte: sizes are
// bounded before memory is taken, and every object's hash is computed when it is read. It knows nothing of oxy.
package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What reading finds. Errors wrap one of these, or one of package object, with the object's id.
var (
	// ErrNotGit is a path where no Git repository lies.
	ErrNotGit = errors.New("not a Git repository")
	// ErrUnsupported is a repository that says it needs what this package does not know.
	ErrUnsupported = errors.New("repository needs an extension of Git that is not known")
	// ErrMissing is an object that the repository does not have: a shallow or partial clone, or damage.
	ErrMissing = errors.New("object is missing")
	// ErrCorrupt is an object, pack or index that is cut short or is not what its hash says.
	ErrCorrupt = errors.New("damaged")
	// ErrTooLarge is an object above Options.MaxObject, or another thing above its bound.
	ErrTooLarge = errors.New("larger than is read")
	// ErrAlternates is a list of alternates that leads in a circle or too deep.
	ErrAlternates = errors.New("alternates lead in a circle or too deep")
)

// Options say how to read. The zero value is a good choice.
type Options struct {
	// CacheBytes is what each Reader keeps of delta bases; 0 is 32 MiB.
	CacheBytes int
	// MaxObject bounds an object in bytes; 0 is 1 GiB. An object is held in memory whole.
	MaxObject int64
	// Detect makes a SHA-1 that notices collisions; with nil, collisions are not noticed.
	Detect func() object.Detector
}

const (
	defaultCache     = 32 << 20
	defaultMaxObject = 1 << 30
	// maxAlternates bounds alternates in all, and maxAlternateDepth those of alternates; Git stops at a depth of 5.
	maxAlternates     = 256
	maxAlternateDepth = 5
	// maxSmallFile bounds config, .git files, commondir and alternates, which people or Git write in a few lines.
	maxSmallFile = 1 << 20
)

// DB is a repository's objects. Any number of readers may use it, each in one goroutine.
type DB struct {
	// GitDir is the repository's own directory, CommonDir the one that it shares with its worktrees, or the same.
	GitDir    string
	CommonDir string
	Config    Config
	Format    object.Format

	fs    vfs.FS
	opt   Options
	dirs  []string // objects directories, the repository's own first
	packs []*pack
}

// Open opens the repository at path: a bare one, a .git directory, or a working copy with either a .git directory or a
// .git file that leads to it. What Git adds later is not seen.
func Open(fsys vfs.FS, path string, opt Options) (*DB, error) {
	if opt.CacheBytes == 0 {
		opt.CacheBytes = defaultCache
	}
	if opt.MaxObject == 0 {
		opt.MaxObject = defaultMaxObject
	}
	db := &DB{fs: fsys, opt: opt}
	if err := db.find(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := db.openObjects(); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, nil
}

// Close gives the packs back. No reader may be in use, and nothing that one returned as a view.
func (db *DB) Close() error {
	var errs []error
	for _, p := range db.packs {
		errs = append(errs, p.close())
	}
	db.packs = nil
	return errors.Join(errs...)
}

func (db *DB) find(path string) error {
	path = filepath.Clean(path)
	for _, dir := range []string{path, filepath.Join(path, ".git")} {
		var st vfs.Stat
		if err := db.fs.Lstat(dir, &st); err != nil {
			continue
		}
		if st.Kind == vfs.KindFile {
			to, err := db.gitFile(dir)
			if err != nil {
				return err
			}
			dir = to
		}
		if ok, err := db.tryDir(dir); ok || err != nil {
			return err
		}
	}
	return ErrNotGit
}

// gitFile reads a .git file: "gitdir: PATH".
func (db *DB) gitFile(name string) (string, error) {
	b, err := db.fs.ReadFile(name, maxSmallFile)
	if err != nil {
		return "", err
	}
	to, found := strings.CutPrefix(string(b), "gitdir: ")
	to = strings.TrimRight(to, "\r\n")
	if !found || to == "" || strings.IndexByte(to, 0) >= 0 {
		return "", fmt.Errorf("%w: %s does not say where it is", ErrNotGit, name)
	}
	return resolve(filepath.Dir(name), to), nil
}

func resolve(dir, to string) string {
	to = filepath.FromSlash(to)
	if filepath.IsAbs(to) {
		return filepath.Clean(to)
	}
	return filepath.Join(dir, to)
}

// tryDir takes dir for the repository's directory if it looks like one.
func (db *DB) tryDir(dir string) (bool, error) {
	var st vfs.Stat
	if db.fs.Lstat(filepath.Join(dir, "HEAD"), &st) != nil {
		return false, nil
	}
	common := dir
	switch b, err := db.fs.ReadFile(filepath.Join(dir, "commondir"), maxSmallFile); {
	case err == nil:
		common = resolve(dir, strings.TrimRight(string(b), "\r\n"))
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if !isDir(db.fs, filepath.Join(common, "objects")) {
		return false, nil
	}
	db.GitDir, db.CommonDir = dir, common
	var err error
	db.Config, err = readConfig(db.fs, filepath.Join(common, "config"))
	db.Format = db.Config.Format
	db.Config.Shallow = db.fs.Lstat(filepath.Join(common, "shallow"), &st) == nil
	db.Config.Grafts = db.fs.Lstat(filepath.Join(common, "info", "grafts"), &st) == nil
	return err == nil, err
}

// isDir follows symbolic links, unlike Lstat: repositories have been moved with links left behind.
func isDir(fsys vfs.FS, name string) bool {
	d, err := fsys.OpenDir(name)
	return err == nil && d.Close() == nil
}

func (db *DB) openObjects() error {
	if err := db.addObjects(filepath.Join(db.CommonDir, "objects"), 0, nil); err != nil {
		return err
	}
	for _, dir := range db.dirs {
		if err := db.openPacks(filepath.Join(dir, "pack")); err != nil {
			return err
		}
	}
	return nil
}

// addObjects adds an objects directory and its alternates. above are those that led here.
func (db *DB) addObjects(dir string, depth int, above []string) error {
	for _, a := range above {
		if a == dir {
			return fmt.Errorf("%w: %s", ErrAlternates, dir)
		}
	}
	for _, d := range db.dirs {
		if d == dir {
			return nil
		}
	}
	if depth > maxAlternateDepth || len(db.dirs) == maxAlternates {
		return fmt.Errorf("%w: %s", ErrAlternates, dir)
	}
	db.dirs = append(db.dirs, dir)
	b, err := db.fs.ReadFile(filepath.Join(dir, "info", "alternates"), maxSmallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	above = append(above, dir)
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if err := db.addObjects(resolve(dir, line), depth+1, above); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) openPacks(dir string) error {
	names, err := db.fs.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		stem, found := strings.CutSuffix(name, ".idx")
		if !found || !strings.HasPrefix(name, "pack-") {
			continue
		}
		p, err := openPack(db.fs, filepath.Join(dir, stem), db.Format)
		if errors.Is(err, fs.ErrNotExist) {
			continue // an index whose pack a repack has just taken away
		}
		if err != nil {
			return err
		}
		p.number = uint64(len(db.packs))
		db.packs = append(db.packs, p)
	}
	return nil
}
