package repo

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// Whatever is kept of a file's versions, and whatever went for want of room, a version is what its blocks say: also one that was made from
// a kept one before it, and one that others went on from.
func TestKeptWeaves(t *testing.T) {
	upon := 0
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 6))
		r, err := Init("/r", Options{FS: vfs.NewMem()})
		if err != nil {
			t.Fatal(err)
		}
		im, err := r.NewImporter(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		k := r.kept
		k.recent.most, k.apart.most = 60<<10, 60<<10
		var first []string
		for i := range 60 {
			first = append(first, fmt.Sprintf("line %d\n", i))
		}
		texts, states := [][]string{first}, []uint32{}
		put := func(lines []string, parents ...uint32) {
			t.Helper()
			data := []byte{}
			for _, l := range lines {
				data = append(data, l...)
			}
			s, err := im.Put(&Imported{Parents: parents, Message: fmt.Sprint(len(states)), Files: []ImportedFile{{Path: "f", Kind: change.Text, Data: data}}})
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, s)
			if im.count%50 == 0 {
				if err := im.Commit("import"); err != nil {
					t.Fatal(err)
				}
			}
		}
		put(first)
		for len(states) < 160 {
			at := len(states) - 1 - min(len(states)-1, int(rng.ExpFloat64()*3))
			if rng.IntN(6) == 0 {
				at = rng.IntN(len(states))
			}
			lines := slices.Clone(texts[at])
			for range 1 + rng.IntN(3) {
				i := rng.IntN(len(lines))
				if rng.IntN(3) == 0 && len(lines) > 20 {
					lines = slices.Delete(lines, i, i+1)
				} else {
					lines = slices.Insert(lines, i, fmt.Sprintf("new %d\n", rng.IntN(99)))
				}
			}
			texts = append(texts, lines)
			parents := []uint32{states[at]}
			if other := states[rng.IntN(len(states))]; rng.IntN(4) == 0 && other != states[at] {
				parents = append(parents, other)
			}
			put(lines, parents...)
			upon += compareKept(t, r, states[rng.IntN(len(states))])
		}
		for _, s := range states {
			upon += compareKept(t, r, s)
		}
		if err := im.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if upon < 20 {
		t.Errorf("only %d versions were made from one before", upon)
	}
}

// compareKept reads the file of a state with what is kept and without, and counts one that was made from an earlier one.
func compareKept(t *testing.T, r *Repo, s uint32) (upon int) {
	t.Helper()
	tree, err := r.tree(s)
	if err != nil {
		t.Fatal(err)
	}
	e, ok, err := tree.Get("f")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	k := r.kept
	r.kept = nil
	want, err := r.loadWeave(&e)
	if err != nil {
		t.Fatal(err)
	}
	wantText, err := r.render(nil, want)
	r.kept = k
	if err != nil {
		t.Fatal(err)
	}
	if e.Weave != 0 && k.find(&e) == nil {
		if _, from, err := chainOf(r.blocks.GetWeave, e.Weave, k.earlier(&e)); err != nil {
			t.Fatal(err)
		} else if from != nil {
			upon = 1
		}
	}
	got, err := r.loadWeave(&e)
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.render(nil, got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, wantText) || uint64(len(text)) != e.Size || hashOf(text) != e.Hash {
		t.Fatalf("state %d shows\n%s\nnot\n%s", s, text, wantText)
	}
	if got.ref != want.ref || got.length != want.length || got.weight != want.weight || got.base != want.base {
		t.Fatalf("state %d: %d records of %d bytes after %d, not %d of %d after %d", s, got.length, got.weight, got.base, want.length, want.weight, want.base)
	}
	sameWeave(t, got.w, want.w)
	return upon
}

// sameWeave compares two weaves, which may number their sets otherwise.
func sameWeave(t *testing.T, w, want *weave.Weave) {
	t.Helper()
	if !slices.Equal(w.Sources, want.Sources) || len(w.Runs) != len(want.Runs) || !slices.Equal(w.Open(), want.Open()) {
		t.Fatalf("%v\nnot\n%v", w, want)
	}
	for i := range w.Runs {
		a, b := w.Runs[i], want.Runs[i]
		for _, s := range [][2]weave.Set{{a.Dead, b.Dead}, {a.Before.Add, b.Before.Add}, {a.Before.Del, b.Before.Del}, {a.Inside.Add, b.Inside.Add}, {a.Inside.Del, b.Inside.Del}} {
			if !slices.Equal(w.Members(s[0]), want.Members(s[1])) {
				t.Fatalf("run %d: %v, not %v", i, w.Members(s[0]), want.Members(s[1]))
			}
		}
		a.Dead, a.Before, a.Inside = b.Dead, b.Before, b.Inside
		if a != b {
			t.Fatalf("run %d is %+v, not %+v", i, a, b)
		}
	}
}
