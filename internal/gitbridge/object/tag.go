package object

import (
	"bytes"
	"errors"
	"fmt"
)

// What makes a tag one that cannot be taken. Everything else about it is kept as it is.
var (
	// ErrTagObject is a tag without a valid object line: fsck's missingObject and badObjectSha1.
	ErrTagObject = errors.New("tag names no object")
	// ErrTagType is a tag without a valid type line: fsck's missingTypeEntry, missingType and badType.
	ErrTagType = errors.New("tag names no type of object")
	// ErrTagName is a tag without a name: fsck's missingTagEntry and missingTag.
	ErrTagName = errors.New("tag has no name")
)

// Tag is a tag object. Rest is everything after the name's line, and aliases what was parsed.
type Tag struct {
	Object ID
	Kind   Kind // of the object, as the tag says
	Name   string
	Rest   []byte
}

// ParseTag parses a tag. Errors are those above and ErrLong.
func ParseTag(f Format, raw []byte) (Tag, error) {
	if len(raw) > MaxHistory {
		return Tag{}, fmt.Errorf("%w: %d bytes", ErrLong, len(raw))
	}
	var t Tag
	var ok bool
	if t.Object, t.Rest, ok = headerID(f, raw, "object "); !ok {
		return Tag{}, ErrTagObject
	}
	kind, rest, ok := headerLine(t.Rest, "type")
	if !ok {
		return Tag{}, ErrTagType
	}
	var err error
	if t.Kind, err = ParseKind(kind); err != nil {
		return Tag{}, fmt.Errorf("%w: %w", ErrTagType, err)
	}
	name, rest, ok := headerLine(rest, "tag")
	if !ok {
		return Tag{}, ErrTagName
	}
	t.Name, t.Rest = string(name), rest
	return t, nil
}

// AppendTag appends the tag that ParseTag would give t for.
func AppendTag(b []byte, f Format, t *Tag) []byte {
	b = f.AppendHex(append(b, "object "...), t.Object)
	b = append(append(b, "\ntype "...), t.Kind.String()...)
	b = append(append(b, "\ntag "...), t.Name...)
	return append(append(b, '\n'), t.Rest...)
}

// Split parts the rest of a tag as Split of Commit does. Tags from before Git wrote a tagger have FieldRest alone.
func (t *Tag) Split() (Native, []Field) { return split(t.Rest, "tagger", "") }

// JoinTag builds the tag that was split, or a new one. The error wraps ErrField, or ErrTagName for a name that no line
// holds.
func JoinTag(f Format, object ID, kind Kind, name string, n Native, fields []Field) ([]byte, error) {
	if bytes.IndexByte([]byte(name), '\n') >= 0 {
		return nil, ErrTagName
	}
	rest, err := join(n, fields, "tagger", "")
	if err != nil {
		return nil, err
	}
	t := Tag{Object: object, Kind: kind, Name: name, Rest: rest}
	return AppendTag(nil, f, &t), nil
}

// Header is as Header of Commit.
func (t *Tag) Header(key string) []byte { return header(t.Rest, key) }
