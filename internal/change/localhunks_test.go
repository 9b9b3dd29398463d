package change

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var anyHunk = rapid.Custom(func(t *rapid.T) Hunk {
	ref := rapid.OneOf(rapid.Uint32Range(0, 5), rapid.Uint32Range(0, Edge-1))
	number := rapid.OneOf(rapid.Uint32Range(0, 200), rapid.Uint32())
	pos := rapid.Custom(func(t *rapid.T) Pos {
		switch rapid.IntRange(0, 9).Draw(t, "where") {
		case 0:
			return Start
		case 1:
			return End
		}
		return Pos{ref.Draw(t, "ref"), number.Draw(t, "off")}
	})
	stretch := func() Stretch {
		return Stretch{ref.Draw(t, "ref"), number.Draw(t, "off"), number.Draw(t, "len")}
	}
	h := Hunk{L: pos.Draw(t, "L"), R: pos.Draw(t, "R"), InsLen: number.Draw(t, "ins"), Gains: rapid.Bool().Draw(t, "gains")}
	if h.Left = rapid.Bool().Draw(t, "left"); h.Left {
		h.Parent = pos.Draw(t, "parent")
	}
	few := rapid.IntRange(0, 2)
	for range few.Draw(t, "deletes") {
		h.Del = append(h.Del, stretch())
	}
	for range few.Draw(t, "restores") {
		r := Restore{Stretch: stretch()}
		for range 1 + few.Draw(t, "by") {
			r.By = append(r.By, ref.Draw(t, "by"))
		}
		h.Res = append(h.Res, r)
	}
	for range few.Draw(t, "solves") {
		h.Solves = append(h.Solves, Span{pos.Draw(t, "from"), pos.Draw(t, "to")})
	}
	return h
})

func TestLocalHunksComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hunks := rapid.SliceOfN(anyHunk, 1, 5).Draw(t, "hunks")
		b := AppendLocalHunks([]byte("before"), hunks)
		got, rest, err := DecodeLocalHunks(append(b, "after"...)[len("before"):])
		if err != nil || string(rest) != "after" {
			t.Fatalf("%v, %q is left", err, rest)
		}
		if d := cmp.Diff(hunks, got); d != "" {
			t.Fatal(d)
		}
	})
}

// A line replaced close behind another costs a few bytes, whatever the numbers are.
func TestLocalHunksAreShort(t *testing.T) {
	var hunks []Hunk
	for i := range uint32(100) {
		off := 1_000_000 + i*400
		hunks = append(hunks, Hunk{L: Pos{70_000, off}, R: Pos{70_000, off + 30}, InsLen: 35, Del: []Stretch{{70_000, off, 30}}})
	}
	if n, plain := len(AppendLocalHunks(nil, hunks)), len(AppendHunks(nil, hunks)); n > 1000 || n*2 > plain {
		t.Errorf("%d bytes, %d as hashed", n, plain)
	}
}

func FuzzLocalHunks(f *testing.F) {
	f.Add(AppendLocalHunks(nil, example().Files[1].Hunks))
	f.Add(AppendLocalHunks(nil, undoing().Files[0].Hunks))
	f.Add(AppendLocalHunks(nil, []Hunk{{L: Start, R: End, Left: true, Parent: Pos{3, 4}, Res: []Restore{{Stretch{1, 2, 3}, []Ref{9}}}, Solves: []Span{{Start, Pos{1, 1}}}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		hunks, _, err := DecodeLocalHunks(b)
		if err != nil {
			return
		}
		again, rest, err := DecodeLocalHunks(AppendLocalHunks(nil, hunks))
		if err != nil || len(rest) > 0 || cmp.Diff(hunks, again, cmp.Transformer("empty", func(s []Ref) []Ref { return append([]Ref{}, s...) })) != "" {
			t.Fatalf("%+v, then %+v, %v", hunks, again, err)
		}
	})
}
