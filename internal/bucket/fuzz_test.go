package bucket

import (
	"bytes"
	"testing"
)

func seedRoot() *Root {
	t := Table{{10, []Move{{Generation: 3, State: [32]byte{1}}, {4, [32]byte{2}, [32]byte{1}, 3}}}, {7, nil}, {20, []Move{{4, [32]byte{3}, [32]byte{9}, 1}}}}
	p := Pack{Key: newKey(3), Data: 37}
	p.setTable(t)
	q := Pack{Key: newKey(4), Data: 1 << 30, Table: 1 << 20, From: 9, To: 300, Check: 7}
	return &Root{Generation: 1000, First: "main", Packs: []Pack{p, q}, Names: []Name{{1, "main", [32]byte{2}, 5, 4}, {2, "v1", [32]byte{3}, 1, 1}}}
}

func FuzzRoot(f *testing.F) {
	f.Add(seedRoot().Encode())
	f.Add((&Root{Generation: 1}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		resum(b)
		r, err := DecodeRoot(b)
		if err != nil {
			return
		}
		if !bytes.Equal(r.Encode(), b) {
			t.Error("another encoding was taken")
		}
		r.mergeRun()
		r.Refs()
		for i := range r.Packs {
			if p, ok := r.pack(r.Packs[i].To); !ok || p != &r.Packs[i] {
				t.Error("a pack is not found")
			}
			if p := &r.Packs[i]; p.Inline != nil {
				_, _ = DecodeTable(p.Inline, p.Data, p.From, p.To)
			}
		}
	})
}

func FuzzTable(f *testing.F) {
	f.Add(seedRoot().Packs[0].Inline, uint64(37), uint64(3), uint64(4))
	f.Fuzz(func(t *testing.T, b []byte, data, from, to uint64) {
		table, err := DecodeTable(b, data, from, to)
		if err == nil && (!bytes.Equal(table.Encode(), b) || table.from() != from || table.to() != to) {
			t.Error("another encoding was taken")
		}
	})
}

func FuzzGarbage(f *testing.F) {
	f.Add(garbage{{newKey(1), 1}, {newKey(2), 5}}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		resum(b)
		g, err := decodeGarbage(b)
		if err == nil && !bytes.Equal(g.encode(), b) {
			t.Error("another encoding was taken")
		}
	})
}
