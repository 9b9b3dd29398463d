package hgbridge

import (
	"crypto/sha1"
	"encoding/hex"
	"path"
	"strings"
)

// encoding is how a store turns the path of a tracked file into the name of its revlog, by its requirements.
type encoding uint8

const (
	encodePlain  encoding = iota // no "store": as it is, but for directories that look like revlogs
	encodeSimple                 // "store": capitals and odd bytes escaped
	encodeHybrid                 // "fncache": also Windows' names; long names hashed
	encodeDot                    // "dotencode": also dots and blanks in front
)

// maxStorePath is how long a name may be that is not hashed, bytes; Windows' limit is behind it.
const maxStorePath = 120

// In a hashed name up to eight bytes of each directory are kept, and 68 of all with the slashes between.
const (
	shortDir  = 8
	shortDirs = 8*(shortDir+1) - 4
)

const hexDigits = "0123456789abcdef"

// storeName is the name, below the store, of the index that holds a file ("data/PATH.i") or a directory's manifests
// ("meta/DIR/00manifest.i").
func (e encoding) storeName(name string) string {
	name = guardDirs(name)
	switch e {
	case encodePlain:
		return name
	case encodeSimple:
		return escape(name)
	}
	dot := e == encodeDot
	// A name that is too long even before it grows is hashed at once, with the same result.
	parts := strings.Split(escape(name), "/")
	guardReserved(parts, dot)
	if encoded := strings.Join(parts, "/"); len(encoded) <= maxStorePath {
		return encoded
	}
	return hashName(name, dot)
}

// guardDirs appends ".hg" to directories whose names end like those of revlogs, so that none stands where a file's revlog does.
func guardDirs(name string) string {
	if !strings.Contains(name, ".hg/") && !strings.Contains(name, ".i/") && !strings.Contains(name, ".d/") {
		return name
	}
	name = strings.ReplaceAll(name, ".hg/", ".hg.hg/")
	name = strings.ReplaceAll(name, ".i/", ".i.hg/")
	return strings.ReplaceAll(name, ".d/", ".d.hg/")
}

// odd bytes are written as ~ and their value: controls, all but ASCII, and what Windows does not allow.
func odd(c byte) bool { return c < 32 || c >= 126 || strings.IndexByte(`\:*?"<>|`, c) >= 0 }

// escape makes a name that a file system that folds case can keep.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case odd(c):
			b.Write([]byte{'~', hexDigits[c>>4], hexDigits[c&15]})
		case c >= 'A' && c <= 'Z':
			b.Write([]byte{'_', c + 'a' - 'A'})
		case c == '_':
			b.WriteString("__")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// fold is escape for a hashed name, which need not be told back: capitals become small.
func fold(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case odd(c):
			b.Write([]byte{'~', hexDigits[c>>4], hexDigits[c&15]})
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// guardReserved escapes a byte of each part that Windows takes for a device, or whose last dot or blank it drops; with dot, also
// one in front.
func guardReserved(parts []string, dot bool) {
	for i, p := range parts {
		if p == "" {
			continue
		}
		if dot && (p[0] == '.' || p[0] == ' ') {
			p = tilde(p[0]) + p[1:]
		} else {
			stem, _, _ := strings.Cut(p, ".")
			device := false
			switch len(stem) {
			case 3:
				device = stem == "aux" || stem == "con" || stem == "prn" || stem == "nul"
			case 4:
				device = (stem[:3] == "com" || stem[:3] == "lpt") && stem[3] >= '1' && stem[3] <= '9'
			}
			if device {
				p = p[:2] + tilde(p[2]) + p[3:]
			}
		}
		if last := p[len(p)-1]; last == '.' || last == ' ' {
			p = p[:len(p)-1] + tilde(last)
		}
		parts[i] = p
	}
}

func tilde(c byte) string { return string([]byte{'~', hexDigits[c>>4], hexDigits[c&15]}) }

// hashName is the name of a file whose name is too long: "dh", pieces of its directories, as much of its name as fits, the hash
// of the whole, and what its name ends with.
func hashName(name string, dot bool) string {
	sum := sha1.Sum([]byte(name))
	digest := hex.EncodeToString(sum[:])
	parts := strings.Split(fold(name[len("data/"):]), "/")
	guardReserved(parts, dot)
	base := parts[len(parts)-1]
	end := path.Ext(base)
	if strings.TrimLeft(base, ".") == strings.TrimLeft(end, ".") { // dots in front are no extension's
		end = ""
	}
	var dirs strings.Builder
	for _, p := range parts[:len(parts)-1] {
		p = p[:min(len(p), shortDir)]
		if last := p[len(p)-1]; last == '.' || last == ' ' {
			p = p[:len(p)-1] + "_"
		}
		if dirs.Len() > 0 && dirs.Len()+len(p) > shortDirs {
			break
		}
		dirs.WriteString(p + "/")
	}
	room := maxStorePath - len("dh/") - dirs.Len() - len(digest) - len(end)
	return "dh/" + dirs.String() + base[:max(0, min(room, len(base)))] + digest + end
}
