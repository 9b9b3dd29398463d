package state

import (
	"errors"
	"math/rand"
	"slices"
	"testing"
)

func TestActsAreAChain(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	b := newBlocks(t)
	type chain struct {
		ref  Ref
		acts []Act
	}
	all := []chain{{}}
	for range 300 {
		c := all[r.Intn(len(all))]
		c.acts = slices.Clone(c.acts)
		var more []Act
		for range r.Intn(4) {
			more = append(more, Act{r.Uint32() >> r.Intn(33), r.Uint32() >> r.Intn(33)})
		}
		ref, err := b.PutActs(c.ref, more)
		if err != nil || (ref == c.ref) != (len(more) == 0) {
			t.Fatalf("%d acts after %d: %d, %v", len(more), c.ref, ref, err)
		}
		all = append(all, chain{ref, append(c.acts, more...)})
	}
	flush(t, b)
	for _, c := range all {
		if got, err := b.Acts(c.ref); err != nil || !slices.Equal(got, c.acts) {
			t.Fatalf("%v, want %v: %v", got, c.acts, err)
		}
	}
}

func TestActsBlocks(t *testing.T) {
	for name, payload := range map[string]string{
		"right":               "\x00\x02\x01\x02\xff\xff\xff\xff\x0f\x00",
		"nothing":             "",
		"no number":           "\x00",
		"no acts":             "\x00\x00",
		"cut short":           "\x00\x02\x01\x02\x03",
		"more than are told":  "\x00\x01\x01\x02\x03\x04",
		"far too many":        "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x02",
		"over 32 bits":        "\x00\x01\x80\x80\x80\x80\x10\x01",
		"longer than needed":  "\x00\x01\x81\x00\x01",
		"after a later block": "\xff\x7f\x00\x00\x01\x01\x02",
		"after what is none":  "\x18\x00\x00\x01\x01\x02",
	} {
		b := newBlocks(t)
		acts, err := b.Acts(b.put(kindActs, []byte(payload)))
		if name == "right" {
			if err != nil || !slices.Equal(acts, []Act{{1, 2}, {1<<32 - 1, 0}}) {
				t.Errorf("%s: %v, %v", name, acts, err)
			}
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, %v", name, acts, err)
		}
	}
	b := newBlocks(t)
	weave, err := b.PutWeave(0, []byte("\x01\x01\x02"))
	if err != nil {
		t.Fatal(err)
	}
	if acts, err := b.Acts(weave); !errors.Is(err, ErrDamaged) {
		t.Errorf("a weave is taken for %v, %v", acts, err)
	}
}
