package bucket

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// oneChange is the state of the one change of the vectors, as package state makes it.
const oneChange = "c07dee1f65ce6aa624192dfc07da2de60462ec4553923d592c18f9840a73b460"

// vector reads the objects of docs/spec/bucket.md.
func vector(t *testing.T) map[string][]byte {
	t.Helper()
	page, err := os.ReadFile("../../docs/spec/bucket.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "```vector\n")
	text, _, _ := strings.Cut(rest, "```")
	out := map[string][]byte{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if b, err := hex.DecodeString(line); err == nil {
			out[name] = append(out[name], b...)
		} else {
			name = line
		}
	}
	return out
}

// TestVector holds the page's bucket against what the code makes, and reads it as a clone does.
func TestVector(t *testing.T) {
	state, err := hex.DecodeString(oneChange)
	if err != nil {
		t.Fatal(err)
	}
	c := &change.Change{Message: "Begin"}
	meta, body := change.Encode(c)
	id := change.Sum(meta, body)
	u := &sync.Update{Kind: sync.Bookmark, Name: "main", Added: []change.ID{id}, State: [32]byte(state)}

	m := newMemory()
	b := New(m, "", newClient(m))
	w := b.newPack(context.Background())
	w.key = newKey(0)
	moves := []Move{{Generation: 1, State: u.State}}
	err = w.segment(moves, func(out *sync.Writer) error {
		if err := out.Change(&sync.Change{ID: id, Meta: meta, Body: body, Change: c}, nil); err != nil {
			return err
		}
		return out.Update(u)
	})
	if err != nil {
		t.Fatal(err)
	}
	pack, err := w.finish(true)
	if err != nil {
		t.Fatal(err)
	}
	page := vector(t)
	segment := page["packs/AAAQEAYEAUDAOCAJBIFQYDIOB4/0"]
	pack.Data = uint64(len(segment)) // a compressor may say the same otherwise
	pack.setTable(Table{{pack.Data, moves}})
	r := &Root{Generation: 2, First: "main", Packs: []Pack{pack}, Names: []Name{{sync.Bookmark, "main", u.State, 1, 1}}, Swept: 1_800_000_000}
	g := garbage{{newKey(1), 1_800_000_000}}
	if !bytes.Equal(page["root"], r.Encode()) || !bytes.Equal(page["garbage"], g.encode()) || len(segment) == 0 {
		t.Errorf("the code makes another bucket than the page has:\nroot\n%sgarbage\n%spacks/%s/0\n%s",
			dump(r.Encode()), dump(g.encode()), w.key, dump(m.objects["packs/"+w.key.String()+"/0"].data))
	}
	back, err := DecodeRoot(page["root"])
	if err != nil || !cmp.Equal(back, r) {
		t.Errorf("%v %v", cmp.Diff(r, back), err)
	}
	if back, err := decodeGarbage(page["garbage"]); err != nil || !slices.Equal(back, g) {
		t.Errorf("%v %v", back, err)
	}

	// And a clone of it.
	clone := newMemory()
	for name, data := range page {
		clone.put(name, data)
	}
	peer := New(clone, "", newClient(clone)).Dial(context.Background(), func() error { return nil })
	defer peer.Close()
	changes, updates := 0, 0
	err = peer.Do(context.Background(), func(w *sync.Writer) error {
		return w.Request(&sync.Request{Verb: sync.Fetch, Wants: []sync.Ref{{Kind: sync.Bookmark, Name: "main"}}})
	}, func(r *sync.Reader) error {
		if err := r.Reply(); err != nil {
			return err
		}
		return r.Pack(sync.Receiver{
			Known: func(change.ID) bool { return false },
			Change: func(got *sync.Change, texts *sync.Texts) error {
				if got.ID == id && got.Change.Message == c.Message {
					changes++
				}
				_, _, err := texts.Next()
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				return nil
			},
			Update: func(got *sync.Update) error {
				if cmp.Equal(got, u) {
					updates++
				}
				return nil
			},
		})
	})
	if err != nil || changes != 1 || updates != 1 {
		t.Errorf("%d changes, %d names, %v", changes, updates, err)
	}
}

func dump(b []byte) string {
	var s strings.Builder
	for ; len(b) > 0; b = b[min(len(b), 32):] {
		s.WriteString(hex.EncodeToString(b[:min(len(b), 32)]) + "\n")
	}
	return s.String()
}
