package worktree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Status is how an entry's file differs from the base state.
type Status uint8

// The ways to differ.
const (
	Modified    Status = iota // other content, perhaps another mode too
	ModeChanged               // the executable bit only
	TypeChanged               // a file became a link, a link a file, a subrepo either
	Missing                   // nothing there, or a directory in its place
)

var statusNames = [...]string{"modified", "mode changed", "type changed", "missing"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", s)
}

// Item is a tracked file that differs.
type Item struct {
	Path   string
	Status Status
	Base   Entry
	Stat   vfs.Stat    // on disk, unless Missing
	Hash   change.Hash // of the content on disk, if Hashed
	Hashed bool
}

// Result is what a scan found. All lists are sorted by path in byte order.
type Result struct {
	Changed   []Item
	Untracked []string // neither tracked nor ignored; with Options.Collapse a directory stands for all in it, as "dir/"
	Ignored   []string // with Options.Ignored; directories as "dir/"
	Nested    []string // directories that are repositories of their own, as "dir/"
	Subrepos  []string // tracked subrepos: there, or not. What is in one is not looked at
	Outside   []string // directories outside of the cone that hold something which is not ignored, as "dir/"
	Special   []string // sockets, devices and pipes
	Errors    []error  // each a *PathError: what could not be looked at
	Files     int      // how many tracked files were looked at
	Read      int      // and how many of them were read
	// Clock is the file system's time before any file was read, 0 if none was; see NewEntry.
	Clock int64
}

// add takes over the findings of another worker.
func (r *Result) add(o *Result) {
	r.Changed = append(r.Changed, o.Changed...)
	r.Untracked = append(r.Untracked, o.Untracked...)
	r.Ignored = append(r.Ignored, o.Ignored...)
	r.Nested = append(r.Nested, o.Nested...)
	r.Subrepos = append(r.Subrepos, o.Subrepos...)
	r.Outside = append(r.Outside, o.Outside...)
	r.Special = append(r.Special, o.Special...)
	r.Errors = append(r.Errors, o.Errors...)
	r.Files += o.Files
	r.Read += o.Read
}

func (r *Result) sort() {
	slices.SortFunc(r.Changed, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	for _, list := range [][]string{r.Untracked, r.Ignored, r.Nested, r.Subrepos, r.Outside, r.Special} {
		slices.Sort(list)
	}
	slices.SortFunc(r.Errors, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
}

// Clean tells whether the working copy is the base state and nothing else.
func (r *Result) Clean() bool {
	return len(r.Changed)+len(r.Untracked)+len(r.Nested)+len(r.Errors) == 0
}
