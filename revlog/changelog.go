package revlog

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
)

// Changeset is a changelog's text, in its parts. The slices are parts of the text, and nothing is decoded to another
// character set: Mercurial writes UTF-8, older or foreign tools wrote what they had. Source: mercurial/changelog.py.
type Changeset struct {
	Manifest Node   // revision of the root manifest; NullNode: no files
	User     []byte // name and address in any form, without line breaks
	// Date is seconds since 1970 and the zone, seconds west of UTC, in decimal with a space between, as written; Time and
	// Zone read it. Old tools wrote fractions and nonsense.
	Date []byte
	// RawExtra is further fields, escaped, as written; Extra reads it. nil where none are written.
	RawExtra []byte
	// RawFiles is the paths that the changeset touches, a line each, the last without a line's end.
	RawFiles []byte
	// Description may be empty. Mercurial strips empty lines at both ends and blanks at the ends of lines.
	Description []byte
}

// Field is one of a changeset's further fields: "branch", "close", "source" and what extensions write.
type Field struct{ Key, Value string }

// ParseChangeset divides a changelog's text. An empty text is a changeset of nothing. The error, for a text that ends too early or has no
// node first, is ErrCorrupt.
func ParseChangeset(text []byte) (c Changeset, err error) {
	if len(text) == 0 {
		return c, nil
	}
	if len(text) < 41 || text[40] != '\n' || !decodeHex(&c.Manifest, text) {
		return c, corrupt("its changeset does not begin with a manifest's node")
	}
	rest := text[41:]
	var ok bool
	if c.User, rest, ok = bytes.Cut(rest, newline); !ok {
		return c, corrupt("its changeset ends inside the user")
	}
	var date []byte
	if date, rest, ok = bytes.Cut(rest, newline); !ok {
		return c, corrupt("its changeset ends inside the date")
	}
	// Seconds, zone, and all that follows a second blank.
	space := bytes.IndexByte(date, ' ')
	if space < 0 {
		return c, corrupt("its changeset has the date %q", date)
	}
	c.Date = date
	if end := bytes.IndexByte(date[space+1:], ' '); end >= 0 {
		c.Date, c.RawExtra = date[:space+1+end], date[space+1+end+1:]
	}
	if len(rest) > 0 && rest[0] == '\n' {
		c.Description = rest[1:]
		return c, nil
	}
	if c.RawFiles, c.Description, ok = bytes.Cut(rest, []byte("\n\n")); !ok {
		return c, corrupt("its changeset ends inside the list of files")
	}
	return c, nil
}

// AppendChangeset appends the text of a changeset, byte for byte as Mercurial writes it. Its error tells of a part that cannot be written:
// a line break in the user, say. It does not strip the description.
func AppendChangeset(dst []byte, c Changeset) ([]byte, error) {
	for _, part := range [][]byte{c.User, c.Date, c.RawExtra} {
		if bytes.IndexByte(part, '\n') >= 0 {
			return dst, fmt.Errorf("changeset: %q has a line break", part)
		}
	}
	if bytes.Count(c.Date, []byte{' '}) != 1 {
		return dst, fmt.Errorf("changeset: date %q, want two numbers", c.Date)
	}
	if f := c.RawFiles; len(f) > 0 && (f[0] == '\n' || f[len(f)-1] == '\n' || bytes.Contains(f, []byte("\n\n"))) {
		return dst, fmt.Errorf("changeset: an empty path")
	}
	dst = hex.AppendEncode(dst, c.Manifest[:])
	dst = append(append(append(dst, '\n'), c.User...), '\n')
	dst = append(dst, c.Date...)
	if c.RawExtra != nil {
		dst = append(append(dst, ' '), c.RawExtra...)
	}
	dst = append(dst, '\n')
	if len(c.RawFiles) > 0 {
		dst = append(append(dst, c.RawFiles...), '\n')
	}
	return append(append(dst, '\n'), c.Description...), nil
}

// Files are the paths that the changeset touches, in its order.
func (c *Changeset) Files() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := c.RawFiles; len(rest) > 0; {
			var path []byte
			path, rest, _ = bytes.Cut(rest, newline)
			if !yield(path) {
				return
			}
		}
	}
}

// Time is seconds since 1970, a fraction cut off, and how many seconds west of UTC the writer's clock was, 0 where that is no
// number, as Mercurial reads it. The error is of a date that does not begin with a number.
func (c *Changeset) Time() (seconds int64, west int, err error) {
	first, second, _ := bytes.Cut(c.Date, []byte{' '})
	if seconds, err = strconv.ParseInt(string(first), 10, 64); err != nil {
		f, ferr := strconv.ParseFloat(string(first), 64)
		if ferr != nil || !(f > -1<<62 && f < 1<<62) {
			return 0, 0, corrupt("its changeset has the date %q", c.Date)
		}
		seconds, err = int64(f), nil
	}
	if west, err = strconv.Atoi(string(second)); err != nil {
		west = 0
	}
	return seconds, west, nil
}

// MaxFields bounds a changeset's further fields. Mercurial writes a handful.
const MaxFields = 10_000

// Extra are the changeset's further fields in the order written, which is that of their keys. ErrCorrupt: one has no key; ErrTooLarge: there are
// more than MaxFields.
func (c *Changeset) Extra() ([]Field, error) {
	var fields []Field
	for rest := c.RawExtra; len(rest) > 0; {
		var item []byte
		item, rest, _ = bytes.Cut(rest, []byte{0})
		if len(item) == 0 {
			continue
		}
		key, value, ok := bytes.Cut(unescape(item), []byte{':'})
		if !ok {
			return nil, corrupt("its changeset has the field %q", item)
		}
		if len(fields) == MaxFields {
			return nil, fmt.Errorf("%w: over %d fields in a changeset", ErrTooLarge, MaxFields)
		}
		fields = append(fields, Field{string(key), string(value)})
	}
	return fields, nil
}

// EncodeExtra is the RawExtra of fields, which must be in the order of their keys.
func EncodeExtra(fields []Field) []byte {
	var b []byte
	for i, f := range fields {
		if i > 0 {
			b = append(b, 0)
		}
		for _, c := range []byte(f.Key + ":" + f.Value) {
			switch c {
			case '\\':
				b = append(b, `\\`...)
			case '\n':
				b = append(b, `\n`...)
			case '\r':
				b = append(b, `\r`...)
			case 0:
				b = append(b, `\0`...)
			default:
				b = append(b, c)
			}
		}
	}
	return b
}

// Branch is the named branch, "default" where none is written, and whether the changeset closes it. Its error is that of Extra.
func (c *Changeset) Branch() (name string, closes bool, err error) {
	fields, err := c.Extra()
	name = "default"
	for _, f := range fields {
		switch f.Key {
		case "branch":
			name = f.Value
		case "close":
			closes = true
		}
	}
	return name, closes, err
}

// unescape undoes what EncodeExtra and older writers, Python's string escapes, did. What is no escape stays as it is.
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch c := b[i]; c {
		case '0':
			out = append(out, 0)
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'a':
			out = append(out, '\a')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'v':
			out = append(out, '\v')
		case '\\', '\'', '"':
			out = append(out, c)
		case 'x':
			if i+2 < len(b) && unhex(b[i+1])|unhex(b[i+2]) <= 15 {
				out = append(out, unhex(b[i+1])<<4|unhex(b[i+2]))
				i += 2
				continue
			}
			out = append(out, '\\', c)
		default:
			out = append(out, '\\', c)
		}
	}
	return out
}
