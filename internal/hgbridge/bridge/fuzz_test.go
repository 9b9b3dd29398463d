package bridge

import (
	"bytes"
	"testing"

	"github.com/oxy-vcs/oxy/revlog"
)

// FuzzSeen: what was kept of Mercurial's names, a map of authors and a list of nodes are read or refused; what is read is written the same.
func FuzzSeen(f *testing.F) {
	f.Add(encodeSeen(map[place]revlog.Node{{true, "v1"}: {1}, {false, "main"}: {2}}))
	f.Add([]byte("ada = Ada Lovelace <ada@example.org>\n# more\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if seen, err := decodeSeen(b); err == nil {
			again, err := decodeSeen(encodeSeen(seen))
			if err != nil || !bytes.Equal(encodeSeen(again), encodeSeen(seen)) {
				t.Errorf("%q is written as %q, %v", b, encodeSeen(seen), err)
			}
		}
		_, _ = ParseAuthors(b)
		if nodes, err := parseNodes(string(b)); err == nil && len(nodes)*len(revlog.Node{}) != len(b) {
			t.Errorf("%d nodes of %d bytes", len(nodes), len(b))
		}
		if len(b) < 200 {
			name := clean(string(b))
			if name != "" && clean(name) != name {
				t.Errorf("%q becomes %q, and that %q", b, name, clean(name))
			}
		}
	})
}
