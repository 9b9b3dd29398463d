package worktree

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/zeebo/blake3"
	"github.com/zeebo/xxh3"
)

// MaxConeFile bounds the file: the most directories at 400 bytes each.
const MaxConeFile = 4 << 20

// The first line and the beginning of the last.
const (
	coneHead = "oxy sparse 1\n"
	coneSum  = "sum "
)

// ErrBadCone says that a cone's file is not what Encode writes.
var ErrBadCone = errors.New("list of directories is damaged")

// Encode writes the cone as docs/spec/sparse.md has it.
func (c *Cone) Encode() []byte {
	b := []byte(coneHead)
	for _, d := range c.dirs {
		for i := range len(d) {
			switch d[i] {
			case '\n':
				b = append(b, `\n`...)
			case '\\':
				b = append(b, `\\`...)
			default:
				b = append(b, d[i])
			}
		}
		b = append(b, '\n')
	}
	return fmt.Appendf(b, "%s%016x\n", coneSum, xxh3.Hash(b))
}

// DecodeCone reads what Encode wrote, and nothing else: errors are ErrBadCone with what is wrong.
func DecodeCone(b []byte) (*Cone, error) {
	if len(b) > MaxConeFile {
		return nil, fmt.Errorf("%w: %d bytes", ErrBadCone, len(b))
	}
	rest, ok := strings.CutPrefix(string(b), coneHead)
	if !ok {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrBadCone)
	}
	if n := strings.Count(rest, "\n"); n > maxConeDirs+1 {
		return nil, fmt.Errorf("%w: more than %d directories", ErrBadCone, maxConeDirs)
	}
	lines := strings.Split(rest, "\n")
	if len(lines) < 2 {
		return nil, fmt.Errorf("%w: its end is missing", ErrBadCone)
	}
	dirs := lines[:len(lines)-2] // the sum and the end of its line come last
	for i, line := range dirs {
		var err error
		if dirs[i], err = unescape(line); err != nil {
			return nil, err
		}
	}
	c, err := NewCone(dirs)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadCone, err)
	}
	if !bytes.Equal(c.Encode(), b) {
		return nil, fmt.Errorf("%w: its sum does not fit, or it is out of order", ErrBadCone)
	}
	return c, nil
}

func unescape(line string) (string, error) {
	if !strings.Contains(line, `\`) {
		return line, nil
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		c := line[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		if i++; i == len(line) {
			return "", fmt.Errorf("%w: a line ends in a backslash", ErrBadCone)
		}
		switch line[i] {
		case 'n':
			out = append(out, '\n')
		case '\\':
			out = append(out, '\\')
		default:
			return "", fmt.Errorf(`%w: \%c means nothing`, ErrBadCone, line[i])
		}
	}
	return string(out), nil
}

// BaseID is the id by which a manifest names a state: that of the state itself in a whole working copy, and in a sparse one a
// hash of it and of the directories. So a manifest that was made for others is never taken for this one's.
func (c *Cone) BaseID(state [32]byte) [32]byte {
	if c == nil {
		return state
	}
	h := blake3.New()
	h.Write(state[:])
	h.Write(c.Encode())
	var id [32]byte
	h.Sum(id[:0])
	return id
}
