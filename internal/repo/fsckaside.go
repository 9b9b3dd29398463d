package repo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What a repair takes out of the log because it cannot be read and nobody has it is kept beside: somebody may make sense of it yet. That
// is the damaged bytes where all else stays, and the whole repository as it was where readable changes go, too.

// lostDir is beneath the repository's directory; in it each repair has a directory of its own, by number.
const lostDir = "lost"

// maxAside bounds the repairs of which something is kept.
const maxAside = 1 << 16

// newAside makes the directory of this repair. The name is beneath the repository's root.
func (r *Repo) newAside() (dir, shown string, err error) {
	for n := 1; n <= maxAside; n++ {
		shown = filepath.Join(DirName, lostDir, fmt.Sprint(n))
		dir = filepath.Join(r.root, shown)
		var st vfs.Stat
		if err := r.fs.Lstat(dir, &st); errors.Is(err, fs.ErrNotExist) {
			return dir, shown, r.fs.MkdirAll(dir, 0o777)
		} else if err != nil {
			return "", "", err
		}
	}
	return "", "", errors.New("too many repairs have kept something beside: remove " + filepath.Join(DirName, lostDir))
}

// damagedAside keeps the damaged stretches of the log, each in a file that is named by where it was.
func (m *mending) damagedAside() error {
	r := m.r
	var faults []store.Fault
	_, err := r.store.Audit(m.ctx, store.AuditOptions{Quick: true, Progress: func(int64) {}, Fault: func(f store.Fault) {
		if !f.Derived && f.Len > 0 {
			faults = append(faults, f)
		}
	}})
	if err != nil || len(faults) == 0 {
		return err
	}
	dir, shown, err := r.newAside()
	if err != nil {
		return err
	}
	for _, f := range faults {
		name := fmt.Sprintf("%s-at-%d", strings.ReplaceAll(f.File, "/", "-"), f.Off)
		if err := copyStretch(r.fs, filepath.Join(r.dir, filepath.FromSlash(f.File)), f.Off, f.Len, filepath.Join(dir, name)); err != nil {
			return errors.Join(err, r.fs.RemoveAll(dir))
		}
	}
	m.aside = shown
	return r.asideDurable(dir)
}

func copyStretch(fsys vfs.FS, from string, off, size int64, to string) error {
	in, err := fsys.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	out, err := fsys.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, io.NewSectionReader(in, off, size))
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close(), in.Close())
}

func (r *Repo) asideDurable(dir string) error {
	return errors.Join(r.fs.SyncDir(dir), r.fs.SyncDir(filepath.Dir(dir)), r.fs.SyncDir(r.dir))
}

// repositoryAside keeps all of the repository as it is, but for what was last seen in the working copy, as a repository of its own. Its
// files become second names of those that are, where the system can do that.
func (m *mending) repositoryAside() error {
	r := m.r
	dir, shown, err := r.newAside()
	if err == nil {
		at := filepath.Join(dir, DirName)
		for _, sub := range []string{"log", "index", "trees"} {
			if err = r.shareAll(filepath.Join(r.dir, sub), filepath.Join(at, sub)); err != nil {
				break
			}
		}
		for _, name := range []string{"head", "format"} { // with the format it is a repository
			if err == nil {
				err = r.shareOne(filepath.Join(r.dir, name), filepath.Join(at, name))
			}
		}
		if err == nil {
			err = errors.Join(r.fs.SyncDir(at), r.asideDurable(dir))
		}
	}
	if err != nil {
		return errors.Join(err, r.fs.RemoveAll(dir))
	}
	m.aside = shown
	return nil
}

// shareAll gives the files of a directory to another, which is made.
func (r *Repo) shareAll(from, to string) error {
	if err := r.fs.MkdirAll(to, 0o777); err != nil {
		return err
	}
	names, err := r.fs.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		var st vfs.Stat
		if err = r.fs.Lstat(filepath.Join(from, name), &st); err == nil && st.Kind == vfs.KindFile {
			err = r.shareOne(filepath.Join(from, name), filepath.Join(to, name))
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(err, r.fs.SyncDir(to))
}

// shareOne shares a file. Nobody writes to the log and what is derived of it any more once it was packed anew; a link to a file to which
// somebody did would have more at its end, which counts for nothing there.
func (r *Repo) shareOne(from, to string) error {
	f, err := r.fs.OpenFile(from, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // derived, and lost
	}
	if err != nil {
		return err
	}
	var st vfs.Stat
	err = f.Stat(&st)
	if err == nil {
		_, err = vfs.Share(r.fs, f, to, st.Size, true, func(int64) error { return nil })
	}
	return errors.Join(err, f.Close())
}
