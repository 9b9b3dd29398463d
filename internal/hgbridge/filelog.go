package hgbridge

import (
	"fmt"

	"github.com/oxy-vcs/oxy/revlog"
)

// File is the history of one tracked path.
type File struct {
	Path string
	Log  *revlog.Log
	r    *revlog.Reader
}

// File opens the history of a path. Its error works with errors.Is(err, fs.ErrNotExist).
func (r *Repo) File(path string) (*File, error) {
	l, err := r.log(r.encoding.storeName("data/" + path + ".i"))
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", path, err)
	}
	return &File{path, l, l.Reader()}, nil
}

// Close closes the history.
func (f *File) Close() error {
	f.r.Close()
	return f.Log.Close()
}

// Read gives the contents of a file revision, valid until the next call, and its metadata. The errors revlog.ErrCensored and
// revlog.ErrExternal say that they are not there.
func (f *File) Read(node revlog.Node) (contents []byte, m revlog.Meta, err error) {
	rev, err := f.Log.Rev(node)
	if err != nil {
		return nil, m, fmt.Errorf("file %q: %w", f.Path, err)
	}
	return f.ReadRev(rev)
}

// ReadRev is Read of a revision's number.
func (f *File) ReadRev(rev revlog.Rev) (contents []byte, m revlog.Meta, err error) {
	text, err := f.r.Text(rev)
	if err == nil {
		if m, contents, err = revlog.SplitFile(text); err != nil {
			err = &revlog.Error{File: f.Log.Path(), Rev: rev, Err: err}
		}
	}
	if err != nil {
		return nil, m, fmt.Errorf("file %q: %w", f.Path, err)
	}
	// Of a revision with a first parent Mercurial does not look for a copy: old versions left such metadata there.
	if p1, _, perr := f.Log.Parents(rev); perr == nil && p1 != revlog.Null {
		m.CopySource, m.CopyNode = "", revlog.NullNode
	}
	return contents, m, nil
}
