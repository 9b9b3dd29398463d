package repo

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// TestMutants sends changes that were recorded well and then altered here and there, with right ids: they are taken or refused,
// nothing panics, and what was taken is sound.
func TestMutants(t *testing.T) {
	opt := syncEnv(t)
	ctx := context.Background()
	a := newSite(t, "a", opt)
	a.put("code", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	a.put("dir/notes", "notes\nmore\n")
	a.put("run", "#!/bin/sh\n")
	a.record("Begin")
	a.put("code", "1\n2\nthree\n4\n5\n6\n7\n8\n9\n")
	a.record("Three")
	if err := os.Rename(filepath.Join(a.root, "dir/notes"), filepath.Join(a.root, "moved")); err != nil {
		t.Fatal(err)
	}
	a.put("code", "1\n2\nthree\n4\nx\ny\n7\n8\nnine\n")
	a.record("Move and edit")
	if _, err := a.Rollback(ctx, "main~1", RollbackOptions{}); err != nil {
		t.Fatal(err)
	}
	a.put("code", "1\n2\n3\n4\nx\ny\n8\nnine\n")
	if err := os.Remove(filepath.Join(a.root, "run")); err != nil {
		t.Fatal(err)
	}
	a.record("Remove")
	n := a.store.NumChanges()
	rnd := rand.New(rand.NewPCG(1, 2))
	took, tries := 0, 250
	for i := range tries {
		k := 1 + uint32(i)%(n-1)
		var ids []change.ID
		c := craft(t)
		for m := range k + 1 {
			rec, err := a.store.Change(m)
			if err != nil {
				t.Fatal(err)
			}
			ch, err := change.Decode(rec.Meta, rec.Body)
			if err != nil {
				t.Fatal(err)
			}
			if m < k {
				off := inlineOffsets(&rec, ch.Files)
				texts := map[int]string{}
				for j := range ch.Files {
					if off != nil && ch.Files[j].Size > 0 {
						texts[j] = string(rec.Texts[off[j] : off[j]+int(ch.Files[j].Size)])
					} else if ch.Files[j].Size > 0 {
						b, err := a.store.Blob(nil, ch.Files[j].Content)
						if err != nil {
							t.Fatal(err)
						}
						texts[j] = string(b)
					}
				}
				ids = append(ids, c.change(ch, texts))
				continue
			}
			texts := map[int]string{}
			for range 1 + rnd.IntN(3) {
				mutate(rnd, ch)
			}
			if ch.Validate() != nil {
				continue
			}
			for j := range ch.Files {
				f := &ch.Files[j]
				if f.Size > 0 {
					b := bytes.Repeat([]byte("mutant\n"), int(f.Size)/7+1)[:f.Size]
					b[len(b)-1] = '\n'
					texts[j], f.Content = string(b), hashOf(b)
				}
			}
			ids = append(ids, c.change(ch, texts))
		}
		c.main(ids...)
		c.check(c.w.Close())
		r := newSite(t, "r", opt)
		file := filepath.Join(t.TempDir(), "bundle")
		if err := os.WriteFile(file, c.b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.ApplyBundle(ctx, file); err == nil {
			took++
		}
		if i%10 == 0 {
			r.sound()
		}
		r.Close()
	}
	t.Logf("%d of %d were taken", took, tries)
}

// mutate alters one thing that a change says.
func mutate(r *rand.Rand, c *change.Change) {
	if len(c.Files) == 0 {
		return
	}
	f := &c.Files[r.IntN(len(c.Files))]
	num := func(v uint32) uint32 {
		return []uint32{0, 1, v + 1, v - 1, v * 2, 1 << 31, 1<<32 - 1, v + 7, uint32(r.IntN(30))}[r.IntN(9)]
	}
	switch r.IntN(9) {
	case 0:
		f.ID.Ord = num(f.ID.Ord)
	case 1:
		f.ID.Change = num(f.ID.Change)
	case 2:
		f.Writes ^= 1 << r.IntN(5)
		f.Path = "code"
	case 3:
		if len(f.Over) > 0 {
			f.Over[r.IntN(len(f.Over))].Ord = num(0)
		}
	case 4:
		f.Path = []string{"code", "code/x", "dir", "moved", "new"}[r.IntN(5)]
	default:
		if len(f.Hunks) == 0 {
			return
		}
		h := &f.Hunks[r.IntN(len(f.Hunks))]
		switch r.IntN(8) {
		case 0:
			h.L.Off = num(h.L.Off)
		case 1:
			h.R.Off = num(h.R.Off)
		case 2:
			h.L, h.R = h.R, h.L
		case 3:
			if len(h.Del) > 0 {
				d := &h.Del[r.IntN(len(h.Del))]
				d.Off = num(d.Off)
			}
		case 4:
			if len(h.Del) > 0 {
				d := &h.Del[r.IntN(len(h.Del))]
				d.Len = num(d.Len)
			}
		case 5:
			h.L.Change = num(h.L.Change)
		case 6:
			h.Left, h.Parent = !h.Left, h.R
		case 7:
			h.Del = append(h.Del, change.Stretch{Change: 1, Off: num(2), Len: 2})
		}
	}
}
