package bridge

import (
	"bytes"
	"maps"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
)

// FuzzSeen: what was kept of Git's refs, of exported commits of a change's blobs and of known commits is read or refused; what is read is written the same.
func FuzzSeen(f *testing.F) {
	s := newSeen()
	s.refs["refs/heads/main"] = seenRef{object.ID{1}, object.ID{2}}
	s.tags[object.ID{3}] = change.Hash{4}
	f.Add(s.encode(object.SHA1))
	k := newKnown(object.SHA1)
	k.states[object.ID{5}], k.lacked[object.ID{6}] = 7, true
	f.Add(k.encode())
	f.Add(append(bytes.Repeat([]byte{7}, 20), "a\x00"...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := decodeSeen(b, object.SHA1); err == nil {
			again, err := decodeSeen(s.encode(object.SHA1), object.SHA1)
			if err != nil || !bytes.Equal(again.encode(object.SHA1), s.encode(object.SHA1)) {
				t.Errorf("%q is written as %q, %v", b, s.encode(object.SHA1), err)
			}
		}
		if n := len(decodeExported(b, object.SHA1)); n > len(b)/24 {
			t.Errorf("%d commits of %d bytes", n, len(b))
		}
		if n := len(decodeGiven(b, object.SHA1)); n > len(b)/52 {
			t.Errorf("%d commits of %d bytes", n, len(b))
		}
		_, _ = parseBlobs(object.SHA1, string(b))
		k := newKnown(object.SHA1)
		if states := uint32(1 << 16); k.decode(b, states) {
			again := newKnown(object.SHA1)
			if !again.decode(k.encode(), states) || !maps.Equal(again.states, k.states) || !maps.Equal(again.lacked, k.lacked) {
				t.Errorf("%q is read otherwise when it was written again", b)
			}
		}
	})
}
