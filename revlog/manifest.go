package revlog

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// ManifestEntry is a line of a manifest.
type ManifestEntry struct {
	// Path from the root in a flat manifest; a single name in a tree manifest. A part of the manifest's text.
	Path []byte
	// Node of the file's revision in its filelog, or of a directory's in its own manifest.
	Node Node
	// Flag is 'x' for an executable file, 'l' for a symbolic link, 't' for a directory of a tree manifest, else 0.
	Flag byte
}

// MaxManifestLine bounds a line of a manifest, bytes: paths end at 4 KiB on all systems, and Mercurial stores no longer ones.
const MaxManifestLine = 64 << 10

// Manifest reads the lines of a manifest's text, flat or tree, in order. (Source: mercurial/manifest.py.) Use it as
//
//	m := revlog.Manifest{Text: text}
//	for m.Next() { ... m.Entry ... }
//	err := m.Err()
type Manifest struct {
	Text  []byte        // what is left to read
	Entry ManifestEntry // the line read last
	err   error
}

// Next reads the next line into Entry. It reports false at the end and for a line that is no entry, not in order or there
// twice, upon which Err says which.
func (m *Manifest) Next() bool {
	if len(m.Text) == 0 || m.err != nil {
		return false
	}
	before := m.Entry.Path
	nul := bytes.IndexByte(m.Text[:min(len(m.Text), MaxManifestLine)], 0)
	if nul <= 0 || bytes.IndexByte(m.Text[:nul], '\n') >= 0 {
		m.err = corrupt("its manifest has a line without a path, after %q", before)
		return false
	}
	path, rest := m.Text[:nul], m.Text[nul+1:]
	if len(rest) < 41 || !decodeHex(&m.Entry.Node, rest) {
		m.err = corrupt("its manifest has no node for %q", path)
		return false
	}
	m.Entry.Flag = 0
	rest = rest[40:]
	if rest[0] != '\n' {
		m.Entry.Flag = rest[0]
		rest = rest[1:]
	}
	switch m.Entry.Flag {
	case 0, 'x', 'l', 't':
	default:
		m.err = corrupt("its manifest has flag %q for %q", m.Entry.Flag, path)
		return false
	}
	if len(rest) == 0 || rest[0] != '\n' {
		m.err = corrupt("its manifest has more than a flag for %q", path)
		return false
	}
	if before != nil && bytes.Compare(before, path) >= 0 {
		m.err = corrupt("its manifest has %q after %q", path, before)
		return false
	}
	m.Entry.Path, m.Text = path, rest[1:]
	return true
}

// Err is what ended the reading before the end of the text: ErrCorrupt, with the line. nil at the end.
func (m *Manifest) Err() error { return m.err }

// decodeHex reads 40 digits of lower case, the only one that Mercurial writes.
func decodeHex(n *Node, b []byte) bool {
	b = b[:40]
	for i := range n {
		hi, lo := unhexLower(b[2*i]), unhexLower(b[2*i+1])
		if hi|lo > 15 {
			return false
		}
		n[i] = hi<<4 | lo
	}
	return true
}

// unhexLower is the value of a hexadecimal digit of lower case, or more than 15.
func unhexLower(c byte) byte {
	if d := c - '0'; d < 10 {
		return d
	}
	if d := c - 'a'; d < 6 {
		return d + 10
	}
	return 255
}

// AppendManifest appends a manifest's line to its text. Lines must be appended in the order of their paths. Its error tells of a path or flag
// that cannot stand there.
func AppendManifest(dst []byte, e ManifestEntry) ([]byte, error) {
	if len(e.Path) == 0 || len(e.Path) > MaxManifestLine-64 || bytes.ContainsAny(e.Path, "\n\r\x00") {
		return dst, fmt.Errorf("path %q cannot stand in a manifest", e.Path)
	}
	dst = append(append(dst, e.Path...), 0)
	dst = hex.AppendEncode(dst, e.Node[:])
	switch e.Flag {
	case 0:
	case 'x', 'l', 't':
		dst = append(dst, e.Flag)
	default:
		return dst, fmt.Errorf("path %q: no such flag as %q in a manifest", e.Path, e.Flag)
	}
	return append(dst, '\n'), nil
}
