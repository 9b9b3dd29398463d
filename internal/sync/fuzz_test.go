package sync

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// FuzzAddress: what is taken for an address is shown without secrets and without what commands a terminal, and names no option.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"/a/b", "ssh://ada@example.org:22/x", "example.org:x", "http://ada:secret@example.org/x", "s3://bucket/a?endpoint=http://x",
		"ssh://-oProxyCommand=x/y", "ext::sh -c x", "a\x1b[31m", "C:\\x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			return
		}
		shown := a.String()
		if a.User != nil {
			if secret, ok := a.User.Password(); ok && len(secret) > 8 && strings.Contains(shown, secret) && !strings.Contains(a.URL, secret) {
				t.Errorf("%q is shown as %q", s, shown)
			}
		}
		if a.Scheme != Path && strings.HasPrefix(a.Host, "-") {
			t.Errorf("%q has the host %q", s, a.Host)
		}
		_ = Hidden(s)
	})
}

// FuzzReplies hands each kind of answer the same frames with right checksums: whatever a server sends is read or refused.
func FuzzReplies(f *testing.F) {
	ref := appendRef(nil, Ref{Kind: Bookmark, Name: "main", State: [32]byte{1}, Len: 3})
	for verb := range byte(11) {
		b := append([]byte{'P', 1, Version, 'R', byte(len(ref))}, ref...)
		f.Add(verb, append(b, 'Z', 0))
		f.Add(verb, append([]byte{'P', 1, Version, 'M', 1, 9, 'D', 2, 1, 1, 'K', 33}, append(make([]byte, 32), 1, 'D', 1, 7, 'Z', 0)...))
		f.Add(verb, append([]byte{'P', 1, Version, 'F', 32}, append(make([]byte, 32), 'M', 1, 2, 'D', 2, 1, 1, 'S', 4, 1, 2, 3, 4, 'Z', 0)...))
		f.Add(verb, []byte{'P', 1, Version, 'A', 3, 1, 2, 3, 'G', 1, 1, 'D', 1, 0, 'E', 2, 'n', 'o'})
	}
	f.Fuzz(func(t *testing.T, verb byte, b []byte) {
		var list []any
		for len(b) >= 2 {
			n := min(int(b[1]), len(b)-2)
			list = append(list, frameKind(b[0]), b[2:2+n])
			b = b[2+n:]
		}
		r, err := NewReader(bytes.NewReader(frames(list...)), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Reply(); err != nil {
			return
		}
		switch verb % 11 {
		case 0:
			_, _ = r.Refs()
		case 1:
			_, _ = r.Answers()
		case 2:
			_, _ = r.Marks(9)
		case 3:
			_ = r.Contents(func(_ change.Hash, size int64, from io.Reader) error {
				n, err := io.Copy(io.Discard, from)
				if err == nil && n != size {
					return errors.New("another length")
				}
				return err
			})
		case 4:
			_, _ = r.RangesReply()
		case 5:
			_ = r.End()
		case 6:
			w, err := NewWriter(io.Discard, Raw)
			if err != nil {
				t.Fatal(err)
			}
			_ = r.Pass(w, func(change.ID) bool { return false }, func(*Update) error { return nil })
		case 7:
			_, _ = r.Listing()
		case 8:
			_, _ = r.SignedList()
		case 9:
			_, _ = r.Given(9)
		default:
			_ = r.Gather(io.Discard)
		}
	})
}
