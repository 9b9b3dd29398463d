package state

import (
	"encoding/binary"

	"github.com/oxy-vcs/oxy/internal/change"
)

// fileItem is what the identity tree knows of a file.
type fileItem struct {
	key    string // fileKey of the file
	file   change.FileID
	path   string // where it stands, last stood, or would stand
	status fileStatus
	// Only when gone: the change and file ordinal that removed it, and what its entry had.
	by          change.FileID
	weave, acts Ref
}

type fileStatus byte

const (
	fileShown  fileStatus = iota
	fileGone              // it does not exist
	fileHidden            // it exists and stands nowhere
)

// fileKey orders files by change, then ordinal.
func fileKey(id change.FileID) string {
	var k [8]byte
	putFileKey(&k, id)
	return string(k[:])
}

func putFileKey(k *[8]byte, id change.FileID) {
	binary.BigEndian.PutUint32(k[:4], id.Change)
	binary.BigEndian.PutUint32(k[4:], id.Ord)
}

// The flags of a file in a page.
const (
	fileNext byte = 1 << 0 // the file after the previous one, of the same change

	fileStatusShift      = 1 // two bits
	fileStatusMask  byte = 3

	fileWeave   byte = 1 << 3
	fileActs    byte = 1 << 4
	fileUnknown byte = 1 << 5
)

func appendFile(buf []byte, prev, f *fileItem) []byte {
	flags := byte(f.status) << fileStatusShift
	n := 0
	if prev != nil {
		n = shared(prev.path, f.path)
		if follows(prev.file, f.file) {
			flags |= fileNext
		}
	}
	if f.weave != 0 {
		flags |= fileWeave
	}
	if f.acts != 0 {
		flags |= fileActs
	}
	buf = append(buf, flags)
	if flags&fileNext == 0 {
		buf = appendFileID(buf, f.file)
	}
	buf = appendKey(buf, n, f.path)
	if f.status == fileGone {
		buf = appendFileID(buf, f.by)
	}
	if f.weave != 0 {
		buf = appendRef(buf, f.weave)
	}
	if f.acts != 0 {
		buf = appendRef(buf, f.acts)
	}
	return buf
}

// file reads all of a file but its path, the parts of which it returns. last is the file before it.
func (r *reader) file(self Ref, last change.FileID, first bool, f *fileItem) (shares int, suffix []byte) {
	flags := r.byte()
	f.status = fileStatus(flags >> fileStatusShift & fileStatusMask)
	if flags >= fileUnknown || f.status > fileHidden || f.status != fileGone && flags&(fileWeave|fileActs) != 0 {
		r.fail()
	}
	if flags&fileNext != 0 {
		f.file = change.FileID{Change: last.Change, Ord: last.Ord + 1}
		if first || f.file.Ord == 0 {
			r.fail()
		}
	} else {
		f.file = r.fileID()
		if !first && (compareFiles(f.file, last) <= 0 || follows(last, f.file)) {
			r.fail()
		}
	}
	shares, suffix = r.key()
	f.by = change.FileID{}
	if f.status == fileGone {
		f.by = r.fileID()
	}
	f.weave = r.flaggedRef(self, flags&fileWeave != 0)
	f.acts = r.flaggedRef(self, flags&fileActs != 0)
	return shares, suffix
}

func compareFiles(a, b change.FileID) int {
	switch {
	case a == b:
		return 0
	case a.Change < b.Change || a.Change == b.Change && a.Ord < b.Ord:
		return -1
	}
	return 1
}

// decodeFiles appends the files of a leaf to items. Keys and paths are slices of one string.
func decodeFiles(self Ref, payload []byte, items []fileItem, s *scratch) ([]fileItem, bool) {
	r := reader{buf: payload}
	s.reset()
	start := len(items)
	var last change.FileID
	var lastPath []byte
	for first := true; len(r.buf) > 0; first = false {
		items = append(items, fileItem{})
		f := &items[len(items)-1]
		shares, suffix := r.file(self, last, first, f)
		if shares < len(lastPath) && len(suffix) > 0 && lastPath[shares] == suffix[0] {
			r.fail() // it shares more than it says
		}
		var key [8]byte
		putFileKey(&key, f.file)
		s.text = append(s.text, key[:]...)
		at := len(s.text)
		s.add(&r, lastPath, shares, suffix, true)
		last, lastPath = f.file, s.text[at:]
	}
	if r.bad {
		return items[:start], false
	}
	text := string(s.text)
	for i := range items[start:] {
		f, at := &items[start+i], s.starts[i]
		f.key, f.path = text[at:at+8], text[at+8:s.starts[i+1]]
	}
	return items, true
}

// findFile looks for a file in a leaf. What it finds has no key.
func findFile(self Ref, payload []byte, id change.FileID) (f fileItem, found, ok bool) {
	r := reader{buf: payload}
	var path []byte
	for first := true; len(r.buf) > 0; first = false {
		shares, suffix := r.file(self, f.file, first, &f)
		if r.bad || shares > len(path) || shares+len(suffix) > MaxPath {
			return fileItem{}, false, false
		}
		path = append(path[:shares], suffix...)
		switch compareFiles(f.file, id) {
		case 0:
			f.path = string(path)
			return f, true, true
		case 1:
			return fileItem{}, false, true
		}
	}
	return fileItem{}, false, !r.bad
}
