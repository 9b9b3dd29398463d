package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// write makes the files, links and modes of the plan.
func (c *checkout) write() error {
	return c.eachChunk(func(j *job) bool { return j.Op != Remove }, (*applier).writeChunk)
}

func (w *applier) writeChunk(jobs []job) error {
	var d vfs.Dir
	for i := range jobs {
		j := &jobs[i]
		if j.Op == Remove {
			continue
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if d == nil {
			dir, _ := split(j.Path)
			var err error
			if d, err = w.openOrMake(dir); err != nil {
				return err
			}
			defer closeChain(d, w.root)
		}
		if err := w.writeOne(d, j); err != nil {
			return fmt.Errorf("write %w", withPath(err, j.Path))
		}
	}
	return nil
}

// openOrMake opens the directory of a path, making what is missing of it.
func (w *applier) openOrMake(path string) (vfs.Dir, error) {
	if d := w.openAtOnce(path); d != nil {
		return d, nil
	}
	d := w.root
	for at := 0; at < len(path); at++ {
		name, _, _ := strings.Cut(path[at:], "/")
		next, err := w.enter(d, name)
		closeChain(d, w.root)
		at += len(name)
		if err != nil {
			return nil, fmt.Errorf("make directory %w", &PathError{path[:at], err})
		}
		d = next
	}
	return d, nil
}

func (w *applier) enter(d vfs.Dir, name string) (vfs.Dir, error) {
	next, err := d.OpenDir(name)
	if err == nil {
		return next, nil
	}
	if !isGone(err) {
		return nil, err
	}
	// Another worker may make it at the same moment.
	if err := d.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.OpenDir(name)
}

func (w *applier) writeOne(d vfs.Dir, j *job) error {
	switch {
	case j.Op == Chmod:
		return w.chmod(d, j)
	case j.done:
		j.entry = NewEntry(&j.seen, j.Hash, w.clock)
	default:
		place := w.place
		if j.Kind == Subrepo {
			place = w.makeDir
		}
		if err := place(d, j); err != nil {
			return err
		}
		if err := d.Lstat(j.name(), &w.st); err != nil {
			return err
		}
		j.entry = NewEntry(&w.st, j.Hash, w.clock)
	}
	j.entry.Kind, j.entry.Exec, j.entry.Size, j.entry.Alias = j.Kind, j.Exec, j.Size, j.alias
	w.progress(j.Size)
	return nil
}

// makeDir makes room for a subrepo, in place of a file that goes if need be. A directory that is there is left as it is.
func (w *applier) makeDir(d vfs.Dir, j *job) error {
	if j.seen.Kind != vfs.KindUnknown && j.seen.Kind != vfs.KindDir {
		if err := w.removeOne(d, j); err != nil {
			return err
		}
	}
	if err := d.Mkdir(j.name(), 0o777); !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := d.Lstat(j.name(), &w.st); err != nil {
		return err
	}
	if w.st.Kind != vfs.KindDir {
		return ErrChanging
	}
	return nil
}

// place puts the new content under its name.
func (w *applier) place(d vfs.Dir, j *job) error {
	name := j.name()
	if j.seen.Kind == vfs.KindDir {
		// Empty directories are left at most, and with force anything.
		if err := w.clear(d, name); err != nil && !isGone(err) {
			return err
		}
		j.seen = vfs.Stat{}
	}
	gone, err := w.stillSeen(d, j)
	if err != nil {
		return err
	}
	if gone {
		// Exclusively: should there be a file by now, it stays. A name in place at once is also cheaper than a rename.
		return w.create(d, name, j)
	}
	temp := tempPrefix + strconv.FormatUint(rand.Uint64(), 36)
	if err := w.create(d, temp, j); err != nil {
		return err
	}
	// Once more, since making a large file takes its time.
	if _, err := w.stillSeen(d, j); err != nil {
		return errors.Join(err, d.Remove(temp))
	}
	if err := replace(d, temp, name); err != nil {
		return errors.Join(err, d.Remove(temp))
	}
	return nil
}

// replace puts a new file in the place of an old one. The name always stands for one of the two. Ext4 sends a file that is
// renamed over another to the disk at once, which takes as long as all else of a checkout: so they change places.
func replace(d vfs.Dir, temp, name string) error {
	err := d.Exchange(temp, name)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.Rename(temp, d, name)
	}
	if err != nil {
		return err
	}
	return d.Remove(temp)
}

// create makes a new file or link with the content. After an error it is gone again.
func (w *applier) create(d vfs.Dir, name string, j *job) error {
	streamed := j.Size > w.opts.InMemory && j.Kind == File
	if !streamed {
		var err error
		if w.buf, err = w.src.Content(w.buf[:0], &j.Action); err != nil {
			return err
		}
		if int64(len(w.buf)) != j.Size {
			return fmt.Errorf("content has %d bytes instead of %d", len(w.buf), j.Size)
		}
	}
	if j.Kind == Link {
		return d.Symlink(string(w.buf), name)
	}
	perm := fs.FileMode(0o666) // less the user's umask, as the system applies it
	if j.Exec {
		perm = 0o777
	}
	f, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	switch {
	case streamed:
		err = w.stream(f, j)
	case len(w.buf) > 0:
		_, err = f.Write(w.buf)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.Remove(name))
	}
	return nil
}

func (w *applier) stream(f vfs.File, j *job) error {
	out := &countingWriter{file: f}
	if err := w.src.Stream(out, &j.Action); err != nil {
		return err
	}
	if out.n != j.Size {
		return fmt.Errorf("content has %d bytes instead of %d", out.n, j.Size)
	}
	return nil
}

type countingWriter struct {
	file vfs.File
	n    int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.file.Write(p)
	c.n += int64(n)
	return n, err
}

// chmod changes a file's executable bit and leaves its content, edited or not.
func (w *applier) chmod(d vfs.Dir, j *job) error {
	j.entry = j.old
	j.entry.Exec = j.Exec
	if j.seen.Kind != vfs.KindFile || w.opts.IgnoreExec {
		w.progress(0)
		return nil
	}
	known := j.old.Valid && j.old.unchanged(&j.seen)
	if j.seen.Exec != j.Exec {
		mode := j.seen.Mode.Perm() &^ 0o111
		if j.Exec {
			mode |= mode & 0o444 >> 2 // who may read may execute
		}
		if err := d.Chmod(j.name(), mode); err != nil {
			return err
		}
	}
	if err := d.Lstat(j.name(), &w.st); err != nil {
		return err
	}
	if known {
		hash, alias := j.old.Hash, j.old.Alias
		j.entry = NewEntry(&w.st, hash, w.clock)
		j.entry.Exec, j.entry.Alias = j.Exec, alias
	}
	w.progress(0)
	return nil
}
