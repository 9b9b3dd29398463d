package worktree

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
)

// check looks at every path of the plan before anything is touched.
func (c *checkout) check() error {
	err := c.eachChunk(func(*job) bool { return true }, (*applier).checkChunk)
	if err != nil {
		return err
	}
	var lose []string
	for i := range c.workers {
		lose = append(lose, c.workers[i].lose...)
	}
	if len(lose) == 0 {
		return nil
	}
	slices.Sort(lose)
	return &LoseError{slices.Compact(lose)}
}

func (w *applier) checkChunk(jobs []job) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	dir, _ := split(jobs[0].Path)
	d, blocked, err := w.openExisting(dir)
	if err != nil {
		return err
	}
	if blocked != "" && !w.removes(blocked) &&
		slices.ContainsFunc(jobs, func(j job) bool { return j.Op == Write }) {
		w.lose = append(w.lose, blocked)
	}
	if d == nil {
		return nil // nothing is there
	}
	defer closeChain(d, w.root)
	for i := range jobs {
		if err := w.checkJob(d, &jobs[i]); err != nil {
			return fmt.Errorf("check out: %w", withPath(err, jobs[i].Path))
		}
	}
	return nil
}

// openExisting opens the directory of a path. It is nil if there is none; then blocked is the file or link, if any, that
// stands where a directory would have to be.
func (c *checkout) openExisting(path string) (d vfs.Dir, blocked string, err error) {
	if d := c.openAtOnce(path); d != nil {
		return d, "", nil
	}
	d = c.root
	for at := 0; at < len(path); at++ {
		name, _, _ := strings.Cut(path[at:], "/")
		next, err := d.OpenDir(name)
		if err != nil {
			var st vfs.Stat
			lstat := d.Lstat(name, &st)
			closeChain(d, c.root)
			at += len(name)
			switch {
			case isGone(lstat):
				return nil, "", nil
			case lstat == nil && st.Kind != vfs.KindDir:
				return nil, path[:at], nil
			}
			return nil, "", fmt.Errorf("check out: %w", &PathError{path[:at], err})
		}
		closeChain(d, c.root)
		d = next
		at += len(name)
	}
	return d, "", nil
}

// openAtOnce opens a directory by its whole path, where the system can do that without following a link. Whatever is not a
// plain success is left to the long way: nil.
func (c *checkout) openAtOnce(path string) vfs.Dir {
	o, ok := c.root.(vfs.PathOpener)
	if !ok || path == "" {
		return nil
	}
	d, err := o.OpenDirPath(path)
	if err != nil {
		return nil
	}
	return d
}

// checkJob decides whether what is on disk may go.
func (w *applier) checkJob(d vfs.Dir, j *job) error {
	if j.inherits {
		return nil // what is there is the other file's concern
	}
	if err := d.Lstat(j.name(), &w.st); err != nil {
		if isGone(err) {
			return nil
		}
		return err
	}
	j.seen = w.st
	switch {
	case j.Op == Chmod:
		return nil // no content is at stake
	case w.st.Kind == vfs.KindDir:
		// That of a subrepo is a repository of its own, which nobody removes here: it stays, or is in the way.
		if j.Op == Write && j.Kind != Subrepo {
			return w.checkInside(d, j.name(), j.Path)
		}
		return nil // the file is gone already
	case w.st.Kind == vfs.KindOther:
		if j.Op == Write {
			w.lose = append(w.lose, j.Path)
		}
		return nil
	}
	safe, err := w.isSafe(d, j)
	if err == nil && !safe && !w.mayGo(j.Path) {
		w.lose = append(w.lose, j.Path)
	}
	return err
}

// mayGo tells whether the unrecorded content in w.st was kept aside.
func (w *applier) mayGo(path string) bool {
	st, ok := w.opts.Kept[path]
	return ok && st == w.st
}

// isSafe tells whether the file or link in w.st is recorded or is what the plan makes of it.
func (w *applier) isSafe(d vfs.Dir, j *job) (bool, error) {
	old := j.tracked && j.old.sameKind(&w.st)
	oldExec := old && w.sameExec(j.old.Exec)
	fresh := Entry{Kind: j.Kind}
	isNew := j.Op == Write && fresh.sameKind(&w.st)
	newExec := isNew && w.sameExec(j.Exec)
	if old && oldExec && j.old.Valid && j.old.unchanged(&w.st) {
		// For an action that only rewrites the same bytes there is nothing to do.
		j.done = newExec && j.old.Hash == j.Hash
		return true, nil
	}
	if (old && j.old.Size == w.st.Size) || (isNew && j.Size == w.st.Size) {
		if w.hasher == nil {
			w.hasher = newFileHasher()
		}
		sum, err := w.hasher.sum(d, j.name(), w.st.Kind)
		if err != nil {
			return false, err
		}
		j.seen = w.hasher.guard.st
		switch {
		case newExec && sum == j.Hash:
			j.done = true
			return true, nil
		case isNew && sum == j.Hash: // only the mode differs; it counts as an edit unless it is the old one
			return !old || oldExec, nil
		case oldExec && sum == j.old.Hash:
			return true, nil
		}
		return false, nil
	}
	if isNew && !old && w.st.Kind == vfs.KindFile && w.st.Size < j.Size {
		return w.isBeginning(d, j)
	}
	return false, nil
}

func (w *applier) sameExec(exec bool) bool {
	return w.opts.IgnoreExec || w.st.Kind != vfs.KindFile || exec == w.st.Exec
}

// isBeginning tells whether an untracked file is a beginning of the content that the plan writes: what a checkout that
// was killed leaves. No byte is lost by writing the rest.
func (w *applier) isBeginning(d vfs.Dir, j *job) (bool, error) {
	f, err := d.OpenFile(j.name(), os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	cmp := &beginning{file: f, left: w.st.Size}
	if j.Size > w.opts.InMemory {
		err = w.src.Stream(cmp, &j.Action)
	} else if w.buf, err = w.src.Content(w.buf[:0], &j.Action); err == nil {
		_, err = cmp.Write(w.buf)
	}
	if err == errEnough {
		err = nil
	}
	return err == nil && cmp.left == 0 && !cmp.differs, err
}

// beginning compares what is written to it with a file, as far as that goes.
type beginning struct {
	file    io.Reader
	buf     []byte
	left    int64
	differs bool
}

var errEnough = io.ErrShortWrite

func (b *beginning) Write(p []byte) (int, error) {
	n := int(min(int64(len(p)), b.left))
	b.buf = slices.Grow(b.buf[:0], n)[:n]
	if _, err := io.ReadFull(b.file, b.buf); err != nil {
		b.differs = true
		return 0, errEnough
	}
	b.left -= int64(n)
	if b.differs = b.differs || !bytes.Equal(b.buf, p[:n]); b.differs || b.left == 0 {
		return n, errEnough
	}
	return n, nil
}

// checkInside looks at a directory that must give way to a file: all in it must be going.
func (w *applier) checkInside(d vfs.Dir, name, path string) error {
	sub, err := d.OpenDir(name)
	if err != nil {
		return err
	}
	defer sub.Close()
	if isRepository(sub) {
		w.lose = append(w.lose, path+"/")
		return nil
	}
	names, err := sub.ReadDir(nil)
	if err != nil {
		return err
	}
	for _, n := range names {
		inner := path + "/" + n.Name
		var st vfs.Stat
		if err := sub.Lstat(n.Name, &st); err != nil {
			return err
		}
		switch {
		case st.Kind == vfs.KindDir:
			if err := w.checkInside(sub, n.Name, inner); err != nil {
				return err
			}
		case !isLeftover(n.Name) && !w.removes(inner):
			w.lose = append(w.lose, inner)
		}
	}
	return nil
}
