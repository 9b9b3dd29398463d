package hgbridge

import (
	"bytes"
	"testing"

	"github.com/oxy-vcs/oxy/revlog"
)

// Markers are read to the end or refused, and each moves on.
func FuzzMarkers(f *testing.F) {
	f.Add(byte(0), append([]byte{1, 0, 0, 0, 2, 0}, make([]byte, 42)...))
	f.Add(byte(1), append(append([]byte{0, 0, 0, 39}, make([]byte, 15)...), make([]byte, 20)...))
	f.Fuzz(func(t *testing.T, version byte, b []byte) {
		for len(b) > 0 {
			read := marker0
			if version&1 == 1 {
				read = marker1
			}
			_, size, ok := read(b)
			if !ok {
				return
			}
			if size <= 0 || size > len(b) {
				t.Fatalf("a marker of %d bytes, %d are left", size, len(b))
			}
			b = b[size:]
		}
	})
}

// What two files say of tags is united without losing what either says.
func FuzzTags(f *testing.F) {
	node := bytes.Repeat([]byte("0a"), 20)
	f.Add(append(append(node, " one\n"...), append(node, " two words\n"...)...), []byte("x\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		one, two := parseTags(a), parseTags(b)
		for name, mine := range one {
			united := newer(mine, two[name])
			for _, h := range []history{mine, two[name]} {
				for _, node := range h {
					found := false
					for _, had := range united {
						found = found || had == node
					}
					if !found {
						t.Fatalf("tag %q loses %s", name, node)
					}
				}
			}
		}
	})
}

// Flat manifests are searched and compared without a fault, and divided into directories and back.
func FuzzManifests(f *testing.F) {
	node := string(bytes.Repeat([]byte("0a"), 20))
	f.Add([]byte("a\x00"+node+"\na/b\x00"+node+"x\n"), []byte("a\x00"+node+"\n"), "a/b")
	f.Fuzz(func(t *testing.T, a, b []byte, path string) {
		if line := findLine(a, path); line != nil && !bytes.HasPrefix(line, []byte(path)) {
			t.Fatalf("%q is found as %q", path, line)
		}
		Differences(a, b, func(d Difference) error {
			if d.Old == d.New && d.OldFlag == d.NewFlag {
				t.Fatalf("%q does not differ", d.Path)
			}
			return nil
		})
		TreeManifests(a, func(dir string, text []byte) (revlog.Node, error) { return revlog.Node{1}, nil })
	})
}
