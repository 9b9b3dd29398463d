package revlog

import (
	"bytes"
	"fmt"
	"slices"
)

// A file's text may begin with metadata between two markers: where it was copied from, or that it is a tombstone. Without
// metadata, a text that itself begins with the marker gets an empty stretch of it, so that the two are told apart.
var metaMarker = []byte{1, '\n'}

// MaxMeta bounds the metadata of one file revision, bytes. Copies name one path, which no system lets be longer than 4 KiB;
// tombstones may hold a reason.
const MaxMeta = 64 << 10

// Meta is the metadata of a file revision. Source: mercurial/filelog.py and utils/storageutil.py.
type Meta struct {
	// CopySource is the path in the repository that the file was copied or renamed from, empty if it was not; CopyNode the
	// file revision it had there.
	CopySource string
	CopyNode   Node
	// Censored reports a tombstone, with the reason given.
	Censored bool
	Reason   string
	// Other has all further keys, sorted, which Mercurial gives no meaning to.
	Other []Field
}

// SplitFile divides a file revision's text into its metadata and the file's contents, which is a part of text. ErrCorrupt: the metadata does
// not end within MaxMeta bytes, or has a line that is none.
func SplitFile(text []byte) (m Meta, contents []byte, err error) {
	if !bytes.HasPrefix(text, metaMarker) {
		return m, text, nil
	}
	end := bytes.Index(text[2:min(len(text), 2+MaxMeta)], metaMarker)
	if end < 0 {
		return m, nil, corrupt("its metadata does not end within %d bytes", MaxMeta)
	}
	block := text[2 : 2+end]
	for len(block) > 0 {
		line, rest, _ := bytes.Cut(block, newline)
		block = rest
		key, value, ok := bytes.Cut(line, []byte(": "))
		if !ok {
			return m, nil, corrupt("its metadata has the line %q", line)
		}
		if err := m.set(string(key), string(value)); err != nil {
			return m, nil, err
		}
	}
	return m, text[2+end+2:], nil
}

func (m *Meta) set(key, value string) (err error) {
	switch key {
	case "copy":
		m.CopySource = value
	case "copyrev":
		if m.CopyNode, err = ParseNode(value); err != nil {
			return corrupt("its metadata: %v", err)
		}
	case "censored":
		m.Censored, m.Reason = true, value
	default:
		m.Other = append(m.Other, Field{key, value})
	}
	return nil
}

// JoinFile appends to dst a file revision's text of metadata and contents, byte for byte as Mercurial has it. Its error tells of a key or
// value that cannot be written.
func JoinFile(dst []byte, m Meta, contents []byte) ([]byte, error) {
	fields := slices.Clone(m.Other)
	if m.CopySource != "" {
		fields = append(fields, Field{"copy", m.CopySource}, Field{"copyrev", m.CopyNode.String()})
	}
	if m.Censored {
		fields = append(fields, Field{"censored", m.Reason})
	}
	if len(fields) == 0 && !bytes.HasPrefix(contents, metaMarker) {
		return append(dst, contents...), nil
	}
	slices.SortStableFunc(fields, func(a, b Field) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
	dst = append(dst, metaMarker...)
	for _, f := range fields {
		if bytes.ContainsAny([]byte(f.Key), ":\n\x01") || bytes.ContainsAny([]byte(f.Value), "\n") {
			return dst, fmt.Errorf("metadata %q: %q has characters that cannot be kept", f.Key, f.Value)
		}
		dst = fmt.Appendf(dst, "%s: %s\n", f.Key, f.Value)
	}
	return append(append(dst, metaMarker...), contents...), nil
}
