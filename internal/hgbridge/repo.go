package hgbridge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/revlog"
)

// Limits of small files, with what they hold at most in practice beside it.
const (
	maxRequires  = 64 << 10  // a dozen lines
	maxPointer   = 64 << 10  // a path
	maxRoots     = 256 << 20 // phaseroots: 43 bytes for each root of drafts
	maxBookmarks = 256 << 20 // a million of them
	maxObsstore  = 1 << 30   // Mercurial reads it whole too
)

// requirements that change nothing about how history is read, or that are read.
var known = []string{
	"store", "fncache", "dotencode", "revlogv1", "generaldelta", "sparserevlog", "revlog-compression-zstd", "treemanifest",
	"shared", "relshared", "share-safe", "bookmarksinstore", "persistent-nodemap", "internal-phase", "internal-phase-2",
	"archived-phase", "largefiles", "lfs", "dirstate-v2", "exp-dirstate-v2", "dirstate-tracked-key-v1", "exp-sparse",
	"exp-revlogv2.2", "exp-changelog-v2", "parentdelta", "exp-compression-none", "exp-compression-zlib", "exp-compression-zstd",
	"revlog-compression-none", "revlog-compression-zlib", "exp-copies-sidedata-changeset", "exp-delta-info-revlog",
}

// Repo is a Mercurial repository open for reading. Not for concurrent use. Nothing is locked: a transaction of Mercurial that
// runs meanwhile shows in part, as it does to Mercurial's own readers.
type Repo struct {
	// Changelog and Manifests are the history and the root manifests.
	Changelog, Manifests *revlog.Log

	fsys     vfs.FS
	files    files
	dot      string // the working copy's .hg
	source   string // the .hg that has the store: another's, for a share
	store    string
	requires []string
	encoding encoding
	tree     bool
	texts    *revlog.Reader // of Manifests
	dirs     map[string]*directory
}

// Open opens the repository whose working copy is at path, or a store's .hg directly.
func Open(fsys vfs.FS, path string) (*Repo, error) {
	r := &Repo{fsys: fsys, files: files{fsys}, dot: filepath.Join(path, ".hg"), dirs: map[string]*directory{}}
	var st vfs.Stat
	if err := fsys.Lstat(r.dot, &st); errors.Is(err, fs.ErrNotExist) && fsys.Lstat(filepath.Join(path, "00changelog.i"), &st) == nil {
		r.dot = path
	} else if err != nil {
		return nil, fmt.Errorf("open Mercurial repository %s: %w", path, err)
	}
	if err := r.open(); err != nil {
		r.Close()
		return nil, fmt.Errorf("open Mercurial repository %s: %w", path, err)
	}
	return r, nil
}

func (r *Repo) open() error {
	var err error
	if r.requires, err = r.lines(filepath.Join(r.dot, "requires"), maxRequires); err != nil {
		return err
	}
	if err := r.findStore(); err != nil {
		return err
	}
	if r.has("share-safe") {
		more, err := r.lines(filepath.Join(r.store, "requires"), maxRequires)
		if err != nil {
			return err
		}
		r.requires = append(r.requires, more...)
	}
	for _, want := range r.requires {
		if !slices.Contains(known, want) {
			return fmt.Errorf("it requires %q, which oxy does not know", want)
		}
	}
	switch {
	case !r.has("store"):
		r.encoding = encodePlain
	case !r.has("fncache"):
		r.encoding = encodeSimple
	case !r.has("dotencode"):
		r.encoding = encodeHybrid
	default:
		r.encoding = encodeDot
	}
	r.tree = r.has("treemanifest")
	if r.Changelog, err = r.log("00changelog.i"); err != nil {
		return err
	}
	if r.Manifests, err = r.log("00manifest.i"); err != nil {
		return err
	}
	r.texts = r.Manifests.Reader()
	return nil
}

// findStore follows a share to where the history is.
func (r *Repo) findStore() error {
	r.source = r.dot
	if r.has("shared") || r.has("relshared") {
		lines, err := r.lines(filepath.Join(r.dot, "sharedpath"), maxPointer)
		if err != nil {
			return err
		}
		if len(lines) != 1 {
			return errors.New("its sharedpath is no path")
		}
		r.source = filepath.FromSlash(lines[0])
		if !filepath.IsAbs(r.source) {
			r.source = filepath.Join(r.dot, r.source)
		}
		if filepath.Base(r.source) != ".hg" {
			return fmt.Errorf("its sharedpath %q leads to no .hg", lines[0])
		}
	}
	r.store = r.source
	if r.has("store") || r.has("share-safe") || r.isDir(filepath.Join(r.source, "store")) {
		r.store = filepath.Join(r.source, "store")
	}
	return nil
}

func (r *Repo) isDir(name string) bool {
	var st vfs.Stat
	return r.fsys.Lstat(name, &st) == nil && st.Kind == vfs.KindDir
}

func (r *Repo) has(requirement string) bool { return slices.Contains(r.requires, requirement) }

// log opens a revlog of the store; one that is not there has no revisions.
func (r *Repo) log(name string) (*revlog.Log, error) {
	path := filepath.Join(r.store, filepath.FromSlash(name))
	l, err := revlog.Open(path, &revlog.Options{FS: r.files})
	if errors.Is(err, fs.ErrNotExist) && (name == "00changelog.i" || name == "00manifest.i") {
		return revlog.Open(path, &revlog.Options{FS: nothing{}})
	}
	return l, err
}

// lines reads a small file's lines; of a file that is not there none.
func (r *Repo) lines(name string, limit int64) ([]string, error) {
	text, err := r.fsys.ReadFile(name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSuffix(text, []byte{'\n'})), "\n"), nil
}

// Requirements are the features that the repository's files say a reader must know, sorted.
func (r *Repo) Requirements() []string {
	return slices.Sorted(slices.Values(r.requires))
}

// Close closes all that is open.
func (r *Repo) Close() error {
	var errs []error
	if r.texts != nil {
		r.texts.Close()
	}
	for _, l := range []*revlog.Log{r.Changelog, r.Manifests} {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	for _, d := range r.dirs {
		errs = append(errs, d.close())
	}
	r.Changelog, r.Manifests, r.texts, r.dirs = nil, nil, nil, nil
	return errors.Join(errs...)
}

// nothing is the files of a repository without history.
type nothing struct{}

func (nothing) Open(string) (revlog.File, error) { return empty{}, nil }

type empty struct{ revlog.File }

func (empty) Size() (int64, error)                  { return 0, nil }
func (empty) ReadAt(_ []byte, _ int64) (int, error) { return 0, nil }
func (empty) Close() error                          { return nil }
