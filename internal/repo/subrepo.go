package repo

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// A subrepo is a repository of its own in a directory of the working copy, and a pin in the state says which of its states belongs
// there. docs/spec/subrepo.md says what holds.

// Bounds of what is followed without being asked: a state may pin any number of addresses, and each leads to more.
const (
	maxSubrepos     = 1024
	maxSubrepoDepth = 8
)

// Subrepo is a subrepo of a state.
type Subrepo struct {
	Path string
	Pin  *Pin   // nil where it is not oxy's
	Git  string // the id of Git's commit where it is a submodule
}

// SubrepoStatus says how a subrepo stands.
type SubrepoStatus struct {
	Subrepo
	Here      bool     // it was cloned
	At        StateRef // where its working copy stands
	Bookmark  string   // the one that is current in it
	Files     []FileChange
	Untracked []string
	Conflicts int
	Inner     []SubrepoStatus
	Problem   string // why nothing more is known
}

// Moved tells whether it stands elsewhere than its pin says.
func (s *SubrepoStatus) Moved() bool { return s.Pin != nil && s.Here && s.At.ID != s.Pin.State }

// Clean tells whether there is nothing to say of it.
func (s *SubrepoStatus) Clean() bool {
	if s.Moved() || len(s.Files)+len(s.Untracked)+s.Conflicts > 0 || s.Problem != "" || s.Pin != nil && !s.Here {
		return false
	}
	for i := range s.Inner {
		if !s.Inner[i].Clean() {
			return false
		}
	}
	return true
}

// SubrepoOptions choose subrepos and how to speak with where they come from.
type SubrepoOptions struct {
	Paths    []string // none: all
	Dir      string   // from where an address that is a relative path is seen
	Bookmark string   // of an add: the one to take; "": the one that people are on there
	Messages io.Writer
	Message  string // of the change that is recorded; "": one that says what was done
}

// subreposAt lists the subrepos of a state, at or beneath some paths.
func (r *Repo) subreposAt(s uint32, paths []string) (out []Subrepo, err error) {
	tree, err := r.tree(s)
	if err != nil {
		return nil, err
	}
	cone, err := r.workingCone()
	if err != nil {
		return nil, err
	}
	if paths = nonRoot(paths); len(paths) == 0 {
		paths = []string{""}
	}
	for _, p := range paths {
		n := len(out)
		err := tree.Walk(p, func(e *state.Entry) error {
			if e.Kind != change.Subrepo {
				return nil
			}
			if !inCone(cone, e) {
				if e.Path == p {
					return outsideError(safepath.Quote(p), p+"/")
				}
				return nil
			}
			sub, err := r.subrepoOf(e)
			out = append(out, sub)
			return err
		})
		if err != nil {
			return nil, err
		}
		if p != "" && len(out) == n {
			return nil, &Error{Text: "there is no subrepo " + safepath.Quote(p), Next: "See which there are with: oxy subrepo status"}
		}
	}
	return out, nil
}

// subreposOn gives those that a scan found.
func (r *Repo) subreposOn(base StateRef, paths []string) (out []Subrepo, err error) {
	tree, err := r.tree(base.Num)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		e, ok, err := tree.Get(p)
		if err != nil {
			return nil, err
		}
		if ok && e.Kind == change.Subrepo {
			s, err := r.subrepoOf(&e)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	return out, nil
}

func (r *Repo) subrepoOf(e *state.Entry) (Subrepo, error) {
	s := Subrepo{Path: e.Path}
	if e.Size > maxPin {
		return s, nil
	}
	value, err := r.content(nil, e)
	if err != nil {
		return s, err
	}
	if len(value) == 20 || len(value) == 32 {
		s.Git = hex.EncodeToString(value)
	} else if p, err := decodePin(value); err == nil {
		s.Pin = p
	}
	return s, nil
}

// inner opens the repository of a subrepo; nil where there is none. No link on the way is followed.
func (r *Repo) inner(path string) (*Repo, error) {
	d, err := r.openRoot()
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	for elem := range strings.SplitSeq(path, "/") {
		next, err := d.OpenDir(elem)
		if err != nil {
			var st vfs.Stat
			if lstat := d.Lstat(elem, &st); lstat == nil && st.Kind != vfs.KindDir {
				return nil, &Error{Text: fmt.Sprintf("%s is in the way of the subrepo %s", safepath.Quote(elem), safepath.Quote(path)), Next: "Move it away first."}
			} else if errors.Is(lstat, fs.ErrNotExist) {
				return nil, nil
			}
			return nil, fileError("open the subrepo "+safepath.Quote(path), err)
		}
		_ = d.Close()
		d = next
	}
	var st vfs.Stat
	if err := d.Lstat(DirName, &st); err != nil {
		return nil, nil
	}
	return openAt(r.disk(path), r.innerOptions(), openWhole)
}

// innerOptions are those for repositories inside.
func (r *Repo) innerOptions() Options {
	o := r.opt
	o.Timings = nil
	return o
}

// outerAddress is from where relative addresses are seen: where this repository comes from, or where it is.
func (r *Repo) outerAddress() (string, error) {
	url, _, err := r.ConfigGet("remote." + Origin + ".url")
	if err != nil || url != "" {
		return url, err
	}
	return r.root, nil
}

// meant gives the address that a pin means, and the options to speak with it: a token goes to the host of the outer repository alone.
func (r *Repo) meant(p *Pin) (string, Options, error) {
	o := r.innerOptions()
	outer, err := r.outerAddress()
	if err != nil {
		return "", o, err
	}
	address, err := p.seenFrom(outer)
	if err != nil {
		return "", o, &Error{Text: err.Error(), Err: err}
	}
	if hostOf(address) != hostOf(outer) {
		env := o.Env
		o.Env = func(key string) string {
			if key == "OXY_TOKEN" {
				return ""
			}
			return env(key)
		}
	}
	return address, o, nil
}

// hostOf is the scheme and the host of an address of http; "" for others.
func hostOf(address string) string {
	a, err := sync.ParseAddress(address)
	if err != nil || a.Scheme != sync.HTTP {
		return ""
	}
	scheme, rest, _ := strings.Cut(a.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// asPinned is the address of a pin that means a repository elsewhere. A path of this machine is said as seen from where this
// repository comes from, which must then be one too.
func (r *Repo) asPinned(address, cwd string) (string, error) {
	a, err := parseAddress(address)
	if err != nil {
		return "", err
	}
	outer, err := r.outerAddress()
	if err != nil {
		return "", err
	}
	from := address
	if o, err := sync.ParseAddress(outer); a.Scheme == sync.Path && (err != nil || o.Scheme == sync.Path || !isRelative(address)) {
		if err != nil || o.Scheme != sync.Path {
			return "", &Error{Text: fmt.Sprintf("%s is a path of this machine, and this repository comes from %s", safepath.Quote(address), safepath.Quote(sync.Hidden(outer))),
				Next: "Give the address by which everybody reaches it. One on the same server may be said as ../NAME."}
		}
		at := a.Path
		if !filepath.IsAbs(at) {
			at = filepath.Join(cwd, at)
		}
		rel, err := filepath.Rel(o.Path, at)
		if err != nil {
			return "", &Error{Text: fmt.Sprintf("%s cannot be told from %s", safepath.Quote(address), safepath.Quote(o.Path)), Err: err}
		}
		if from = filepath.ToSlash(rel); !strings.HasPrefix(from, "../") {
			from = "./" + from
		}
	}
	if err := checkFrom(from); err != nil {
		return "", &Error{Text: "cannot pin it: " + err.Error(), Next: "A pin is for everybody: give an address without a password that others reach too.", Err: err}
	}
	return from, nil
}

// Subrepos tells how the subrepos of the working copy's base stand.
func (r *Repo) Subrepos(ctx context.Context, paths []string) ([]SubrepoStatus, error) {
	base, err := r.Base()
	if err != nil {
		return nil, err
	}
	subs, err := mended(r, func() ([]Subrepo, error) { return r.subreposAt(base.Num, paths) })
	if err != nil {
		return nil, err
	}
	return r.subrepoStatus(ctx, subs), nil
}

func (r *Repo) subrepoStatus(ctx context.Context, subs []Subrepo) []SubrepoStatus {
	out := make([]SubrepoStatus, len(subs))
	for i := range subs {
		out[i] = SubrepoStatus{Subrepo: subs[i], At: StateRef{Num: NoState}}
		if err := r.lookInside(ctx, &out[i]); err != nil {
			out[i].Problem = err.Error()
		}
	}
	return out
}

func (r *Repo) lookInside(ctx context.Context, s *SubrepoStatus) error {
	if s.Pin == nil {
		return nil
	}
	in, err := r.inner(s.Path)
	if err != nil || in == nil {
		return err
	}
	defer in.Close()
	s.Here = true
	st, err := in.Status(ctx, StatusOptions{})
	if err != nil {
		return err
	}
	s.At, s.Bookmark, s.Files, s.Untracked, s.Conflicts, s.Inner = st.Base, st.Bookmark, st.Files, st.Untracked, len(st.Conflicts), st.Subrepos
	return errors.Join(st.Problems...)
}

// notInside refuses a path that lies inside a subrepo: what is there is that one's.
func (r *Repo) notInside(base StateRef, path string) error {
	if !strings.Contains(path, "/") {
		return nil
	}
	tree, err := r.tree(base.Num)
	if err != nil {
		return err
	}
	for i, c := range path {
		if c != '/' {
			continue
		}
		e, ok, err := tree.Get(path[:i])
		if err != nil {
			return err
		}
		if ok && e.Kind == change.Subrepo {
			at := safepath.Quote(path[:i])
			return &Error{Text: fmt.Sprintf("%s lies in the subrepo %s", safepath.Quote(path), at), Next: fmt.Sprintf("Work on it there: oxy -C %s", at)}
		}
	}
	return nil
}
