package state

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSetBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	b := newBlocks(t)
	sets := map[Ref]Set{}
	put := func(s Set) {
		ref, err := b.PutSet(s)
		if err != nil || ref == 0 {
			t.Fatal(ref, err)
		}
		sets[ref] = s
	}
	for range 300 {
		s, _ := randomSet(r)
		put(s)
	}
	put(Set{[]run{{0, 1<<32 - 1}}})
	for ref, want := range sets {
		if got, err := b.Set(ref); err != nil || !got.Equal(want) {
			t.Fatalf("%v, want %v: %v", got, want, err)
		}
	}
	for name, payload := range map[string]string{
		"runs that touch":    "\x03\x04\x01\x00",
		"runs that overlap":  "\x03\x04\x00\x00",
		"cut short":          "\x03",
		"first over 32 bits": "\x80\x80\x80\x80\x10\x00",
		"last over 32 bits":  "\x02\xff\xff\xff\xff\x0f",
		"sum over 32 bits":   "\x02\x00\xff\xff\xff\xff\x0f\x00",
		"longer than needed": "\x83\x00\x00",
	} {
		if got, err := b.Set(b.put(kindSet, []byte(payload))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := b.Set(0); !errors.Is(err, ErrDamaged) {
		t.Errorf("no block: %v, %v", got, err)
	}
}

// What is made of two sets is what maps make of them.
func TestSetAlgebraAgainstMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		a, inA := randomSet(r)
		b, inB := randomSet(r)
		either, both := maps.Clone(inA), maps.Clone(inA)
		maps.Copy(either, inB)
		maps.DeleteFunc(both, func(n uint32, _ bool) bool { return !inB[n] })
		checkSet(t, "a or b", a.Union(b), either)
		checkSet(t, "a and b", a.Intersect(b), both)
		checkSet(t, "a after all", a, inA)
		if a.Empty() != (len(inA) == 0) || a.Equal(b) != maps.Equal(inA, inB) {
			t.Fatalf("%v: empty is %v, equal to %v is %v", a, a.Empty(), b, a.Equal(b))
		}
		nums := slices.Collect(a.All())
		if !slices.Equal(nums, inA.sorted()) {
			t.Fatalf("all of %v are %v", a, nums)
		}
		r.Shuffle(len(nums), func(i, j int) { nums[i], nums[j] = nums[j], nums[i] })
		if again := NewSet(append(nums, nums[:len(nums)/2]...)...); !again.Equal(a) {
			t.Fatalf("%v from the numbers of %v", again, a)
		}
	}
}
