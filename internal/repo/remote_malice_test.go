package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// crafted makes a stream by hand.
type crafted struct {
	t *testing.T
	b bytes.Buffer
	w *sync.Writer
}

func craft(t *testing.T) *crafted {
	t.Helper()
	c := &crafted{t: t}
	var err error
	if c.w, err = sync.NewWriter(&c.b, sync.Zstd); err != nil {
		t.Fatal(err)
	}
	c.check(c.w.Bundle(false))
	return c
}

func (c *crafted) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// add is a change that adds files with these contents, by path.
func add(message string, deps []change.ID, files ...string) (*change.Change, map[int]string) {
	c := &change.Change{Author: change.Person{Name: "Eve", Email: "eve@example.org"}, Message: message, Deps: deps}
	texts := map[int]string{}
	for i := 0; i < len(files); i += 2 {
		f := change.File{ID: change.FileID{Change: change.Self, Ord: uint32(len(c.Files))}, Writes: change.WritesPlace | change.WritesMode | change.WritesBody,
			Path: files[i], Size: uint64(len(files[i+1])), Content: hashOf([]byte(files[i+1]))}
		texts[len(c.Files)] = files[i+1]
		c.Files = append(c.Files, f)
	}
	return c, texts
}

// change puts a change and gives its id.
func (c *crafted) change(ch *change.Change, texts map[int]string) change.ID {
	c.t.Helper()
	meta, body := change.Encode(ch)
	out := &sync.Change{ID: change.Sum(meta, body), Meta: meta, Body: body, Change: ch}
	c.check(c.w.Change(out, func(w io.Writer, ord int) error {
		_, err := io.WriteString(w, texts[ord])
		return err
	}))
	return out.ID
}

func idOf(ids ...change.ID) [32]byte {
	var h state.SetHash
	for _, id := range ids {
		h.Add(id)
	}
	return h.Bytes()
}

func (c *crafted) main(ids ...change.ID) {
	c.t.Helper()
	c.check(c.w.Update(&sync.Update{Kind: sync.Bookmark, Name: "main", Added: ids, State: idOf(ids...)}))
}

// tags tells of some tags with which nothing is wrong, each with one change more than the one before.
func (c *crafted) tags(n int) {
	c.t.Helper()
	var ids []change.ID
	for i := range n {
		name := fmt.Sprint("t", i)
		ids = append(ids, c.change(add(name, nil, name, name+"\n")))
		c.check(c.w.Update(&sync.Update{Kind: sync.Tag, Name: name, Added: ids, State: idOf(ids...)}))
	}
}

// TestMalice: whatever a peer makes up, nothing of it is seen, and the reason is told.
func TestMalice(t *testing.T) {
	opt := syncEnv(t)
	for _, m := range []struct {
		name, why string
		make      func(c *crafted)
	}{
		{"a state that is another", "make another state", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			id := c.change(ch, texts)
			c.check(c.w.Update(&sync.Update{Kind: sync.Bookmark, Name: "main", Added: []change.ID{id}, State: [32]byte{1}}))
		}},
		{"a text of another hash", "another hash", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			texts[0] = "b\n"
			c.main(c.change(ch, texts))
		}},
		{"a large text of another hash", "another hash", func(c *crafted) {
			ch, texts := add("x", nil, "a", strings.Repeat("a\n", 9000))
			texts[0] = strings.Repeat("b\n", 9000)
			c.main(c.change(ch, texts))
		}},
		{"a huge text of another hash", "another hash", func(c *crafted) {
			ch, texts := add("x", nil, "a", strings.Repeat("a\n", 900_000))
			texts[0] = strings.Repeat("b\n", 900_000)
			c.main(c.change(ch, texts))
		}},
		{"a change of another id", "another hash than its name", func(c *crafted) {
			ch, _ := add("x", nil)
			meta, body := change.Encode(ch)
			c.check(c.w.Change(&sync.Change{ID: change.ID{7}, Meta: meta, Body: body, Change: ch}, nil))
		}},
		{"an encoding that is another", "malformed change", func(c *crafted) {
			ch, _ := add("x", nil)
			meta, body := change.Encode(ch)
			body = append(body, 0)
			c.check(c.w.Change(&sync.Change{ID: change.Sum(meta, body), Meta: meta, Body: body, Change: ch}, nil))
		}},
		{"a dependency that is missing", "builds on changes that are not here", func(c *crafted) {
			ch, texts := add("x", []change.ID{{9}}, "a", "a\n")
			c.main(c.change(ch, texts))
		}},
		{"a log without a dependency", "without", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			first := c.change(ch, texts)
			ch, texts = add("y", []change.ID{first}, "b", "b\n")
			c.main(c.change(ch, texts))
		}},
		{"a log with a change twice", "twice", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			id := c.change(ch, texts)
			c.main(id, id)
		}},
		{"a log of what is not here", "is not here", func(c *crafted) { c.main(change.ID{1}) }},
		{"a log that leaves out what is not there", "leaves out", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			id := c.change(ch, texts)
			c.check(c.w.Update(&sync.Update{Kind: sync.Bookmark, Name: "main", Removed: []change.ID{id}, Added: []change.ID{id}, State: idOf(id)}))
		}},
		{"a name that is an option", "bookmark", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			id := c.change(ch, texts)
			c.check(c.w.Update(&sync.Update{Kind: sync.Bookmark, Name: "-x", Added: []change.ID{id}, State: idOf(id)}))
		}},
		{"a name that leads outside", "bookmark", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			id := c.change(ch, texts)
			c.check(c.w.Update(&sync.Update{Kind: sync.Bookmark, Name: "../../x", Added: []change.ID{id}, State: idOf(id)}))
		}},
		{"a tag of nothing", "stands for nothing", func(c *crafted) {
			c.check(c.w.Update(&sync.Update{Kind: sync.Tag, Name: "v1"}))
		}},
		{"a base that is not here", "not here", func(c *crafted) {
			c.check(c.w.Update(&sync.Update{Kind: sync.Bookmark, Name: "main", Base: [32]byte{3}, State: [32]byte{4}}))
		}},
		{"a path into the repository", "reserved", func(c *crafted) {
			ch, texts := add("x", nil, ".oxy/config.toml", "a\n")
			c.main(c.change(ch, texts))
		}},
		{"a path into another repository", "reserved", func(c *crafted) {
			ch, texts := add("x", nil, "GIT~1/hooks/post-checkout", "a\n")
			c.main(c.change(ch, texts))
		}},
		{"a path outside", "outside", func(c *crafted) {
			ch, texts := add("x", nil, "../a", "a\n")
			c.main(c.change(ch, texts))
		}},
		{"a directory moved outside", "outside", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n")
			ch.DirMoves = []change.DirMove{{From: "x", To: "/etc"}}
			c.main(c.change(ch, texts))
		}},
		{"one path twice", "twice", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n", "a", "b\n")
			c.main(c.change(ch, texts))
		}},
		{"a file beneath a file", "beneath itself", func(c *crafted) {
			ch, texts := add("x", nil, "a", "a\n", "a/b", "b\n")
			c.main(c.change(ch, texts))
		}},
		{"an edit between no lines", "malformed", func(c *crafted) {
			ch, texts := add("x", nil, "a", "aaaa\nbbbb\n")
			first := c.change(ch, texts)
			edit := &change.Change{Message: "y", Deps: []change.ID{first}, Files: []change.File{{ID: change.FileID{Change: 1, Ord: 0}, Size: 2, Content: hashOf([]byte("c\n")),
				Hunks: []change.Hunk{{L: change.Pos{Change: 1, Off: 300}, R: change.End, InsLen: 2}}}}}
			c.main(first, c.change(edit, map[int]string{0: "c\n"}))
		}},
		{"an edit of a file that is not there", "malformed", func(c *crafted) {
			ch, texts := add("x", nil, "a", "aaaa\nbbbb\n")
			first := c.change(ch, texts)
			edit := &change.Change{Message: "y", Deps: []change.ID{first}, Files: []change.File{{ID: change.FileID{Change: 1, Ord: 5}, Size: 2, Content: hashOf([]byte("c\n")),
				Hunks: []change.Hunk{{L: change.Start, R: change.End, InsLen: 2}}}}}
			c.main(first, c.change(edit, map[int]string{0: "c\n"}))
		}},
		{"a first change that edits", "not here", func(c *crafted) {
			edit := &change.Change{Message: "y", Others: []change.ID{{5}}, Files: []change.File{{ID: change.FileID{Change: 1, Ord: 5}, Writes: change.Gone}}}
			c.main(c.change(edit, nil))
		}},
	} {
		refused := func(t *testing.T, tags int) {
			r := newSite(t, "r", opt)
			c := craft(t)
			c.tags(tags)
			m.make(c)
			c.check(c.w.Close())
			file := filepath.Join(t.TempDir(), "bundle")
			if err := os.WriteFile(file, c.b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			_, _, err := r.ApplyBundle(context.Background(), file)
			if err == nil || !strings.Contains(err.Error(), m.why) {
				t.Errorf("%v, not that it is %q", err, m.why)
			}
			if said := (*Error)(nil); !errors.As(err, &said) {
				t.Errorf("%v is not in words for a person", err)
			}
			names, err := r.Bookmarks()
			if err != nil || len(names) != 1 || names[0].State.Num != NoState {
				t.Errorf("%v %v", names, err)
			}
			if tracking, err := r.Tracking(); err != nil || len(tracking) > 0 {
				t.Errorf("%v %v", tracking, err)
			}
			r.sound()
		}
		t.Run(m.name, func(t *testing.T) { refused(t, 0) })
		// Of many names trees are not made of each.
		t.Run(m.name+", among many", func(t *testing.T) { refused(t, fewTold+2) })
	}
}
