package bucket

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/s3"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// world is a bucket beside what it should hold.
type world struct {
	t     *testing.T
	rnd   *rand.Rand
	m     *memory
	clock time.Time
	c     *client
	names map[sync.RefKind]map[string][]change.ID
	past  [][32]byte // states that names had
	made  int
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), m: newMemory(), clock: time.Unix(1_800_000_000, 0),
		names: map[sync.RefKind]map[string][]change.ID{sync.Bookmark: {}, sync.Tag: {}}}
	w.m.now = func() time.Time { return w.clock }
	w.c = newClient(w.m)
	return w
}

func (w *world) fresh(n int) (out []change.ID) {
	for range n {
		w.made++
		text := make([]byte, w.rnd.IntN(200))
		if w.rnd.IntN(40) == 0 {
			text = make([]byte, w.rnd.IntN(40_000))
		}
		for i := range text {
			text[i] = byte('a' + w.rnd.IntN(26))
		}
		out = append(out, newChange(fmt.Sprintf("%d %d %s", w.rnd.Uint64(), w.made, text)))
	}
	return out
}

// push tells the bucket and the oracle the same.
func (w *world) push(ps ...pushOne) {
	w.t.Helper()
	answers, err := w.c.push(context.Background(), ps...)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, a := range answers {
		p := ps[i]
		had, there := w.names[p.kind][p.name]
		_, other := w.names[sync.Bookmark+sync.Tag-p.kind][p.name]
		same := stateOf(had) == stateOf(p.log)
		want := !other && (same || p.force || !there || p.kind == sync.Bookmark && len(less(had, p.log)) == 0)
		if a.Done != want {
			w.t.Fatalf("%s %s: %+v, and it should be %v", p.kind, p.name, a, want)
		}
		if want {
			w.names[p.kind][p.name] = p.log
			w.past = append(w.past, stateOf(p.log))
		}
	}
}

// check has somebody with some of the states fetch some of the names.
func (w *world) check() {
	w.t.Helper()
	var haves [][32]byte
	if len(w.past) > 0 && w.rnd.IntN(3) > 0 {
		for range w.rnd.IntN(3) {
			haves = append(haves, w.past[w.rnd.IntN(len(w.past))])
		}
	}
	all := w.rnd.IntN(2) == 0
	f, err := w.c.fetch(context.Background(), haves, func(sync.Ref) bool { return all || w.rnd.IntN(2) == 0 })
	if err != nil {
		w.t.Fatal(err)
	}
	if n := len(w.names[sync.Bookmark]) + len(w.names[sync.Tag]); all && len(f.refs) != n {
		w.t.Fatalf("%d names, not %d", len(f.refs), n)
	}
	for _, ref := range f.refs {
		want := w.names[ref.Kind][ref.Name]
		if ref.State != stateOf(want) || !slices.Equal(sorted(f.logs[ref.State]), sorted(want)) {
			w.t.Fatalf("%s is not what it should be", ref.Name)
		}
		if len(haves) == 0 && ref.Kind == sync.Bookmark && !slices.Equal(f.logs[ref.State], want) {
			w.t.Fatalf("%s came in another order", ref.Name)
		}
	}
}

func sorted(ids []change.ID) []change.ID {
	out := slices.Clone(ids)
	change.SortIDs(out)
	return out
}

// whole holds what lies in the store against the root.
func (w *world) whole() *Root {
	w.t.Helper()
	b := New(w.c.store, "project", w.c)
	r, err := b.readRoot(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	run := 0
	for _, p := range r.Packs {
		size := p.Data
		if p.Inline == nil {
			size += p.Table
		}
		for n := 0; uint64(n)*pieceSize < size; n++ {
			o, ok := w.m.objects[b.pieceName(p.Key, n)]
			if !ok || uint64(len(o.data)) != min(size-uint64(n)*pieceSize, pieceSize) {
				w.t.Fatalf("piece %d of pack %s has %d bytes", n, p.Key, len(o.data))
			}
		}
		if run++; p.Data >= lastStep {
			run = 0
		}
		if run >= mostInRun {
			w.t.Fatalf("%d packs side by side", run)
		}
	}
	return r.Root
}

// garbage counts packs that the root does not name.
func (w *world) garbage() (n int) {
	needed := map[Key]bool{}
	for _, p := range w.whole().Packs {
		needed[p.Key] = true
	}
	b := New(w.c.store, "project", w.c)
	for name := range w.m.objects {
		if k, ok := b.keyOf(name); ok && !needed[k] {
			n++
		}
	}
	return n
}

// TestStories pushes and fetches at random: what comes is what was pushed, and packs stay few.
func TestStories(t *testing.T) {
	for seed := range uint64(4) {
		w := newWorld(t, seed)
		names := []string{"main", "a", "b", "v1"}
		for range 150 {
			kind, name := sync.Bookmark, names[w.rnd.IntN(len(names))]
			if w.rnd.IntN(8) == 0 {
				kind = sync.Tag
			}
			log := slices.Clone(w.names[kind][name])
			if w.rnd.IntN(3) == 0 { // of another name
				log = slices.Clone(w.names[sync.Bookmark][names[w.rnd.IntN(len(names))]])
			}
			if len(log) > 0 && w.rnd.IntN(6) == 0 {
				log = slices.Delete(log, w.rnd.IntN(len(log)), len(log))
			}
			log = append(log, w.fresh(w.rnd.IntN(4))...)
			if len(log) == 0 {
				continue
			}
			p := pushOne{kind, name, log, w.rnd.IntN(4) == 0}
			if w.rnd.IntN(5) == 0 {
				q := p
				q.name = names[w.rnd.IntN(len(names))]
				q.kind = sync.Bookmark
				if q.name != p.name {
					w.push(p, q)
					continue
				}
			}
			w.push(p)
			w.check()
			if w.rnd.IntN(10) == 0 {
				w.clock = w.clock.Add(time.Duration(w.rnd.IntN(30)) * time.Hour)
			}
		}
		w.whole()
	}
}

// TestGrowth: of many small pushes few packs come, and a sweep leaves nothing of the others but what a reader may still need.
func TestGrowth(t *testing.T) {
	w := newWorld(t, 3)
	log := w.fresh(1)
	w.push(pushOne{sync.Bookmark, "main", log, false})
	for range 600 {
		log = append(slices.Clone(log), w.fresh(1)...)
		w.push(pushOne{sync.Bookmark, "main", log, false})
		w.clock = w.clock.Add(10 * time.Minute)
	}
	r := w.whole()
	if len(r.Packs) > 2*runLength {
		t.Errorf("%d packs", len(r.Packs))
	}
	w.check()
	t.Logf("%d packs, %d that are garbage, root of %d bytes", len(r.Packs), w.garbage(), len(r.Encode()))
	for range 5 * runLength {
		log = append(slices.Clone(log), w.fresh(1)...)
		w.push(pushOne{sync.Bookmark, "main", log, false})
		w.clock = w.clock.Add(6 * time.Hour)
	}
	if n := w.garbage(); n > 3*runLength {
		t.Errorf("%d packs of garbage are left", n)
	}
	w.check()
	// Who is one push behind reads no more than the packs that it lies in.
	w.m.log = nil
	if _, err := w.c.fetch(context.Background(), [][32]byte{stateOf(log[:len(log)-1])}, nil); err != nil {
		t.Fatal(err)
	}
	if len(w.m.log) > 3 {
		t.Errorf("one push behind:\n%s", strings.Join(w.m.log, "\n"))
	}
}

// TestSweepSparesStrangers: what the store lists that oxy did not write there is let alone, whatever its age.
func TestSweepSparesStrangers(t *testing.T) {
	w := newWorld(t, 4)
	k := newKey(9).String()
	strangers := []string{"other/root", "project/notes", "project/packs/readme", "project/packs/" + k, "project/packs/" + k + "/x", "project/packs/" + k + "/01",
		"project/packs/" + k + "/-1", "project/packs/" + strings.ToLower(k) + "/0", "project/packs/" + k + "/0/0", "projects/packs/" + k + "/0"}
	for _, name := range strangers {
		w.m.put(name, []byte("precious"))
	}
	w.m.put("project/packs/"+k+"/0", []byte("of a push that was cut"))
	liar := &liar{memory: w.m}
	w.c.store = liar
	var log []change.ID
	for range 100 {
		log = append(slices.Clone(log), w.fresh(1)...)
		w.push(pushOne{sync.Bookmark, "main", log, false})
		w.clock = w.clock.Add(5 * time.Hour)
	}
	for _, name := range strangers {
		if _, ok := w.m.objects[name]; !ok {
			t.Errorf("%s was deleted", name)
		}
	}
	if _, ok := w.m.objects["project/packs/"+k+"/0"]; ok {
		t.Error("garbage was not")
	}
	w.check()
}

// liar lists all that it has, asked for a prefix or not.
type liar struct{ *memory }

func (l *liar) List(ctx context.Context, _ string) ([]s3.Listed, error) {
	return l.memory.List(ctx, "")
}

func newKey(b byte) (k Key) {
	for i := range k {
		k[i] = b + byte(i)
	}
	return k
}

// careless takes every write.
type careless struct{ *memory }

func (c *careless) PutIf(ctx context.Context, key string, body []byte, _ string) (s3.Info, error) {
	return c.Put(ctx, key, body)
}

func TestStoreWithoutConditions(t *testing.T) {
	w := newWorld(t, 5)
	w.c.store = &careless{w.m}
	_, err := w.c.push(context.Background(), pushOne{sync.Bookmark, "main", w.fresh(1), false})
	if !errors.Is(err, ErrNoConditions) {
		t.Error(err)
	}
	if _, ok := w.m.objects["project/root"]; ok {
		t.Error("and has a root")
	}
}

// TestMergePolicy replays many pushes of all sizes on roots alone: packs stay few, and a byte is not written often.
func TestMergePolicy(t *testing.T) {
	for name, size := range map[string]func(*rand.Rand) uint64{
		"small":  func(r *rand.Rand) uint64 { return 200 + r.Uint64N(2000) },
		"mixed":  func(r *rand.Rand) uint64 { return 100 << r.Uint64N(18) },
		"turns":  func(r *rand.Rand) uint64 { return []uint64{300, 3 << 20}[r.Uint64N(2)] },
		"medium": func(r *rand.Rand) uint64 { return 300_000 + r.Uint64N(1<<20) },
	} {
		rnd := rand.New(rand.NewPCG(1, 1))
		r := &Root{}
		pushed, written, most, large := uint64(0), uint64(0), 0, uint64(0)
		for range 12_000 {
			n := size(rnd)
			pushed += n
			r.Packs = append(r.Packs, Pack{Data: n})
			for {
				from, to, ok := r.mergeRun()
				if !ok {
					break
				}
				sum := uint64(0)
				for _, p := range r.Packs[from:to] {
					sum += p.Data
				}
				written += sum
				large = max(large, sum)
				r.Packs = slices.Replace(r.Packs, from, to, Pack{Data: sum})
			}
			most = max(most, len(r.Packs))
		}
		bound := int(pushed/lastStep) + mostInRun*3
		bound = min(bound, manyPacks+mostInRun)
		if most > bound {
			t.Errorf("%s: %d packs, and %d are due", name, most, bound)
		}
		if written > 5*pushed || large > 2*largestRun {
			t.Errorf("%s: %d bytes pushed, %d written, up to %d at once", name, pushed, written, large)
		}
		t.Logf("%s: %d MB, at most %d packs, each byte merged %.1f times, up to %d KB at once", name, pushed>>20, most, float64(written)/float64(pushed), large>>10)
	}
}
