package sync

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/oxy-vcs/oxy/internal/safepath"
)

// Scheme is the way to a repository.
type Scheme uint8

// The schemes.
const (
	Path Scheme = iota // of this machine
	SSH
	HTTP // and https
	S3   // a bucket
)

// Address is where a repository is. It was judged: no part of it is taken for an option or by a shell.
type Address struct {
	Scheme Scheme
	Path   string // of a path or at the end of ssh; s3: what the names of objects begin with, without slashes around
	Host   string // ssh: [user@]host; s3: the bucket
	Port   string // ssh, "" for the usual one
	URL    string // http: without user and password
	User   *url.Userinfo
	Bucket Place // s3
}

// ErrAddress is an address that is none.
var ErrAddress = errors.New("not an address")

const maxAddress = 4096

// ParseAddress reads the address of a repository: a path, ssh://[user@]host[:port]/path, host:path, http://,
// https:// or s3://bucket/prefix.
func ParseAddress(s string) (Address, error) {
	a, why := parseAddress(s)
	if why != "" {
		if len(s) > 80 {
			s = s[:80] + "…"
		}
		return a, fmt.Errorf("%s: %w: %s", safepath.Quote(hidden(s)), ErrAddress, why)
	}
	return a, nil
}

func parseAddress(s string) (a Address, why string) {
	switch {
	case s == "":
		return a, "it is empty"
	case len(s) > maxAddress:
		return a, "it is too long"
	case s[0] == '-':
		return a, "it begins like an option"
	case !utf8.ValidString(s):
		return a, "it is not UTF-8"
	}
	for _, r := range s {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return a, "it has a control character"
		}
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return parseShort(s)
	}
	switch scheme {
	case "s3":
		return parseBucket(rest)
	case "http", "https":
		u, err := url.Parse(s)
		if err != nil || u.Host == "" {
			return a, "it has no host"
		}
		if u.RawQuery != "" || u.Fragment != "" {
			return a, "it has a query"
		}
		a.Scheme, a.User, u.User = HTTP, u.User, nil
		a.URL = strings.TrimSuffix(u.String(), "/")
		return a, ""
	case "ssh":
		host, path, _ := strings.Cut(rest, "/")
		a.Scheme, a.Path = SSH, "/"+path
		if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
			host, a.Port = host[:i], host[i+1:]
			if a.Port == "" || strings.Trim(a.Port, "0123456789") != "" {
				return a, "its port is no number"
			}
		}
		a.Host = host
		return a, sshFault(a)
	}
	return a, "there is no way called " + safepath.Quote(scheme)
}

func parseShort(s string) (a Address, why string) {
	i := strings.IndexByte(s, ':')
	if i < 0 || strings.ContainsAny(s[:i], `/\`) || i == 1 && isLetter(s[0]) { // C:\ is a drive of Windows
		return Address{Scheme: Path, Path: s}, ""
	}
	if strings.HasPrefix(s[i:], "::") { // Git's remote helpers: ext::sh -c …
		return a, "there is no way called " + safepath.Quote(s[:i])
	}
	a = Address{Scheme: SSH, Host: s[:i], Path: s[i+1:]}
	return a, sshFault(a)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// sshFault judges what becomes arguments of ssh, and of a shell at its other end.
func sshFault(a Address) string {
	user, host, ok := strings.Cut(a.Host, "@")
	if !ok {
		user, host = "", a.Host
	}
	for _, part := range []string{user, host} {
		for _, r := range part {
			if !(r < utf8.RuneSelf && (isLetter(byte(r)) || r >= '0' && r <= '9' || strings.ContainsRune("._-+%[]:", r))) {
				return "its host has a character that no host has"
			}
		}
		if strings.HasPrefix(part, "-") {
			return "its host begins like an option"
		}
	}
	if host == "" || ok && user == "" {
		return "it has no host"
	}
	if a.Path == "" || strings.HasPrefix(a.Path, "-") {
		return "it has no path"
	}
	return ""
}

// String is the address as a person may see it: without a password.
func (a Address) String() string {
	switch a.Scheme {
	case HTTP:
		return a.URL
	case S3:
		return a.bucketString()
	case SSH:
		if a.Port != "" || strings.HasPrefix(a.Path, "/") {
			port := ""
			if a.Port != "" {
				port = ":" + a.Port
			}
			return "ssh://" + a.Host + port + a.Path
		}
		return a.Host + ":" + a.Path
	}
	return a.Path
}

// hidden leaves user and password out of what looks like a URL, whether it is one or not: a password may have a slash in it.
func hidden(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return s
	}
	at := strings.LastIndexByte(rest, '@')
	if scheme == "s3" {
		rest, _, _ = strings.Cut(rest[at+1:], "?") // what follows may be a key that somebody tried
		at = -1
	}
	if scheme == "ssh" && at >= 0 && !strings.Contains(rest[:at], ":") {
		at = -1 // a name alone is no secret there, and needed
	}
	return scheme + "://" + rest[at+1:]
}

// Hidden is an address as it may be shown, whether it is one or not.
func Hidden(s string) string {
	if a, err := ParseAddress(s); err == nil {
		return a.String()
	}
	return hidden(s)
}

// shellQuote is an argument for the shell at the other end of ssh.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
