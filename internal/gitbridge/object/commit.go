package object

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxHistory is the longest commit or tag in bytes. All of it must fit in the meta of a change (16 MiB) even when it is
// kept as it is.
const MaxHistory = 15 << 20

// MaxParents bounds the parents of a commit, whose trees are walked at once, 200 bytes for each in every directory on the
// way. The largest merge that anybody tells of has 66.
const MaxParents = 1024

// What makes a commit one that cannot be taken: without its tree and parents there is no state to import. Everything
// else about a commit is kept as it is.
var (
	// ErrMissingTree is a commit that does not begin with a tree: fsck's missingTree.
	ErrMissingTree = errors.New("commit has no tree")
	// ErrBadTreeID is fsck's badTreeSha1 in a commit.
	ErrBadTreeID = errors.New("commit names its tree by what is no id")
	// ErrBadParentID is fsck's badParentSha1.
	ErrBadParentID = errors.New("commit names a parent by what is no id")
	// ErrManyParents is a commit with more than MaxParents parents.
	ErrManyParents = errors.New("commit has too many parents")
	// ErrLong is a commit or tag above MaxHistory.
	ErrLong = errors.New("commit or tag is too long")
)

// Commit is a commit object. Rest is everything after the parents, and aliases what was parsed.
type Commit struct {
	Tree    ID
	Parents []ID // in order, repetitions too
	Rest    []byte
}

// ParseCommit parses a commit. Parents are appended to parents, which may be nil. Errors are those above.
func ParseCommit(f Format, raw []byte, parents []ID) (Commit, error) {
	if len(raw) > MaxHistory {
		return Commit{}, fmt.Errorf("%w: %d bytes", ErrLong, len(raw))
	}
	c := Commit{Parents: parents}
	tree, rest, ok := headerID(f, raw, "tree ")
	if !ok {
		if bytes.HasPrefix(raw, []byte("tree ")) {
			return Commit{}, ErrBadTreeID
		}
		return Commit{}, ErrMissingTree
	}
	c.Tree = tree
	for n := 0; bytes.HasPrefix(rest, []byte("parent ")); n++ {
		var p ID
		if p, rest, ok = headerID(f, rest, "parent "); !ok {
			return Commit{}, ErrBadParentID
		}
		if n == MaxParents {
			return Commit{}, ErrManyParents
		}
		c.Parents = append(c.Parents, p)
	}
	c.Rest = rest
	return c, nil
}

// headerID takes a line of key, an id and a line feed from the front of b.
func headerID(f Format, b []byte, key string) (id ID, rest []byte, ok bool) {
	end := len(key) + 2*f.Size()
	if len(b) <= end || string(b[:len(key)]) != key || b[end] != '\n' {
		return ID{}, nil, false
	}
	id, err := ParseID(f, b[len(key):end])
	return id, b[end+1:], err == nil
}

// AppendCommit appends the commit that Parse would give c for.
func AppendCommit(b []byte, f Format, c *Commit) []byte {
	b = append(b, "tree "...)
	b = f.AppendHex(b, c.Tree)
	b = append(b, '\n')
	for _, p := range c.Parents {
		b = append(b, "parent "...)
		b = f.AppendHex(b, p)
		b = append(b, '\n')
	}
	return append(b, c.Rest...)
}

// Split parts the rest of a commit into what a change holds itself and extra fields for what it does not.
func (c *Commit) Split() (Native, []Field) { return split(c.Rest, "author", "committer") }

// JoinCommit builds the commit that was split, or a new one from a change that never was a commit: then the committer is
// the author. Fields that are not the bridge's own are not looked at. The error wraps ErrField.
func JoinCommit(f Format, tree ID, parents []ID, n Native, fields []Field) ([]byte, error) {
	rest, err := join(n, fields, "author", "committer")
	if err != nil {
		return nil, err
	}
	c := Commit{Tree: tree, Parents: parents, Rest: rest}
	return AppendCommit(nil, f, &c), nil
}

// Header is the value of a header after the parents, with the line feeds and without the leading spaces of its
// continuation lines; nil without one. It is for reports: "encoding", "gpgsig", "mergetag".
func (c *Commit) Header(key string) []byte { return header(c.Rest, key) }

// CommitTime is when the commit was made in seconds since 1970, or 0 where it does not say.
func (c *Commit) CommitTime() int64 {
	line, _, _ := headerLine(c.Rest, "committer")
	p, _ := parsePerson(line)
	return p.Sec
}

func header(rest []byte, key string) []byte {
	var value []byte
	found := false
	for len(rest) > 0 && rest[0] != '\n' {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		switch {
		case found && line[0] == ' ':
			value = append(append(value, '\n'), line[1:]...)
		case found:
			return value
		case len(line) > len(key) && line[len(key)] == ' ' && string(line[:len(key)]) == key:
			value, found = append([]byte{}, line[len(key)+1:]...), true
		}
	}
	return value
}

// headerLine takes the value of a header that must come first in b.
func headerLine(b []byte, key string) (value, rest []byte, ok bool) {
	if len(b) <= len(key) || string(b[:len(key)]) != key || b[len(key)] != ' ' {
		return nil, b, false
	}
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return nil, b, false
	}
	return b[len(key)+1 : end], b[end+1:], true
}
