package repo

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/weave"
)

// Packed once, packed twice, and copied by a commit's own compaction, every weave of every tree that is kept holds what it held
// before, shows the same text, and can be added to; and fsck finds nothing.
func TestPackedWeavesHoldTheSame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 14))
	ctx := context.Background()
	w := born(t)
	w.commit(t, "first")
	text := map[string][]string{}
	for _, f := range []string{"hot", "warm", "cold"} {
		for i := range 60 {
			text[f] = append(text[f], fmt.Sprintf("%s line %d\n", f, i))
		}
	}
	edit := func(r *Repo, i int, f string) {
		lines := text[f]
		at := rnd.IntN(len(lines) - 3)
		switch rnd.IntN(3) {
		case 0:
			lines = append(lines[:at:at], append([]string{fmt.Sprintf("new %d\n", i)}, lines[at:]...)...)
		case 1:
			lines = append(lines[:at:at], append([]string{fmt.Sprintf("other %d\n", i)}, lines[at+2:]...)...)
		default:
			lines[at] = fmt.Sprintf("changed %d\n", i)
		}
		text[f] = lines
		put(t, w.mem, f, strings.Join(lines, ""))
	}
	w.with(t, func(r *Repo) error {
		for i := range 260 {
			switch {
			case i%90 == 50: // a side of its own, merged
				tip, err := r.Base()
				check(t, err)
				side := fmt.Sprint("side", i)
				check(t, r.SetBookmark(side, tip, false))
				_, err = r.Checkout(ctx, side)
				check(t, err)
				put(t, w.mem, "cold", strings.Join(text["cold"], "")+fmt.Sprintf("%s\n", side))
				_, err = r.Commit(ctx, CommitOptions{Message: side, Time: at(int64(i))})
				check(t, err)
				_, err = r.Checkout(ctx, "main")
				check(t, err)
				edit(r, i, "hot")
				_, err = r.Commit(ctx, CommitOptions{Message: "beside", Time: at(int64(i))})
				check(t, err)
				_, err = r.Merge(ctx, side, MergeOptions{})
				check(t, err)
				text["cold"] = append(text["cold"], side+"\n")
				continue
			case i == 120: // an undoing is no record
				_, err := r.Rollback(ctx, "@", RollbackOptions{Time: at(int64(i))})
				check(t, err)
				text["hot"] = strings.SplitAfter(strings.TrimSuffix(memDisk(t, w.mem)["hot"], "\n"), "\n")
				text["hot"][len(text["hot"])-1] += "\n"
			}
			edit(r, i, "hot")
			if i%3 == 0 {
				edit(r, i, "warm")
			}
			if i%60 == 7 {
				edit(r, i, "cold")
			}
			_, err := r.Commit(ctx, CommitOptions{Message: fmt.Sprint(i), Time: at(int64(i))})
			check(t, err)
			if i%17 == 0 {
				_, err := r.Checkpoint()
				check(t, err)
			}
		}
		return nil
	})
	before, size := weavesOf(t, w)
	for round := range 3 {
		pack(t, w)
		after, packed := weavesOf(t, w)
		if len(after) < 60 {
			t.Fatalf("%d weaves are left of %d", len(after), len(before))
		}
		for name, got := range after {
			want, ok := before[name]
			if !ok {
				continue
			}
			if !want.w.Equal(got.w) || !got.w.Equal(want.w) {
				t.Errorf("round %d, %s: another weave", round, name)
			}
			if !bytes.Equal(want.text, got.text) {
				t.Errorf("round %d, %s shows another text", round, name)
			}
		}
		if round == 0 && packed*2 > size {
			t.Errorf("%d bytes of trees were packed to %d", size, packed)
		}
		w.with(t, func(r *Repo) error {
			for i := range 30 {
				edit(r, 1000*(round+1)+i, "hot")
				_, err := r.Commit(ctx, CommitOptions{Message: "more", Time: at(int64(1000 + i))})
				check(t, err)
			}
			if round == 1 { // a compaction of a commit copies what is packed
				b, err := r.openBlocks()
				check(t, err)
				v, err := r.view()
				check(t, err)
				packed := b.Size()
				next, err := r.compact(nil, v)
				check(t, err)
				r.blocks = next
				if next.Size() > packed {
					t.Error("copying undoes the packing")
				}
				check(t, r.update("checkpoint", func(*store.View) error { return nil }))
			}
			return nil
		})
		fine(t, w.mem)
		more, _ := weavesOf(t, w)
		for name, l := range more {
			before[name] = l
		}
	}
}

type heldWeave struct {
	w    *weave.Weave
	text []byte
}

// weavesOf reads all weaves of all trees that are kept, and tells how large the trees' file is.
func weavesOf(t testing.TB, w *world) (all map[string]heldWeave, size uint64) {
	all = map[string]heldWeave{}
	w.with(t, func(r *Repo) error {
		b, err := r.openBlocks()
		check(t, err)
		size = b.Size()
		roots, err := b.Roots()
		check(t, err)
		for _, root := range roots {
			check(t, b.Tree(root.Root).Walk("", func(e *state.Entry) error {
				if e.Weave == 0 {
					return nil
				}
				l, err := r.loadWeave(e)
				if err != nil {
					return fmt.Errorf("%s of state %d: %w", e.Path, root.State, err)
				}
				text, err := r.render(nil, l)
				all[fmt.Sprint(e.Path, " of state ", root.State)] = heldWeave{l.w, text}
				return err
			}))
		}
		return nil
	})
	return all, size
}

// What the latest tree shows stands behind its weaves once they are packed, so that no change is read for it: behind a few records as
// a text, behind many in a snapshot; but not of a file of which nothing else keeps a text. Packing again keeps it. Who wrote lines is read of the records as of the weave that they make.
func TestPackedWeavesShowTheLatest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	w := born(t)
	text := map[string][]string{}
	for f, lines := range map[string]int{"none": 100, "few": 800, "many": 800} {
		for range lines {
			text[f] = append(text[f], fmt.Sprintf("a line of %s, %x\n", f, rnd.Uint64()))
		}
		put(t, w.mem, f, strings.Join(text[f], ""))
	}
	w.commit(t, "first")
	edits := func(f string, n int) {
		w.with(t, func(r *Repo) error {
			for i := range n {
				text[f][rnd.IntN(len(text[f]))] = fmt.Sprintf("edit %d of %s\n", i, f)
				put(t, w.mem, f, strings.Join(text[f], ""))
				_, err := r.Commit(context.Background(), CommitOptions{Message: f, Time: at(int64(i))})
				check(t, err)
			}
			return nil
		})
	}
	edits("none", freshText)
	edits("few", 17+freshText) // after 17 it has a snapshot, which more do not outweigh
	edits("many", 17+3*freshRecords)
	for round := range 3 {
		want := map[string]int{"none": freshText, "few": freshText, "many": 0} // records behind a snapshot
		if round == 2 {
			edits("many", freshRecords-1) // enough for gc to write the trees anew
			want["many"] = freshRecords - 1
		}
		pack(t, w)
		w.with(t, func(r *Repo) error {
			tip, err := r.Base()
			check(t, err)
			tree, err := r.tree(tip.Num)
			check(t, err)
			for f, records := range want {
				e, _, err := tree.Get(f)
				check(t, err)
				l, err := r.loadWeave(&e)
				check(t, err)
				shows := strings.Join(text[f], "")
				if f == "none" {
					shows = ""
				}
				if string(l.text) != shows || shows != "" && l.from != l.w {
					t.Errorf("round %d, %s: %d bytes are at hand of what shows", round, f, len(l.text))
				}
				if l.length != records {
					t.Errorf("round %d, %s: %d records behind the snapshot, not %d", round, f, l.length, records)
				}
				wrote, err := r.wroteLines(e.Weave)
				check(t, err)
				told := map[uint32]bool{}
				for _, n := range wrote {
					told[n] = true
				}
				for _, s := range l.w.Sources {
					if !told[s.Change] {
						t.Errorf("round %d, %s: change %d is not told", round, f, s.Change)
					}
				}
				if len(told) != len(l.w.Sources) {
					t.Errorf("round %d, %s: %d changes are told of %d", round, f, len(told), len(l.w.Sources))
				}
			}
			return nil
		})
		fine(t, w.mem)
	}
}
