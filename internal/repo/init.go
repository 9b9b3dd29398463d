package repo

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Init makes a repository in dir, which becomes the root of its working copy. What an earlier Init began and did not
// live to finish is finished.
func Init(dir string, opt Options) (*Repo, error) {
	opt = opt.withDefaults()
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	at := filepath.Join(root, DirName)
	var st vfs.Stat
	err = opt.FS.Lstat(at, &st)
	if err == nil && st.Kind != vfs.KindDir {
		return nil, thereIsOne(at)
	}
	mine := errors.Is(err, fs.ErrNotExist)
	r, err := initAt(root, at, opt)
	if err != nil && mine && !errors.Is(err, fs.ErrExist) {
		// A repository half made is none: take away what was begun, where that goes.
		_ = opt.FS.RemoveAll(at)
	}
	return r, err
}

func thereIsOne(at string) error {
	return &Error{Text: "there is a repository here already: " + at, Next: "See what it holds with: oxy status", Err: fs.ErrExist}
}

func initAt(root, at string, opt Options) (*Repo, error) {
	if err := makeDirs(opt.FS, root); err != nil {
		return nil, fileError("make the repository", err)
	}
	if err := opt.FS.MkdirAll(filepath.Join(at, "wc"), 0o777); err != nil {
		return nil, fileError("make the repository", err)
	}
	if err := createStore(opt.FS, at); err != nil {
		return nil, fileError("make the repository", err)
	}
	r, err := openAt(root, opt, openWhole)
	if err != nil {
		return nil, err
	}
	err = r.update("init", func(v *store.View) error {
		if r.store.NumOps() > 0 {
			return thereIsOne(at)
		}
		v.Current = FirstBookmark
		return nil
	})
	if err != nil {
		_ = r.Close() // nothing was done with it
		return nil, err
	}
	return r, nil
}

// createStore makes the store unless it is there. Of two that begin at once one waits.
func createStore(fsys vfs.FS, at string) error {
	lock, err := fsys.Lock(filepath.Join(at, "lock"), waitForLock)
	if err != nil {
		return err
	}
	var st vfs.Stat
	err = fsys.Lstat(filepath.Join(at, "format"), &st)
	if errors.Is(err, fs.ErrNotExist) {
		err = store.Create(fsys, at)
	}
	return errors.Join(err, lock.Close())
}

// makeDirs makes a directory and those above it, durably: what a repository acknowledges must not go with its root's name.
func makeDirs(fsys vfs.FS, dir string) error {
	fresh := []string{dir} // even if it is there: somebody may have made it a moment ago
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		var st vfs.Stat
		if err := fsys.Lstat(at, &st); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		fresh = append(fresh, at)
	}
	if err := fsys.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, d := range fresh {
		// A directory that may not be read cannot be synced, and was not made here.
		if err := fsys.SyncDir(filepath.Dir(d)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
