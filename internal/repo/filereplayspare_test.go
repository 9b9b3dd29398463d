package repo

import "testing"

func TestSpareTextsHaveRoom(t *testing.T) {
	for n := 1; n < 5000; n++ {
		k := sizeClass(n)
		if size := classSize(k); size < n || k > 0 && classSize(k-1) >= n {
			t.Fatalf("%d bytes are of class %d, with room for %d", n, k, size)
		}
	}
	var s spareTexts
	s.turn(0)
	a := append(s.take(1000), "what is read still"...)
	s.leave(a)
	s.turn(0)
	if b := s.take(1000); &b[:1][0] == &a[0] {
		t.Error("a text that is not passed was written over")
	}
	s.turn(1)
	for _, n := range []int{1100, 900} {
		if b := s.take(n); cap(b) < n {
			t.Errorf("room for %d of %d bytes", cap(b), n)
		}
	}
	s.turn(1)
	if s.leave(a); s.bytes != 0 {
		t.Errorf("%d bytes are at hand, and all are taken", s.bytes)
	}
}
