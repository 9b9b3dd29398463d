package change

import (
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/blake3"
	"pgregory.net/rapid"
)

func id(b byte) (id ID) { id[0] = b; return id }

func hashOf(s string) Hash { return blake3.Sum256([]byte(s)) }

// example is the change of the spec's vector: one file added, one edited, one moved.
func example() *Change {
	return &Change{
		Author:  Person{"Ada", "ada@example.org"},
		Time:    Time{1700000000, 60},
		Message: "Greet\n",
		Extra:   []Field{{"k", "v"}},
		Deps:    []ID{id(1)},
		Others:  []ID{id(0)},
		Files: []File{
			{ID: FileID{Self, 0}, Writes: WritesPlace | WritesMode | WritesBody, Path: "a/new", Exec: true, Size: 3, Content: hashOf("hi\n")},
			{ID: FileID{1, 4}, Size: 2, Content: hashOf("x\n"), Hunks: []Hunk{{L: Start, R: Pos{2, 9}, InsLen: 2, Del: []Stretch{{1, 0, 5}}}}},
			{ID: FileID{2, 0}, Writes: WritesPlace, Path: "a/old", Over: []Over{{WritesPlace, 2, 0}}},
		},
	}
}

// undoing takes back a change that edited two files, in one of which nothing is left to act on.
func undoing() *Change {
	return &Change{
		Author:  Person{"Ada", "ada@example.org"},
		Time:    Time{1700000000, 60},
		Message: "Not yet\n",
		Undoes:  id(7),
		Deps:    []ID{id(7)},
		Others:  []ID{id(1)},
		Files: []File{
			{ID: FileID{2, 4}, Hunks: []Hunk{{L: Start, R: Pos{2, 9}}, {L: Pos{2, 9}, R: End, Gains: true}}},
			{ID: FileID{2, 5}},
		},
	}
}

func TestVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/change.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(page)
	for _, c := range []*Change{example(), undoing()} {
		meta, body := Encode(c)
		var block string
		_, rest, _ = strings.Cut(rest, "```vector\n")
		block, rest, _ = strings.Cut(rest, "```")
		got := map[string]string{"meta": hex.EncodeToString(meta), "body": hex.EncodeToString(body), "id": Sum(meta, body).String()}
		want := map[string]string{}
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			want[name] += strings.ReplaceAll(value, " ", "")
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the spec's vector of %q differs (-spec +code):\n%s", c.Message, d)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	keep := example()
	keep.Files[2] = File{ID: FileID{2, 0}, Writes: Keep}
	for _, c := range []*Change{example(), undoing(), keep} {
		got, err := Decode(Encode(c))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c, got); d != "" {
			t.Error(d)
		}
	}
}

// Every refused change differs from the accepted example in one thing.
func TestRefused(t *testing.T) {
	cases := map[string]func(c *Change){
		"deps out of order":          func(c *Change) { c.Deps = []ID{id(2), id(1)} },
		"a dep twice":                func(c *Change) { c.Deps = []ID{id(1), id(1)} },
		"an other that is a dep":     func(c *Change) { c.Others = []ID{id(1)} },
		"an other never named":       func(c *Change) { c.Others = []ID{id(0), id(9)} },
		"a ref to nowhere":           func(c *Change) { c.Files[1].ID.Change = 3 },
		"a new file elsewhere":       func(c *Change) { c.Files[0].ID.Ord = 7 },
		"a new file without a mode":  func(c *Change) { c.Files[0].Writes = WritesPlace | WritesBody },
		"text without a hunk":        func(c *Change) { c.Files[2].Size, c.Files[2].Content = 1, hashOf("z") },
		"hunks longer than the text": func(c *Change) { c.Files[1].Hunks[0].InsLen = 3 },
		"an idle hunk":               func(c *Change) { c.Files[1].Hunks[0] = Hunk{L: Start, R: End} },
		"a gain in no undoing":       func(c *Change) { c.Files[1].Hunks[0].Gains = true },
		"a file without a purpose":   func(c *Change) { c.Files[2] = File{ID: FileID{2, 0}} },
		"a reversed gap":             func(c *Change) { c.Files[1].Hunks[0].L = End },
		"a hash of nothing":          func(c *Change) { c.Files[0].Size = 0 },
		"an empty path":              func(c *Change) { c.Files[2].Path = "" },
		"a path with NUL":            func(c *Change) { c.Files[2].Path = "a\x00b" },
		"a removal that also moves":  func(c *Change) { c.Files[2].Writes |= Gone },
		"an unknown kind":            func(c *Change) { c.Files[0].Kind = numKinds },
		"extra fields out of order":  func(c *Change) { c.Extra = []Field{{"k", ""}, {"a", ""}} },
		"a stretch cut in two":       func(c *Change) { c.Files[1].Hunks[0].Del = []Stretch{{1, 0, 2}, {1, 2, 3}} },
		"a huge stretch":             func(c *Change) { c.Files[1].Hunks[0].Del = []Stretch{{1, 5, 1<<32 - 1}} },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			c := example()
			spoil(c)
			if err := c.Validate(); !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v, want it refused", err)
			}
		})
	}
}

// A change that undoes another says where it acts, and nothing else.
func TestRefusedUndoing(t *testing.T) {
	cases := map[string]func(c *Change){
		"an insertion": func(c *Change) {
			c.Files[0].Size, c.Files[0].Content = 2, hashOf("x\n")
			c.Files[0].Hunks[0].InsLen = 2
		},
		"a deletion":             func(c *Change) { c.Files[0].Hunks[0].Del = []Stretch{{1, 0, 2}} },
		"a restoring":            func(c *Change) { c.Files[0].Hunks[0].Res = []Restore{{Stretch{1, 0, 2}, []Ref{2}}} },
		"a solved stretch":       func(c *Change) { c.Files[0].Hunks[0].Solves = []Span{{Start, End}} },
		"a parent":               func(c *Change) { c.Files[0].Hunks[0].Left, c.Files[0].Hunks[0].Parent = true, Pos{2, 0} },
		"an op":                  func(c *Change) { c.Files[1].Writes = Keep },
		"a replaced value":       func(c *Change) { c.Files[1].Over = []Over{{WritesMode, 2, 0}} },
		"a file of its own":      func(c *Change) { c.Files[1] = example().Files[0] },
		"a directory that moves": func(c *Change) { c.DirMoves = []DirMove{{"a", "b"}} },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			c := undoing()
			spoil(c)
			if err := c.Validate(); !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v, want it refused", err)
			}
		})
	}
}

func TestOnlyCanonical(t *testing.T) {
	meta, body := Encode(example())
	long := append(append([]byte{}, body...), 0)
	if _, err := Decode(meta, long); !errors.Is(err, ErrMalformed) {
		t.Errorf("a trailing byte: %v", err)
	}
	padded := append([]byte{0x81, 0x00}, body[1:]...) // the count 1 in two bytes
	if _, err := Decode(meta, padded); !errors.Is(err, ErrMalformed) {
		t.Errorf("a padded number: %v", err)
	}
	for i := range body {
		if _, err := Decode(meta, body[:i]); err == nil {
			t.Fatalf("accepted when cut to %d bytes", i)
		}
	}
}

func TestBindAndBack(t *testing.T) {
	nums := map[ID]uint32{id(0): 70, id(1): 71}
	c := example()
	if err := c.Bind(99, func(id ID) (uint32, bool) { n, ok := nums[id]; return n, ok }); err != nil {
		t.Fatal(err)
	}
	if f := c.Files[1]; f.ID.Change != 71 || f.Hunks[0].R.Change != 70 || c.Files[0].ID.Change != 99 || f.Hunks[0].L != Start {
		t.Errorf("bound wrongly: %+v", f)
	}
	c.Unbind(99, func(n uint32) ID {
		for id, m := range nums {
			if m == n {
				return id
			}
		}
		t.Fatalf("asked for %d", n)
		return ID{}
	})
	if d := cmp.Diff(example(), c); d != "" {
		t.Error(d)
	}
}

// A decoded change is the one encoded, whatever it holds.
func TestRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &Change{Message: rapid.String().Draw(t, "message"), Time: Time{rapid.Int64().Draw(t, "sec"), rapid.Int16().Draw(t, "zone")}, Deps: []ID{id(1), id(2)}}
		pos := func() Pos {
			return rapid.SampledFrom([]Pos{{1, 0}, {2, 300}, {1, 1 << 20}, {2, 7}}).Draw(t, "pos")
		}
		if rapid.Bool().Draw(t, "undoes") {
			c.Undoes = id(2)
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "files") {
			if !c.Undoes.IsZero() {
				f := File{ID: FileID{1, rapid.Uint32().Draw(t, "ord")}}
				for range rapid.IntRange(0, 3).Draw(t, "hunks") {
					f.Hunks = append(f.Hunks, Hunk{L: pos(), R: pos(), Gains: rapid.Bool().Draw(t, "gains")})
				}
				c.Files = append(c.Files, f)
				continue
			}
			if rapid.Bool().Draw(t, "new") {
				p := rapid.StringMatching(`[ab]{1,3}(/[ab]{1,3}){0,2}`).Draw(t, "path")
				c.Files = append(c.Files, File{ID: FileID{Self, uint32(i)}, Writes: WritesPlace | WritesMode | WritesBody, Path: p, Kind: rapid.SampledFrom([]Kind{Text, Binary, Link}).Draw(t, "kind"), Size: 5, Content: hashOf("12345")})
				continue
			}
			f := File{ID: FileID{1, rapid.Uint32().Draw(t, "ord")}}
			for range rapid.IntRange(1, 3).Draw(t, "hunks") {
				n := rapid.Uint32Range(1, 1000).Draw(t, "ins")
				h := Hunk{L: pos(), R: pos(), InsLen: n, Left: rapid.Bool().Draw(t, "left")}
				if h.Left {
					h.Parent = pos()
				}
				if rapid.Bool().Draw(t, "res") {
					h.Res = []Restore{{Stretch{1, 2, 3}, []Ref{2}}}
					h.Solves = []Span{{Start, pos()}}
				}
				f.Size += uint64(n)
				f.Hunks = append(f.Hunks, h)
			}
			f.Content = hashOf("text")
			c.Files = append(c.Files, f)
		}
		got, err := Decode(Encode(c))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c, got); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzDecode(f *testing.F) {
	meta, body := Encode(example())
	f.Add(meta, body)
	meta, body = Encode(undoing())
	f.Add(meta, body)
	f.Add([]byte(magic), []byte{})
	f.Fuzz(func(t *testing.T, meta, body []byte) {
		c, err := Decode(meta, body)
		if err != nil {
			return
		}
		m, b := Encode(c)
		if string(m) != string(meta) || string(b) != string(body) {
			t.Error("accepted another encoding than its own")
		}
	})
}
