// Package repo is the one door to a repository: it opens it, locks it, and turns what a person asks for into
// transactions of the layers beneath. It prints nothing.
package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
)

// FirstBookmark is the bookmark that a new repository is on.
const FirstBookmark = "main"

// NoState stands for the state without changes, which no number names.
const NoState = 1<<32 - 1

// Repo is an open repository. Reading methods may be called from many goroutines, writing ones from one.
type Repo struct {
	root  string // of the working copy
	dir   string // of the repository: root/.oxy
	fs    vfs.FS
	opt   Options
	store *store.Store

	mu     sync.Mutex // guards bodies and fresh
	bodies map[uint32]*body
	// bodyBytes is about what these take in memory.
	bodyBytes int
	older     map[uint32]*body // an import keeps more of them: those before the last
	fresh     map[uint32]*body // of changes that the transaction under way made

	treeMu   sync.Mutex      // held while a tree is looked up or made
	blocksMu sync.Mutex      // guards blocks and what follows, between readers
	blocks   *state.Blocks   // opened when first needed
	stale    bool            // what the trees' file held could not be used: write it anew
	retired  []*state.Blocks // damaged ones, from which trees may still be read
	renewals atomic.Uint32   // how often the trees were begun anew
	writing  bool            // a transaction is under way that did not commit yet
	recorded bool            // this process committed an operation
	frontier map[uint32]bool // states on which an import goes on: their trees stay
	// Trees are compacted late, while an import goes on: it was a fifth of the time of importing git's own history.
	lateTrees bool
	shared    *reach        // of an import, and of the transaction under way
	kept      *keptWeaves   // of an import; nil otherwise
	touched   *touchedFiles // of an import: on which files each change acts

	zipper   *zstd.Encoder // of weaves' texts, made when first needed
	unzipper *zstd.Decoder

	finder stateFinder

	manifest *worktree.Manifest
	coneMu   sync.Mutex // guards cone and coned
	cone     *worktree.Cone
	coned    bool // cone was read
	settings *settings

	promises   promises   // what promisesAs names; guarded by mu
	promisesAs []byte     // the hash of the list
	bringMu    sync.Mutex // held while contents are brought

	signer sign.Signer     // once it was opened
	policy *sign.Policy    // once it was read
	signed *lateSignatures // once they were read

	spares   spares
	maxSteps int  // maxSteps but in tests
	ahead    bool // trees were written of a transaction that does not stand yet
	cores    int  // of the files of a fuse, at least; but in tests as many as are worth it
	straight bool // no trees are kept on the way to one: who asks for many chooses these
}

// Open finds the repository whose working copy holds dir.
func Open(dir string, opt Options) (*Repo, error) { return open(dir, opt, openWhole) }

// storeOpener opens a store in a directory.
type storeOpener func(vfs.FS, string) (*store.Store, error)

func openWhole(fsys vfs.FS, dir string) (*store.Store, error) { return store.Open(fsys, dir) }

// OpenDamaged is Open for Fsck and Repair: it opens a repository of which the last operation is damaged, too. Nothing else should be
// done with it.
func OpenDamaged(dir string, opt Options) (*Repo, error) { return open(dir, opt, store.OpenDamaged) }

func open(dir string, opt Options, openStore storeOpener) (*Repo, error) {
	opt = opt.withDefaults()
	from, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for root := from; ; {
		var st vfs.Stat
		err := opt.FS.Lstat(filepath.Join(root, DirName), &st)
		if err == nil && st.Kind == vfs.KindDir {
			return openAt(root, opt, openStore)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, fileError("look for the repository", err)
		}
		up := filepath.Dir(root)
		if up == root {
			return nil, &Error{Text: "not in a repository: neither " + safepath.Quote(from) + " nor a directory above it has " + DirName,
				Next: "Start one here with: oxy init", Err: store.ErrNotRepository}
		}
		root = up
	}
}

func openAt(root string, opt Options, openStore storeOpener) (*Repo, error) {
	r := &Repo{root: root, dir: filepath.Join(root, DirName), fs: opt.FS, opt: opt, maxSteps: maxSteps}
	if err := refuseLinks(opt.FS, r.dir); err != nil {
		return nil, err
	}
	done := opt.Timings.Phase("open store")
	var err error
	r.store, err = openStore(opt.FS, r.dir)
	done(0)
	if err != nil {
		return nil, storeError(err)
	}
	return r, nil
}

// refuseLinks sees to it that nothing in a repository that came from others leads elsewhere: the files themselves are never
// followed when they are written, see vfs.
func refuseLinks(fsys vfs.FS, dir string) error {
	for _, sub := range [...]string{"log", "index", "trees", "wc", "incoming", mendingDir, lostDir} {
		var st vfs.Stat
		name := filepath.Join(dir, sub)
		switch err := fsys.Lstat(name, &st); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return fileError("open the repository", err)
		case st.Kind == vfs.KindLink:
			return &Error{Text: safepath.Quote(name) + " is a symbolic link, and oxy follows none inside a repository",
				Next: "Somebody may want to lead it astray. If you made it: move what it leads to into its place."}
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Progress == nil {
		o.Progress = noProgress{}
	}
	return o
}

type noProgress struct{}

func (noProgress) Begin(string, int64, bool) {}
func (noProgress) Add(int64)                 {}
func (noProgress) End()                      {}

// Close releases what the repository holds open.
func (r *Repo) Close() error {
	var errs []error
	if r.manifest != nil {
		errs = append(errs, r.manifest.Close())
	}
	for _, b := range r.retired {
		errs = append(errs, b.Close())
	}
	if r.blocks != nil {
		errs = append(errs, r.blocks.Close())
	}
	return errors.Join(append(errs, r.store.Close())...)
}

// Root is the working copy's root.
func (r *Repo) Root() string { return r.root }

// Rel turns a path from the command line, relative to cwd, into a repository path; "" is the root.
func (r *Repo) Rel(cwd, arg string) (string, error) {
	p, err := safepath.Rel(r.root, cwd, arg)
	if err != nil {
		return "", &Error{Text: fmt.Sprintf("%s is not in the working copy %s", safepath.Quote(arg), safepath.Quote(r.root)), Next: "Name a path beneath that, outside of " + DirName + ".", Err: err}
	}
	return p, nil
}
