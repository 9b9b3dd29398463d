package repo

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// unfinished names a transfer that was cut: it has left changes at the receiving side that no name mentions. A file says so to the next try, which then
// asks what need not come again. Without it all would come again, and nothing else would go wrong.
type unfinished string

const (
	unfinishedClone unfinished = "cloning"  // holds the address: there is nothing else here yet
	unfinishedFetch unfinished = "fetching" // changes came here
	unfinishedPush  unfinished = "pushing"  // changes went elsewhere
	maxUnfinished              = 1 << 16    // bytes of such a file: an address
)

func (r *Repo) unfinishedFile(what unfinished) string { return filepath.Join(r.dir, string(what)) }

func (r *Repo) beginUnfinished(what unfinished, text string) error {
	if r.isUnfinished(what) {
		return nil
	}
	if err := vfs.WriteFileAtomic(r.fs, r.unfinishedFile(what), []byte(text+"\n"), true); err != nil {
		return fileError("begin", err)
	}
	return nil
}

func (r *Repo) isUnfinished(what unfinished) bool {
	var st vfs.Stat
	return r.fs.Lstat(r.unfinishedFile(what), &st) == nil
}

// unfinishedText is what was said at the beginning, "" if nothing was.
func (r *Repo) unfinishedText(what unfinished) string {
	b, err := r.fs.ReadFile(r.unfinishedFile(what), maxUnfinished)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(b), "\n")
}

// finish says that it is done. If that fails the next one asks once more than it has to.
func (r *Repo) finish(what unfinished) {
	if r.isUnfinished(what) {
		_ = r.fs.Remove(r.unfinishedFile(what))
	}
}

// wasCut tells whether an error is that of the way, of this machine's disk or of a person's patience, and not of what came: then it
// pays to go on another time.
func wasCut(err error) bool {
	var network net.Error
	return errors.Is(err, sync.ErrCut) || errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.ErrClosedPipe) || errors.As(err, &network) || isNoSpace(err)
}

// cutText is an error's text without what to do next.
func cutText(err error) string {
	said := &Error{Text: err.Error()}
	_ = errors.As(err, &said)
	return said.Text
}
