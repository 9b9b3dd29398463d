package serve

import (
	"io"
	"strings"
	"testing"
	"time"
)

// deadlinesSet notes the last deadlines.
type deadlinesSet struct{ read, write time.Time }

func (d *deadlinesSet) SetReadDeadline(t time.Time) error  { d.read = t; return nil }
func (d *deadlinesSet) SetWriteDeadline(t time.Time) error { d.write = t; return nil }

// A peer has a while for each piece of its request and of the reply; while it takes the reply nothing is awaited of it, and the
// deadline of its last piece no longer counts: net/http would give the request up there.
func TestNothingIsAwaitedOfOneWhoTakes(t *testing.T) {
	s := &Server{o: Options{Idle: time.Minute, MaxTime: time.Hour}}
	began := time.Now()
	end := began.Add(time.Hour)
	c := &deadlinesSet{}
	in, out := s.inTime(c, began, io.MultiReader(strings.NewReader("a request"), strings.NewReader(" in two pieces")), io.Discard)
	if _, err := in.Read(make([]byte, 9)); err != nil || c.read.IsZero() || !c.read.Before(end) {
		t.Fatalf("%v, after a piece the deadline is %v", err, c.read)
	}
	if _, err := io.ReadAll(in); err != nil || !c.read.Equal(end) {
		t.Fatalf("%v, after the request the deadline is %v, not %v", err, c.read, end)
	}
	if _, err := out.Write([]byte("a reply")); err != nil || c.write.IsZero() || !c.write.Before(end) || !c.read.Equal(end) {
		t.Errorf("%v, of a piece of the reply the deadlines are %v and %v", err, c.write, c.read)
	}
	began = began.Add(-59*time.Minute - 30*time.Second)
	in, out = s.inTime(c, began, strings.NewReader("late"), io.Discard)
	end = began.Add(time.Hour)
	if _, err := in.Read(make([]byte, 1)); err != nil || !c.read.Equal(end) {
		t.Errorf("%v, late the deadline is %v, not %v", err, c.read, end)
	}
	if _, err := out.Write([]byte("late")); err != nil || !c.write.Equal(end) {
		t.Errorf("%v, late the deadline is %v, not %v", err, c.write, end)
	}
}
