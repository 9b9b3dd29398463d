package hgbridge

import "testing"

func FuzzSubrepos(f *testing.F) {
	f.Add([]byte("lib = ../lib\nvendor/x = [git]https://example.org/x.git\n[subpaths]\n"), []byte("3f0e8b2d9c0a1b2c3d4e5f60718293a4b5c6d7e8 lib\n"))
	f.Add([]byte("a =\n"), []byte("0 a\n"))
	f.Fuzz(func(t *testing.T, sources, states []byte) {
		subs, err := parseSubrepos(sources, states)
		if err == nil && len(subs) > len(sources) {
			t.Errorf("%d subrepositories of %d bytes", len(subs), len(sources))
		}
	})
}
