package revlog

import (
	"errors"
	"fmt"
	"math/rand"
	"testing"
)

// Entries that are decoded many at once are what they are one by one, and unsound where one of them is.
func TestBlocksAreDecodedAsOneByOne(t *testing.T) {
	if !canDecode {
		t.Skip("this processor decodes them one by one")
	}
	r := rand.New(rand.NewSource(1))
	odd := []uint32{0, 1, 2, 5, 1<<31 - 2, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}
	unsound := 0
	for range 20_000 {
		rev, n := Rev(r.Intn(3)*r.Intn(200)), 1+r.Intn(5)
		if r.Intn(20) == 0 {
			rev = 1<<31 - 1 - Rev(r.Intn(10)+n)
		}
		b := make([]byte, n*entrySizeV1)
		r.Read(b)
		for i := range n {
			at := rev + Rev(i)
			for k, most := range []Rev{1<<31 - 1, 1<<31 - 2, at, 1<<31 - 1, at - 1, at - 1} {
				v := uint32(r.Int63n(int64(most)+2)) - 1
				if k == 0 {
					v &= 1<<31 - 1
				}
				if r.Intn(40) == 0 {
					v = odd[r.Intn(len(odd))]
				}
				copy(b[i*entrySizeV1+8+4*k:], be32(int(v)))
			}
		}
		var block entryBlock
		sound, want := decodeBlock(block[:], b, rev), true
		for i := range n {
			var e Entry
			at := rev + Rev(i)
			e.decodeV1((*[entrySizeV1]byte)(b[i*entrySizeV1:]), at)
			want = want && e.sound(at)
			if block[i] != e {
				t.Fatalf("entry %d: %+v, want %+v", at, block[i], e)
			}
		}
		if sound != want {
			t.Fatalf("entries %x from %d on are sound: %v, want %v", b, rev, sound, want)
		}
		if !sound {
			unsound++
		}
	}
	if unsound < 1000 || unsound > 15_000 {
		t.Errorf("%d of 20000 are unsound: the test tries too little", unsound)
	}
}

// What comes before an unsound entry is given, then the error that names it, wherever in a block it is.
func TestEntriesEndAtTheUnsoundOne(t *testing.T) {
	const n = 300
	for _, bad := range []Rev{0, 1, 63, 64, 65, 128, 299} {
		for _, mapped := range []bool{false, true} {
			path := sample(t, n, true)
			patchFile(t, path, int(bad)*entrySizeV1+24, be32(int(bad))...)
			l, err := Open(path, &Options{Map: mapped})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			next := Rev(0)
			err = l.Entries(func(rev Rev, e *Entry) error {
				if alone, err := l.Entry(rev); rev != next || err != nil || alone != *e {
					return fmt.Errorf("revision %d is given as %d: %+v, want %+v, %v", next, rev, e, alone, err)
				}
				next++
				return nil
			})
			var named *Error
			if next != bad || !errors.As(err, &named) || named.Rev != bad {
				t.Errorf("unsound revision %d, mapped %v: ended at %d with %v", bad, mapped, next, err)
			}
		}
	}
}
