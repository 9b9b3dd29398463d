package bucket

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/oxy-vcs/oxy/internal/s3"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// resum puts the right checksum on what was altered.
func resum(b []byte) {
	if n := len(b) - 8; n >= 0 {
		binary.LittleEndian.PutUint64(b[n:], xxh3.Hash(b[:n]))
	}
}

// TestLies alters a bucket everywhere: cut, flipped, emptied, swapped, lost. A reader says that it cannot be read, or reads what was pushed; it never waits for ever.
func TestLies(t *testing.T) {
	w := newWorld(t, 6)
	log := w.fresh(2)
	w.push(pushOne{sync.Bookmark, "main", log, false})
	for i := range 20 {
		log = append(slices.Clone(log), w.fresh(1+i%3)...)
		w.push(pushOne{sync.Bookmark, "main", log, false}, pushOne{sync.Tag, "v" + string(rune('a'+i)), log, false})
	}
	root := w.whole()
	var live []string
	for name := range w.m.objects {
		b := New(w.c.store, "project", w.c)
		if k, ok := b.keyOf(name); ok && slices.ContainsFunc(root.Packs, func(p Pack) bool { return p.Key == k }) {
			live = append(live, name)
		}
	}
	slices.Sort(live)
	live = append(live, "project/root")
	good := w.m
	haves := [][32]byte{stateOf(log[:2])}
	read := func(what string) (failed bool) {
		for _, h := range [][][32]byte{nil, haves} {
			f, err := w.c.fetch(context.Background(), h, nil)
			if err != nil {
				failed = true
				continue
			}
			for _, ref := range f.refs {
				if want := w.names[ref.Kind][ref.Name]; ref.State != stateOf(want) {
					t.Errorf("%s: another %s was read", what, ref.Name)
				}
			}
		}
		return failed
	}
	for _, name := range live {
		for try := range 60 {
			m := good.copy()
			w.c.store = m
			o := m.objects[name]
			data := slices.Clone(o.data)
			what := ""
			switch try % 6 {
			case 0:
				what, data = "cut", data[:w.rnd.IntN(len(data))]
			case 1:
				what = "flipped"
				data[w.rnd.IntN(len(data))] ^= 1 << w.rnd.IntN(8)
			case 2:
				what = "another"
				data = slices.Clone(m.objects[live[w.rnd.IntN(len(live))]].data)
			case 3:
				what = "longer"
				data = append(data, data...)
			case 4:
				what = "flipped, with the right sum"
				if name != "project/root" {
					continue
				}
				data[8+w.rnd.IntN(len(data)-16)] ^= 1 << w.rnd.IntN(8)
				resum(data)
			case 5:
				what = "lost"
				delete(m.objects, name)
				if name != "project/root" && !read(what+" "+name) {
					t.Errorf("%s: nobody missed %s", what, name)
				}
				continue
			}
			o.data = data
			m.objects[name] = o
			read(what + " " + name)
		}
	}
}

// TestTableLies: a table that says of moves what its segments do not have, or leads in a ring, ends in an error.
func TestTableLies(t *testing.T) {
	state := func(b byte) [32]byte { return [32]byte{b} }
	for _, c := range []struct {
		name     string
		table    Table
		from, to uint64
	}{
		{"base of its own generation", Table{{10, []Move{{1, state(1), state(2), 1}}}}, 1, 1},
		{"base of the future", Table{{10, []Move{{1, state(1), state(2), 9}}}}, 1, 1},
		{"base of no generation", Table{{10, []Move{{1, state(1), state(2), 0}}}}, 1, 1},
		{"no base, and a generation", Table{{10, []Move{{2, state(1), state(0), 1}}}}, 2, 2},
		{"the empty state", Table{{10, []Move{{1, state(0), state(0), 0}}}}, 1, 1},
		{"other bytes", Table{{11, []Move{{1, state(1), state(0), 0}}}}, 1, 1},
		{"no moves", Table{{10, nil}}, 1, 1},
		{"begins later", Table{{10, []Move{{2, state(1), state(0), 0}}}}, 1, 2},
	} {
		if _, err := DecodeTable(c.table.Encode(), 10, c.from, c.to); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A count that promises more than there is makes no room.
	for _, b := range [][]byte{binary.AppendUvarint(nil, 1<<63), append([]byte{1, 10}, binary.AppendUvarint(nil, 1<<62)...)} {
		if _, err := DecodeTable(b, 10, 1, 1); !errors.Is(err, ErrMalformed) {
			t.Error(err)
		}
	}
}

// TestRootWithoutETag: where the root cannot be named nothing can be swapped.
func TestRootWithoutETag(t *testing.T) {
	w := newWorld(t, 7)
	log := w.fresh(1)
	w.push(pushOne{sync.Bookmark, "main", log, false})
	o := w.m.objects["project/root"]
	o.etag = ""
	w.m.objects["project/root"] = o
	_, err := w.c.push(context.Background(), pushOne{sync.Bookmark, "main", append(log, w.fresh(1)...), false})
	if err == nil || !strings.Contains(err.Error(), "ETag") {
		t.Error(err)
	}
}

// slow takes half a day for a piece.
type slow struct {
	*memory
	w *world
}

func (s *slow) Put(ctx context.Context, key string, body []byte) (s3.Info, error) {
	info, err := s.memory.Put(ctx, key, body)
	s.w.clock = s.w.clock.Add(packAge + time.Minute)
	return info, err
}

// TestSlowPush: a pack that a sweep may soon delete is not named by a root that was read after.
func TestSlowPush(t *testing.T) {
	w := newWorld(t, 8)
	log := w.fresh(1)
	w.push(pushOne{sync.Bookmark, "main", log, false})
	lost := &racing{slow: &slow{w.m, w}}
	w.c.store = lost
	_, err := w.c.push(context.Background(), pushOne{sync.Bookmark, "main", append(slices.Clone(log), w.fresh(1)...), false})
	if !errors.Is(err, ErrSlow) {
		t.Errorf("%v", err)
	}
	w.c.store = w.m
	w.check()
}

// racing has the first swap fail, as if another had been faster.
type racing struct {
	*slow
	failed bool
}

func (r *racing) PutIf(ctx context.Context, key string, body []byte, etag string) (s3.Info, error) {
	if !r.failed {
		r.failed = true
		return s3.Info{}, s3.ErrCondition
	}
	return r.memory.PutIf(ctx, key, body, etag)
}
