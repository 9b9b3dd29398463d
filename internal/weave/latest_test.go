package weave

import (
	"slices"
	"testing"
)

// What settled a conflict and left every line as it was is undone without a hunk: whoever removes the file builds on that too.
func TestLatestHasAnUndoingThatActsNowhere(t *testing.T) {
	h := beside{"x\n", "", ""}
	edited := uint32(1)
	w := New(Source{Size: 2})
	for _, p := range []Patch{{Source: Source{Change: 1}}, {Source: Source{Change: 2}, Undoes: &edited}} {
		var err error
		if w, err = w.Add(p, h); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Contains(w.Latest(), 2) {
		t.Errorf("latest: %v", w.Latest())
	}
	if got := w.UndoneBy(1); !slices.Equal(got, []uint32{2}) {
		t.Errorf("undone by %v", got)
	}
}
