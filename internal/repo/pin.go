package repo

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// Pin is the value of a subrepo: a state of another repository, and where that is. docs/spec/subrepo.md has the format.
type Pin struct {
	State    [32]byte
	Len      uint64 // how many changes the state has: at which place of a log to look for it
	Bookmark string // whose log has it, and whose newest state an update takes
	From     string // an address, or one as seen from where the outer repository comes from: ./x or ../x
}

// maxPin is how long a pin may be: an address of 4 KiB, a bookmark's name, and the words between.
const maxPin = 8 << 10

var errPin = errors.New("not a pin")

const (
	pinMagic    = "oxy pin 1\nstate "
	pinBookmark = "\nbookmark "
	pinFrom     = "\nfrom "
)

// Encode is the one form of a pin.
func (p *Pin) Encode() []byte {
	return fmt.Appendf(nil, "%s%x %d%s%s%s%s\n", pinMagic, p.State, p.Len, pinBookmark, p.Bookmark, pinFrom, p.From)
}

// decodePin reads a pin that nobody vouches for.
func decodePin(b []byte) (*Pin, error) {
	if len(b) > maxPin {
		return nil, fmt.Errorf("%w: too long", errPin)
	}
	rest, ok := strings.CutPrefix(string(b), pinMagic)
	if !ok {
		return nil, fmt.Errorf("%w: it begins otherwise", errPin)
	}
	p := &Pin{}
	state, rest, ok1 := strings.Cut(rest, " ")
	count, rest, ok2 := strings.Cut(rest, pinBookmark)
	bookmark, from, ok3 := strings.Cut(rest, pinFrom)
	if !ok1 || !ok2 || !ok3 {
		return nil, fmt.Errorf("%w: a line is missing", errPin)
	}
	raw, err := hex.DecodeString(state)
	if err != nil || len(raw) != len(p.State) {
		return nil, fmt.Errorf("%w: no id of a state", errPin)
	}
	p.State = [32]byte(raw)
	if p.Len, err = strconv.ParseUint(count, 10, 32); err != nil || p.Len == 0 || p.State == [32]byte{} {
		return nil, fmt.Errorf("%w: a state without a change", errPin)
	}
	p.Bookmark, p.From = bookmark, strings.TrimSuffix(from, "\n")
	if err := safepath.CheckBookmark(p.Bookmark); err != nil {
		return nil, fmt.Errorf("%w: %w", errPin, err)
	}
	if err := checkFrom(p.From); err != nil {
		return nil, fmt.Errorf("%w: %w", errPin, err)
	}
	if !bytes.Equal(p.Encode(), b) {
		return nil, fmt.Errorf("%w: not in its one form", errPin)
	}
	return p, nil
}

// checkFrom refuses what a pin must not name: whatever stands in a change is for everybody who gets it. A path of this machine would
// have a stranger's change copy what lies there; a password would be everybody's.
func checkFrom(from string) error {
	a, err := sync.ParseAddress(from)
	switch {
	case err != nil:
		return err
	case a.User != nil:
		return fmt.Errorf("%s: it has a user or a password", safepath.Quote(sync.Hidden(from)))
	case a.Scheme == sync.S3:
		return fmt.Errorf("%s: a bucket, which everybody reaches with keys of their own", safepath.Quote(sync.Hidden(from)))
	case a.Scheme == sync.Path && !isRelative(from):
		return fmt.Errorf("%s: a path of one machine", safepath.Quote(from))
	case a.Scheme == sync.Path && (path.Clean(from) != strings.TrimPrefix(from, "./") || strings.Contains(from, `\`)):
		return fmt.Errorf("%s: a path in a roundabout way", safepath.Quote(from))
	}
	return nil
}

// isRelative tells whether a pin's address is seen from that of the outer repository.
func isRelative(from string) bool {
	return strings.HasPrefix(from, "./") || strings.HasPrefix(from, "../")
}

// seenFrom is the address that a pin means, for an outer repository that comes from outer. It is in a directory's place: ../x stands
// beside it.
func (p *Pin) seenFrom(outer string) (string, error) {
	if !isRelative(p.From) {
		return p.From, nil
	}
	a, err := sync.ParseAddress(outer)
	if err != nil {
		return "", err
	}
	switch a.Scheme {
	case sync.HTTP:
		scheme, rest, _ := strings.Cut(a.URL, "://")
		host, at, _ := strings.Cut(rest, "/")
		return scheme + "://" + host + path.Join("/"+at, p.From), nil
	case sync.S3:
		a.Path = strings.TrimPrefix(path.Join("/"+a.Path, p.From), "/")
		return a.String(), nil
	case sync.SSH:
		a.Path = path.Join(a.Path, p.From)
		if strings.HasPrefix(a.Path, "../") || a.Path == ".." || a.Path == "." {
			return "", fmt.Errorf("%s: it leads above the home directory", safepath.Quote(p.From))
		}
		return a.String(), nil
	}
	return filepath.Join(a.Path, filepath.FromSlash(p.From)), nil
}
