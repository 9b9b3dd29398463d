package sync

import (
	"bytes"
	"encoding/hex"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
)

// TestSignedVector holds the vector of docs/spec/protocol.md against what the code makes and reads.
func TestSignedVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "```vector\n")
	text, _, _ := strings.Cut(rest, "```")
	want, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	e := sign.Entry{Kind: 9, Bytes: []byte("new")}
	one := Signed{Change: change.ID{1}, Entry: e}
	two := Signed{Checkpoint: &sign.Checkpoint{State: [32]byte{1}, Changes: 1, Time: -1}, Entry: e}
	first := one.Append(nil)
	if b := two.Append(bytes.Clone(first)); !bytes.Equal(b, want) {
		t.Fatalf("the code makes %x", b)
	}
	for _, c := range []struct {
		b []byte
		s Signed
	}{{want[:len(first)], one}, {want[len(first):], two}} {
		if s, err := DecodeSigned(c.b); err != nil || !reflect.DeepEqual(s, c.s) {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if one.ID() == two.ID() {
		t.Error("two signatures have one id")
	}
}

// A message holds no more signatures than is said.
func TestSignedBounds(t *testing.T) {
	for name, c := range map[string]struct {
		size, fits int
	}{"many": {1, MaxSigned}, "large": {sign.MaxSignature, MaxSignedBytes / sign.MaxSignature}} {
		one := Signed{Change: change.ID{1}, Entry: sign.Entry{Kind: 9, Bytes: make([]byte, c.size)}}
		var l Gathered
		for i := range c.fits {
			if err := l.Add(&one); err != nil {
				t.Fatalf("%s: %d: %v", name, i, err)
			}
		}
		if err := l.Add(&one); err == nil {
			t.Errorf("%s: one more than %d is taken", name, c.fits)
		}
	}
	long := Signed{Change: change.ID{1}, Entry: sign.Entry{Kind: 9, Bytes: make([]byte, sign.MaxSignature+1)}}
	if _, err := DecodeSigned(long.Append(nil)); err == nil {
		t.Error("a signature that is too long is taken")
	}
}

// FuzzSigned: what is read encodes again as it came.
func FuzzSigned(f *testing.F) {
	e := sign.Entry{Kind: 1, Bytes: []byte("SSHSIG")}
	f.Add((&Signed{Change: change.ID{1}, Entry: e}).Append(nil))
	f.Add((&Signed{Checkpoint: &sign.Checkpoint{State: [32]byte{2}, Changes: 300, Time: -1 << 63}, Entry: e}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeSigned(b)
		if err == nil && !bytes.Equal(s.Append(nil), b) {
			t.Error("another encoding was taken")
		}
	})
}
