package repo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// Origin is the remote that a clone comes from.
const Origin = "origin"

// Remote is a repository elsewhere, by the name that it has here.
type Remote struct {
	Name    string
	Address string // as it may be shown: without a password
}

// trackPrefix begins the keys under which a view keeps where a remote's bookmarks were when last seen.
const trackPrefix = "track/"

// trackKey is the key of a remote's bookmark.
func trackKey(remote, name string) string { return trackPrefix + remote + "/" + name }

// track notes where a remote's bookmark is.
func (t *tx) track(remote, name string, s StateRef) {
	if s.Num == NoState {
		delete(t.view.Kept, trackKey(remote, name))
		return
	}
	t.view.Kept[trackKey(remote, name)] = binary.BigEndian.AppendUint32(nil, s.Num)
}

// tracked finds a remote's bookmark by its name here, as in origin/main.
func tracked(v *store.View, name string) (uint32, bool) {
	b := v.Kept[trackPrefix+name]
	if len(b) != 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(b), true
}

// Tracking lists the bookmarks of remotes as they were when last seen, named as in origin/main.
func (r *Repo) Tracking() ([]Named, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	names := map[string]uint32{}
	for _, key := range slices.Sorted(maps.Keys(v.Kept)) {
		if name, ok := strings.CutPrefix(key, trackPrefix); ok && !strings.HasPrefix(name, ".") { // those are oxy's own
			if s, ok := tracked(v, name); ok {
				names[name] = s
			}
		}
	}
	out, err := r.named(names, "")
	for i := range out {
		out[i].Remote = true
	}
	return out, err
}

// AllBookmarks lists bookmarks by name, then those of remotes.
func (r *Repo) AllBookmarks() ([]Named, error) {
	out, err := r.Bookmarks()
	if err != nil {
		return nil, err
	}
	tracking, err := r.Tracking()
	return append(out, tracking...), err
}

// Remotes lists the remotes.
func (r *Repo) Remotes() ([]Remote, error) {
	all, err := r.ConfigList()
	if err != nil {
		return nil, err
	}
	var out []Remote
	for _, kv := range all {
		name, ok := strings.CutPrefix(kv[0], "remote.")
		if name, is := strings.CutSuffix(name, ".url"); ok && is {
			out = append(out, Remote{name, sync.Hidden(kv[1])})
		}
	}
	return out, nil
}

func checkRemoteName(name string) error {
	if err := checkName("remote", name); err != nil {
		return err
	}
	if strings.ContainsAny(name, "/.") {
		return &Error{Text: fmt.Sprintf("%s cannot be a remote's name: it has a dot or a slash", safepath.Quote(name)), Next: "Letters, digits and - are fine."}
	}
	return nil
}

// AddRemote gives a repository elsewhere a name. A path is taken from cwd.
func (r *Repo) AddRemote(name, address, cwd string) error {
	if err := checkRemoteName(name); err != nil {
		return err
	}
	if there, _, err := r.ConfigGet("remote." + name + ".url"); err != nil {
		return err
	} else if there != "" {
		return &Error{Text: fmt.Sprintf("there is a remote %s already: %s", safepath.Quote(name), sync.Hidden(there)), Next: "Remove it first with: oxy remote remove " + safepath.Quote(name)}
	}
	a, err := parseAddress(address)
	if err != nil {
		return err
	}
	if a.Scheme == sync.Path && !filepath.IsAbs(address) {
		address = filepath.Join(cwd, address)
	}
	return r.ConfigSet("remote."+name+".url", address, false)
}

func parseAddress(s string) (sync.Address, error) {
	a, err := sync.ParseAddress(s)
	if err != nil {
		return a, &Error{Text: err.Error(), Next: "Addresses are like /path, ssh://host/path, host:path, https://host/path or s3://bucket/prefix.", Err: err}
	}
	return a, nil
}

// RemoveRemote forgets a remote and what is known of its bookmarks. The changes stay.
func (r *Repo) RemoveRemote(name string) error {
	there, _, err := r.ConfigGet("remote." + name + ".url")
	if err != nil {
		return err
	}
	if there == "" {
		return noRemote(name)
	}
	if err := r.ConfigSet("remote."+name+".url", "", false); err != nil {
		return err
	}
	v, err := r.view()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(v.Kept)), func(k string) bool { return strings.HasPrefix(k, trackKey(name, "")) }) {
		return nil
	}
	return r.update("remote", func(v *store.View) error {
		maps.DeleteFunc(v.Kept, func(k string, _ []byte) bool { return strings.HasPrefix(k, trackKey(name, "")) })
		return nil
	})
}

func noRemote(name string) error {
	return &Error{Text: "no remote " + safepath.Quote(name), Next: "See which there are with: oxy remote list. Add one with: oxy remote add NAME ADDRESS"}
}

// link is a way to a repository elsewhere.
type link struct {
	sync.Peer
	name  string // of the remote; "" for an address that has none
	shown string

	mark *sync.Mark // of the signatures there, once the names were listed; nil: it tells of none
}

// addressOf is the address of a remote, whose name it gives too, or what is an address itself.
func (r *Repo) addressOf(remote string) (a sync.Address, name string, err error) {
	address := ""
	if checkRemoteName(remote) == nil {
		url, _, err := r.ConfigGet("remote." + remote + ".url")
		if err != nil {
			return a, "", err
		}
		if address = url; url != "" {
			name = remote
		}
	}
	if address == "" {
		if !strings.ContainsAny(remote, `/\:.`) {
			return a, "", noRemote(remote)
		}
		address = remote
	}
	a, err = parseAddress(address)
	return a, name, err
}

// dial opens the way to a remote, or to an address as seen from cwd.
func (r *Repo) dial(ctx context.Context, remote, cwd string, messages io.Writer) (*link, error) {
	if remote == "" {
		remote = Origin
	}
	a, name, err := r.addressOf(remote)
	if err != nil {
		return nil, err
	}
	p, err := r.dialAddress(ctx, a, name, cwd, messages)
	if err != nil {
		return nil, linkError(a.String(), err)
	}
	return &link{Peer: p, name: name, shown: a.String()}, nil
}

func (r *Repo) dialAddress(ctx context.Context, a sync.Address, name, cwd string, messages io.Writer) (sync.Peer, error) {
	switch a.Scheme {
	case sync.SSH:
		command := r.opt.Env("OXY_SSH")
		if command == "" {
			var err error
			if command, _, err = r.ConfigGet("ssh.command"); err != nil {
				return nil, err
			}
		}
		return sync.DialSSH(ctx, a, command, messages)
	case sync.HTTP:
		how, err := r.secrets(a, name, messages)
		if err != nil {
			return nil, err
		}
		return sync.DialHTTP(a, how)
	case sync.S3:
		return r.dialBucket(ctx, a, name, messages)
	}
	path := a.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	s, err := NewServer(path, ServeOptions{Options: Options{FS: r.opt.FS, Env: r.opt.Env, Command: r.opt.Command}})
	if err != nil {
		return nil, err
	}
	return sync.Local(ctx, s, func() error { return nil }), nil
}

// linkError puts a fault of the way or of the other side in words.
func linkError(address string, err error) error {
	var said *Error
	if err == nil || errors.As(err, &said) || errors.Is(err, context.Canceled) {
		return err
	}
	e := &Error{Text: fmt.Sprintf("%s: %v", safepath.Quote(address), err), Err: err}
	var remote *sync.RemoteError
	var status *sync.StatusError
	var certificate *sync.CertificateError
	var moved *sync.MovedError
	switch {
	case errors.As(err, &remote):
		e.Text = fmt.Sprintf("%s says: %s", safepath.Quote(address), remote.Text)
	case bucketNext(err) != "":
		e.Next = bucketNext(err)
	case errors.As(err, &status) && status.Code == 401:
		e.Next = "Give it in OXY_TOKEN, in your .netrc, or set remote.NAME.token; see docs/server.md."
	case errors.As(err, &status) && status.Code == 403:
		e.Next = "Ask who runs the server to let you."
	case errors.As(err, &status) && status.Code == 404:
		e.Next = "Check the address."
	case errors.As(err, &certificate):
		e.Next = certificate.Next
	case errors.As(err, &moved):
		e.Next = "Nothing was shown to that. If you trust it, use that address: oxy remote remove NAME, then oxy remote add NAME ADDRESS."
	case errors.Is(err, sync.ErrCut):
		e.Next = "Nothing of it was taken. Try again."
	case errors.Is(err, sync.ErrMalformed):
		e.Next = "Nothing of it was taken. Try again; if it stays so, the other side is damaged or is no oxy."
	default:
		e.Next = "Nothing of it was taken. Check the address, and try again."
	}
	return e
}

// list asks for the names at the other side. The one that it is on comes first.
func (l *link) list(ctx context.Context) (refs []sync.Ref, err error) {
	err = l.Do(ctx, func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.List, Marked: true}) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		said, err := in.Listing()
		refs, l.mark = said.Refs, said.Mark
		return err
	})
	return refs, linkError(l.shown, err)
}
