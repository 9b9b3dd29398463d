package state

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxy-vcs/oxy/internal/change"
)

func plainDisputes(n int) []Dispute {
	list := make([]Dispute, n)
	for i := range list {
		p := fmt.Sprintf("some/directory/%05d", i)
		list[i] = Dispute{File: change.FileID{Change: 1, Ord: uint32(i)}, Place: p, Shown: p, Kinds: DisputedText}
	}
	return list
}

// TestManyDisputesShareWhatIsBeforeTheFirstThatDiffers writes some blocks of them and edits the lists.
func TestManyDisputesShareWhatIsBeforeTheFirstThatDiffers(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	b := newBlocks(t)
	list := plainDisputes(12_000)
	tree := mustDispute(t, b.Tree(Root{}), list)
	whole := b.Size()
	if links, err := b.links(kindDisputes, tree.root.Disputes); err != nil || len(links) < 5 {
		t.Fatalf("%d blocks prove nothing: %v", len(links), err)
	}
	for range 8 {
		next := slices.Clone(list)
		at := r.Intn(len(next))
		switch r.Intn(4) {
		case 0:
			next[at].Kinds ^= Several
		case 1:
			next = slices.Delete(next, at, at+1)
		case 2:
			next = next[:at]
		case 3:
			next[at].Shown = "elsewhere"
		}
		before := b.Size()
		after := mustDispute(t, tree, next)
		got, err := after.Disputes()
		if err != nil || len(next) > 0 && !cmp.Equal(got, next) || len(next) != len(got) {
			t.Fatalf("%d disputes, want %d: %v", len(got), len(next), err)
		}
		rest := float64(len(list)-at) / float64(len(list)) * float64(whole)
		if wrote := b.Size() - before; float64(wrote) > rest+2*disputesFill {
			t.Errorf("%d bytes for what differs from %d of %d on", wrote, at, len(list))
		}
		if same := mustDispute(t, after, next); same != after {
			t.Error("the same disputes have another root")
		}
	}
	if none := mustDispute(t, tree, nil); none.root != (Root{}) {
		t.Errorf("no disputes: %+v", none.root)
	}
}

func TestWithDisputesRefusesWhatIsNoList(t *testing.T) {
	tree := newBlocks(t).Tree(Root{})
	id := func(n uint32) change.FileID { return change.FileID{Change: n} }
	for name, list := range map[string][]Dispute{
		"out of order":     {{File: id(2), Place: "a", Shown: "a"}, {File: id(1), Place: "b", Shown: "b"}},
		"twice":            {{File: id(2), Place: "a", Shown: "a"}, {File: id(2), Place: "b", Shown: "b"}},
		"no place":         {{File: id(1), Shown: "a"}},
		"too long a place": {{File: id(1), Place: strings.Repeat("x", MaxPath+1), Shown: "a"}},
		"shown too long":   {{File: id(1), Place: "a", Shown: strings.Repeat("x", MaxPath+1)}},
		"unknown kinds":    {{File: id(1), Place: "a", Shown: "a", Kinds: 1 << 7}},
		"meets a name":     {{File: id(1), Place: "a", Shown: "a", Meets: []change.FileID{id(2)}}},
		"meets a dir":      {{File: id(1), Place: "a", Shown: "a", Dir: true}},
		"meets itself":     {{File: id(1), Place: "a", Shown: "a", Kinds: DisputedName, Meets: []change.FileID{id(1)}}},
		"meets one twice":  {{File: id(1), Place: "a", Shown: "a", Kinds: DisputedName, Meets: []change.FileID{id(2), id(2)}}},
		"another hidden":   {{File: id(1), Place: "a", Shown: "b", Hidden: &Entry{File: id(2), Path: "a"}}},
		"hidden elsewhere": {{File: id(1), Place: "a", Shown: "b", Hidden: &Entry{File: id(1), Path: "b"}}},
		"hidden for none":  {{File: id(1), Place: "a", Hidden: &Entry{File: id(1), Path: "a"}}},
		"unknown kind":     {{File: id(1), Place: "a", Shown: "b", Hidden: &Entry{File: id(1), Path: "a", Kind: 4}}},
	} {
		if _, err := tree.WithDisputes(list); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDisputeBlocks(t *testing.T) {
	const plain = "\x01\x00\x01\x00\x01a"
	for name, payload := range map[string]string{
		"right":                    "\x00\x02" + plain + "\x60\x0f\x02\x00\x01a\x01b\x02\x01\x00\x03\x00" + "\x02\x09",
		"shown nowhere":            "\x00\x01\x01\x01\x01\x00\x01a\x00",
		"nothing":                  "\x00\x00",
		"cut short":                "\x00\x02" + plain + "\x01\x00\x01\x00\x01",
		"more than are told":       "\x00\x01" + plain + plain,
		"far too many":             "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" + plain,
		"out of order":             "\x00\x02" + plain + plain,
		"unknown kinds":            "\x00\x01\x81\x00\x01\x00\x01a",
		"unknown flags":            "\x00\x01\x01\x10\x01\x00\x01a",
		"no place":                 "\x00\x01\x01\x00\x01\x00\x00\x00",
		"a place beyond the block": "\x00\x01\x01\x00\x01\x00\x7fa",
		"moved to where it is":     "\x00\x01\x01\x01\x01\x00\x01a\x01a",
		"meets without its name":   "\x00\x01\x01\x08\x01\x00\x01a\x01\x02\x00",
		"a dir without its name":   "\x00\x01\x01\x04\x01\x00\x01a",
		"meets nobody":             "\x00\x01\x20\x08\x01\x00\x01a\x00",
		"meets itself":             "\x00\x01\x20\x08\x01\x00\x01a\x01\x01\x00",
		"meets one twice":          "\x00\x01\x20\x08\x01\x00\x01a\x02\x02\x00\x02\x00",
		"meets far too many":       "\x00\x01\x20\x08\x01\x00\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x00",
		"hidden for none":          "\x00\x01\x01\x03\x01\x00\x01a\x00\x02\x09",
		"a hidden file's file":     "\x00\x01\x01\x02\x01\x00\x01a\x0a\x09",
		"hidden without a weave":   "\x00\x01\x01\x02\x01\x00\x01a\x22\x09\x00",
	} {
		b := newBlocks(t)
		got, err := b.Tree(Root{Disputes: b.put(kindDisputes, []byte(payload))}).Disputes()
		if right := name == "right" || name == "shown nowhere"; right != (err == nil) || !right && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %+v, %v", name, got, err)
		} else if right {
			if again, _ := appendDisputes(nil, got, 1<<20); "\x00"+string(again) != payload {
				t.Errorf("%s: written in another way", name)
			}
		}
	}
	b := newBlocks(t)
	first := b.put(kindDisputes, []byte("\x00\x01"+plain))
	second, err := b.putLink(kindDisputes, first, []byte("\x01"+plain))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Tree(Root{Disputes: second}).Disputes(); !errors.Is(err, ErrDamaged) {
		t.Errorf("out of order across blocks: %+v, %v", got, err)
	}
}

// TestCheckFindsDisputesThatAreNot has trees each half of which is well formed.
func TestCheckFindsDisputesThatAreNot(t *testing.T) {
	b := newBlocks(t)
	id := func(n uint32) change.FileID { return change.FileID{Change: n} }
	entry := func(n uint32, path string) Entry {
		return Entry{Path: path, File: id(n), Place: id(n), Mode: id(n), Body: id(n)}
	}
	acts, err := b.PutActs(0, []Act{{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	base := mustEdit(t, b.Tree(Root{}), []Edit{{Path: "a", Entry: entry(1, "a")}})
	base = mustEditFiles(t, base, []FileEdit{
		{Tombstone: Tombstone{File: id(2), Path: "h"}, Hide: true}, {Tombstone: Tombstone{File: id(3), Path: "g"}},
	})
	hidden := entry(2, "h")
	hides := Dispute{File: id(2), Place: "h", Shown: "a", Hidden: &hidden}
	elsewhere, wrong := entry(2, "i"), entry(2, "h")
	wrong.Weave = acts
	one, three := entry(1, "a"), entry(3, "g")
	for name, list := range map[string][]Dispute{
		"right": {
			{File: id(1), Place: "x", Shown: "a", Kinds: DisputedName, Meets: []change.FileID{id(2)}}, hides, {File: id(3), Place: "g"},
		},
		"no hidden one":        {},
		"hidden elsewhere":     {{File: id(2), Place: "i", Shown: "a", Hidden: &elsewhere}},
		"nothing in its stead": {{File: id(2), Place: "h", Shown: "b", Hidden: &hidden}},
		"hidden and shown":     {{File: id(2), Place: "h", Shown: "h"}},
		"shown elsewhere":      {{File: id(1), Place: "a", Shown: "b"}, hides},
		"shown and hidden":     {{File: id(1), Place: "a", Shown: "a", Hidden: &one}, hides},
		"shown and gone":       {{File: id(1), Place: "a"}, hides},
		"gone and shown":       {hides, {File: id(3), Place: "g", Shown: "g"}},
		"gone and hidden":      {hides, {File: id(3), Place: "g", Shown: "a", Hidden: &three}},
		"unknown":              {hides, {File: id(4), Place: "g", Shown: "g"}},
		"meets one gone":       {{File: id(1), Place: "a", Shown: "a", Kinds: DisputedName, Meets: []change.FileID{id(3)}}, hides},
		"a wrong weave":        {{File: id(2), Place: "h", Shown: "a", Hidden: &wrong}},
	} {
		if err := mustDispute(t, base, list).Check(); (name == "right") != (err == nil) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckReadsWhatEntriesReferTo has refs to blocks of another kind.
func TestCheckReadsWhatEntriesReferTo(t *testing.T) {
	b := newBlocks(t)
	weave, err := b.PutWeave(0, []byte("w"))
	if err != nil {
		t.Fatal(err)
	}
	id := change.FileID{Change: 1}
	acts := mustEdit(t, b.Tree(Root{}), []Edit{{Path: "a", Entry: Entry{File: id, Place: id, Mode: id, Body: id, Acts: weave}}})
	stone := mustEditFiles(t, b.Tree(Root{}), []FileEdit{{Tombstone: Tombstone{File: id, Path: "a", Acts: weave}}})
	for name, r := range map[string]StateRoot{
		"acts of an entry":     {Root: acts.Root()},
		"acts of a tombstone":  {Root: stone.Root()},
		"the set":              {Set: weave},
		"the disputes":         {Root: Root{Disputes: weave}},
		"a set that is no set": {Set: b.put(kindSet, []byte{0})},
	} {
		if err := b.Check(r); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
