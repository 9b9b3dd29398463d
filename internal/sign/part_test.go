package sign

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func entryGen() *rapid.Generator[Entry] {
	return rapid.Custom(func(t *rapid.T) Entry {
		return Entry{Kind(rapid.IntRange(1, 3).Draw(t, "kind")), rapid.SliceOfN(rapid.ByteRange(0, 3), 1, 4).Draw(t, "bytes")}
	})
}

// A part is the set of its entries: no order or repetition of them makes other bytes, and all come back.
func TestPartIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfN(entryGen(), 0, 12).Draw(t, "entries")
		part, err := EncodePart(entries)
		if err != nil {
			t.Fatal(err)
		}
		again, err := EncodePart(append(rapid.Permutation(entries).Draw(t, "order"), entries...))
		if err != nil || !bytes.Equal(part, again) {
			t.Fatalf("%x and %x, %v", part, again, err)
		}
		back, err := DecodePart(part)
		if err != nil {
			t.Fatal(err)
		}
		set := func(entries []Entry) map[string]bool {
			m := map[string]bool{}
			for _, e := range entries {
				m[fmt.Sprint(e)] = true
			}
			return m
		}
		if got, want := fmt.Sprint(set(back)), fmt.Sprint(set(entries)); got != want || len(back) != len(set(entries)) {
			t.Fatalf("back came %s of %s", got, want)
		}
	})
}

func TestPartsOfOtherFormsAreRefused(t *testing.T) {
	for name, part := range map[string]string{
		"a list of none":        "\x00",
		"kind 0":                "\x01\x00\x01a",
		"an empty signature":    "\x01\x01\x00",
		"cut in the signature":  "\x01\x01\x02a",
		"cut before the length": "\x01\x01",
		"cut before the kind":   "\x02\x01\x01a",
		"more behind":           "\x01\x01\x01a\x00",
		"twice the same":        "\x02\x01\x01a\x01\x01a",
		"wrong order":           "\x02\x01\x01b\x01\x01a",
		"wrong order of kinds":  "\x02\x02\x01a\x01\x01a",
		"a long varint":         "\x81\x00\x01\x01a",
		"a long length":         "\x01\x01\x81\x00a",
		"too many":              "\x21\x01\x01a",
		"a count of 2^63":       "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
		"a count beyond 64 bit": "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
		"a length of 2^63":      "\x01\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01a",
	} {
		if entries, err := DecodePart([]byte(part)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
	big := Entry{SSH, make([]byte, MaxSignature+1)}
	for name, entries := range map[string][]Entry{"too large": {big}, "kind 0": {{0, []byte("a")}}, "empty": {{SSH, nil}}, "too many": many(MaxSignatures + 1)} {
		if _, err := EncodePart(entries); err == nil {
			t.Errorf("%s is encoded", name)
		}
	}
	if part, err := EncodePart(many(MaxSignatures)); err != nil {
		t.Error(err)
	} else if back, err := DecodePart(part); err != nil || len(back) != MaxSignatures {
		t.Errorf("as many as are allowed: %d, %v", len(back), err)
	}
}

func many(n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		entries[i] = Entry{SSH, []byte{1, byte(i)}}
	}
	return entries
}

// Whoever sends signatures without end cannot push ours out.
func TestMergeParts(t *testing.T) {
	ours, theirs := many(3), many(MaxSignatures+10)
	for i := range theirs {
		theirs[i].Bytes = append([]byte{0}, theirs[i].Bytes...)
	}
	merged := MergeParts(ours, append(theirs, ours...))
	if len(merged) != MaxSignatures {
		t.Errorf("%d merged", len(merged))
	}
	for _, e := range ours {
		if len(MergeParts(merged, []Entry{e})) != len(merged) {
			t.Errorf("%v was pushed out", e)
		}
	}
	part, err := EncodePart(merged)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodePart(part); err != nil || fmt.Sprint(back) != fmt.Sprint(merged) {
		t.Errorf("merged out of order: %v", err)
	}
	if got := MergeParts(ours, ours); len(got) != 3 {
		t.Errorf("with itself: %v", got)
	}
}

func FuzzDecodePart(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x02\x01\x01a\x01\x01b"))
	f.Add([]byte("\x02\x01\x02ab\x07\x01c"))
	f.Fuzz(func(t *testing.T, part []byte) {
		entries, err := DecodePart(part)
		if err != nil {
			return
		}
		if again, err := EncodePart(entries); err != nil || !bytes.Equal(again, part) {
			t.Errorf("%x is read and written as %x, %v", part, again, err)
		}
	})
}
