package state

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// What a compaction packs reads as it was, chains and dictionaries go along when it is copied, and damage of it is told.
func TestPackedWeaves(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	fsys := vfs.NewMem()
	b := open(t, fsys, Hint{Generation: 1})
	tree := b.Tree(Root{})
	long := make([]byte, 20_000)
	r.Read(long)
	want := map[uint32][][]byte{} // of each state, the payloads of each file's chain, the latest first
	for state := range uint32(3) {
		var edits []Edit
		for f := range uint32(4) {
			id := change.FileID{Change: f}
			payload := append(fmt.Appendf(nil, "state %d file %d ", state, f), long[:5000*f]...)
			ref, err := b.PutWeave(0, payload)
			if err != nil {
				t.Fatal(err)
			}
			edits = append(edits, Edit{Path: fmt.Sprint("f", f), Entry: Entry{File: id, Place: id, Mode: id, Body: id, Weave: ref}})
			want[state] = append(want[state], payload)
		}
		var err error
		if tree, err = tree.Edit(edits); err != nil {
			t.Fatal(err)
		}
		b.PutRoot(StateRoot{State: state, Root: tree.Root()})
	}
	files := 0
	pack := func(p *WeavePacker, heads []Ref) error {
		files++
		if len(heads) != 3 {
			t.Errorf("%d weaves of a file in three trees", len(heads))
		}
		dict := Ref(0)
		for _, h := range heads {
			_, payload, err := p.Get(h)
			if err != nil {
				return err
			}
			ref, err := p.Put(0, dict, payload)
			if err != nil {
				return err
			}
			if p.Moved(h, ref); dict == 0 {
				dict = ref
			}
		}
		return nil
	}
	keep := []uint32{0, 1, 2}
	packed, err := b.Compact(keep, 2, pack)
	if err != nil || files != 4 {
		t.Fatalf("%d files, %v", files, err)
	}
	copied, err := packed.Compact(keep, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := flush(t, copied)
	if h.Size*2 > b.Size() || h.Size > packed.Size()+100 {
		t.Errorf("%d bytes were packed to %d and copied to %d", b.Size(), packed.Size(), h.Size)
	}
	read := func(b *Blocks) (first error) {
		for _, state := range keep {
			root, ok, err := b.Root(state)
			if !ok || err != nil {
				return errors.Join(err, ErrDamaged)
			}
			for f, payload := range want[state] {
				e, _, err := b.Tree(root.Root).Get(fmt.Sprint("f", f))
				if err == nil {
					var got []byte
					if _, got, err = b.GetWeave(e.Weave); err == nil && !bytes.Equal(got, payload) {
						t.Fatalf("state %d, file %d: another weave", state, f)
					}
				}
				if first == nil {
					first = err
				}
			}
		}
		return first
	}
	for _, blocks := range []*Blocks{b, packed, copied, open(t, fsys, h)} {
		if err := read(blocks); err != nil {
			t.Fatal(err)
		}
	}
	// Whatever a packed weave says under a right checksum, nothing but damage comes of it.
	for range 300 {
		ref, err := copied.PutWeave(0, long[:100])
		if err != nil {
			t.Fatal(err)
		}
		payload := make([]byte, r.Intn(40))
		r.Read(payload)
		if r.Intn(2) == 0 {
			payload = append(appendRef(appendRef(nil, 0), ref), payload...)
		}
		bad := copied.put(kindPackedWeave, payload)
		if _, _, err := copied.GetWeave(bad); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	}
	root, _, _ := copied.Root(2)
	e, _, err := copied.Tree(root.Root).Get("f3")
	if err != nil {
		t.Fatal(err)
	}
	withDict, err := (&WeavePacker{c: &compactor{to: copied}}).Put(0, e.Weave, append([]byte("again "), want[2][3]...))
	if err != nil {
		t.Fatal(err)
	}
	link := packedLink{dict: withDict, raw: 9, data: []byte("whatever")}
	if _, _, err := copied.GetWeave(copied.putPacked(&link)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a dictionary that has one: %v", err)
	}
}

// A packed weave that decompresses to another length than it says is refused, though the decoder has room for more.
func TestPackedWeaveOfAnotherLength(t *testing.T) {
	content := bytes.Repeat([]byte("a line of it\n"), 300)
	dict := bytes.Repeat([]byte("a line of the other\n"), 300)
	for _, with := range [][]byte{nil, dict} {
		for _, told := range []bool{true, false} {
			o := []zstd.EOption{zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false)}
			if with != nil {
				o = append(o, zstd.WithEncoderDictRaw(packedDict, with))
			}
			var buf bytes.Buffer
			z, err := zstd.NewWriter(&buf, o...)
			if err != nil {
				t.Fatal(err)
			}
			data := z.EncodeAll(content, nil)
			if !told {
				if _, err := z.Write(content); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(z.Flush(), z.Close()); err != nil {
					t.Fatal(err)
				}
				data = buf.Bytes()
			}
			for more := -2 * decodeSlack; more <= 2*decodeSlack; more++ {
				out, err := unpack(packedLink{raw: len(content) - more, data: data}, with)
				if (err == nil) != (more == 0) {
					t.Fatalf("dictionary %v, told %v, %d bytes more than it says: %d, %v", with != nil, told, more, len(out), err)
				}
			}
		}
	}
}
