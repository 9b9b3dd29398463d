package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/sync"
)

// Settings about servers count only in a person's own file: a repository must choose neither what program is asked for secrets
// nor which authorities are trusted.
const (
	settingHelper = "http.helper" // a program that gives secrets, as Git's credential helpers
	settingRoots  = "http.ca"     // a file of certificates that are trusted beside the system's
)

// Bounds of what is read for secrets, and how long a helper, which may ask a person, has.
const (
	maxNetrc   = 1 << 20
	maxRoots   = 1 << 20
	maxHelped  = 64 << 10
	helperTime = 5 * time.Minute
)

// secrets finds what to show to a server: what the address has, OXY_TOKEN, the remote's setting, or the person's netrc; and when
// the server asks, what the person's helper says.
func (r *Repo) secrets(a sync.Address, remote string, messages io.Writer) (sync.HTTPClient, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return sync.HTTPClient{}, err
	}
	var how sync.HTTPClient
	if how.Secret, err = r.secretFor(u, remote); err != nil {
		return how, err
	}
	helper, err := r.personalSetting(settingHelper)
	if err != nil {
		return how, err
	}
	if helper != "" && a.User == nil {
		how.Ask = func(ctx context.Context) (sync.Secret, error) { return askHelper(ctx, helper, u, messages) }
	}
	if u.Scheme == "http" && (a.User != nil || !how.Secret.IsZero()) && !loopback(u.Hostname()) && messages != nil {
		fmt.Fprintf(messages, "oxy: whoever is between here and %s can read the token on its way: use https if the server can\n", sync.Clean(u.Host))
	}
	roots, err := r.personalFile(settingRoots)
	if err != nil || roots == "" {
		return how, err
	}
	if how.Roots, err = r.fs.ReadFile(roots, maxRoots); err != nil {
		err = readError("the certificates that http.ca names", err)
	}
	return how, err
}

// loopback tells whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (r *Repo) secretFor(u *url.URL, remote string) (sync.Secret, error) {
	token := r.opt.Env("OXY_TOKEN")
	if token == "" && remote != "" {
		var err error
		if token, _, err = r.ConfigGet("remote." + remote + ".token"); err != nil {
			return sync.Secret{}, err
		}
	}
	if token != "" {
		return sync.Secret{Token: token}, nil
	}
	name := r.netrcFile()
	if name == "" {
		return sync.Secret{}, nil
	}
	b, err := r.fs.ReadFile(name, maxNetrc)
	if errors.Is(err, fs.ErrNotExist) {
		return sync.Secret{}, nil
	} else if err != nil {
		return sync.Secret{}, readError(name, err)
	}
	return netrcSecret(string(b), u.Hostname()), nil
}

// netrcFile is where curl and Git look too.
func (r *Repo) netrcFile() string {
	if name := r.opt.Env("NETRC"); name != "" {
		return name
	}
	home, name := r.opt.Env("HOME"), ".netrc"
	if home == "" && runtime.GOOS == "windows" {
		home, name = r.opt.Env("USERPROFILE"), "_netrc"
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, name)
}

// netrcSecret finds a host's entry. A `default` is not taken: it would show a secret to whatever host is named.
func netrcSecret(text, host string) sync.Secret {
	words := netrcWords(text)
	var s sync.Secret
	here := false
	for i := 0; i < len(words); i++ {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch words[i] {
		case "machine":
			if here {
				return s
			}
			here, i = strings.EqualFold(next, host), i+1
		case "default":
			if here {
				return s
			}
		case "login":
			if i++; here {
				s.User = next
			}
		case "password":
			if i++; here {
				s.Password = next
			}
		case "account":
			i++
		}
	}
	return s
}

// netrcWords are the words of a netrc without comments and macros, which end at an empty line.
func netrcWords(text string) (words []string) {
	macro := false
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.Fields(line)
		if macro {
			macro = len(fields) > 0
			continue
		}
		for _, f := range fields {
			if strings.HasPrefix(f, "#") && (len(words) == 0 || words[len(words)-1] != "password") {
				break // a password may begin so
			}
			if macro = f == "macdef"; macro {
				break
			}
			words = append(words, f)
		}
	}
	return words
}

// askHelper asks the person's program, in the way of Git's credential helpers: what `git credential fill` reads and writes.
func askHelper(ctx context.Context, command string, u *url.URL, messages io.Writer) (sync.Secret, error) {
	words := strings.Fields(command)
	ctx, cancel := context.WithTimeout(ctx, helperTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin = strings.NewReader(fmt.Sprintf("protocol=%s\nhost=%s\n\n", u.Scheme, u.Host))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{w: &out, left: maxHelped}, messages
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return sync.Secret{}, &Error{Text: "the program that http.helper names gave no secret: " + err.Error(), Next: "See what is the matter with: " + words[0], Err: err}
	}
	var s sync.Secret
	for line := range strings.Lines(out.String()) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		switch key {
		case "username":
			s.User = value
		case "password":
			s.Password = value
		}
	}
	return s, nil
}

// limited drops what is beyond its bound.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	k := min(len(p), l.left)
	l.left -= k
	if _, err := l.w.Write(p[:k]); err != nil {
		return 0, err
	}
	return len(p), nil
}
