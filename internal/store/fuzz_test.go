package store

import (
	"bytes"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// FuzzFrame gives a frame of any kind a valid header and checksum and lets a scan read it: no panic, and what is
// accepted counts what it holds.
func FuzzFrame(f *testing.F) {
	f.Add(byte(kindBlobs), byte(codecRaw), uint16(0), uint32(1), append(make([]byte, 36), []byte("x")...), uint32(1))
	f.Add(byte(kindBlobs), byte(codecZstd), uint16(0), uint32(0), compress(nil, bytes.Repeat([]byte("ab"), 90)), uint32(180))
	f.Add(byte(kindChange), byte(codecRaw), uint16(0), uint32(1), make([]byte, changeTable+4), uint32(0))
	f.Add(byte(kindStates), byte(codecRaw), uint16(0), uint32(1), appendState(nil, &State{Parent: -1}), uint32(35))
	op := opTableFields{n: counts{opsCol: 1}}
	f.Add(byte(kindOp), byte(codecRaw), uint16(0), uint32(0), (&opBody{}).append(op.append(nil)), uint32(3))
	f.Fuzz(func(t *testing.T, kind, code byte, flags uint16, items uint32, stored []byte, raw uint32) {
		b, _ := beginFrame(nil)
		b = append(b, stored...)
		for len(b)%frameAlign != 0 {
			b = append(b, 0)
		}
		h := header{kind: frameKind(kind), codec: codec(code), flags: flags, raw: raw, stored: uint32(len(stored)), items: items}
		h.put(b)
		if got, err := parseHeader(b); err != nil || got != h {
			if err == nil {
				t.Fatalf("%v read as %v", h, got)
			}
			return
		}
		p := placeAt(1, segmentStart)
		seal(b, 5, p)
		if err := checkFrame(b, h, 5, p); err != nil {
			t.Fatal(err)
		}
		batch := batch{logID: 5, n: counts{changesCol: 3, statesCol: 2}}
		before := batch.n
		if batch.addFrame(splitFrame(b, h), p) != nil {
			return
		}
		for c := range numColumns {
			if len(batch.cols[c]) != int(batch.n[c]-before[c])*recordSizes[c] {
				t.Fatalf("%d bytes of %s for %d records", len(batch.cols[c]), columnNames[c], batch.n[c]-before[c])
			}
		}
	})
}

// FuzzLog opens a log that ends in any bytes.
func FuzzLog(f *testing.F) {
	mem := newMem(f)
	f.Add([]byte("x"))
	if good, err := mem.ReadFile(segmentName(testDir, 1), 1<<20); err == nil {
		f.Add(good)
	}
	f.Fuzz(func(t *testing.T, tail []byte) {
		mem := vfs.NewMem()
		if err := mem.MkdirAll("/repo", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := Create(mem, testDir); err != nil {
			t.Fatal(err)
		}
		appendFile(t, mem, segmentName(testDir, 1), string(tail))
		s := open(t, mem)
		defer s.Close()
		if s.NumOps() != 0 {
			t.Fatal("an operation from nothing") // the log's id is drawn at random
		}
		if err := appendOne(s, "main"); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzHead(f *testing.F) {
	h := head{op: placeAt(1, 48), end: placeAt(1, 200), n: counts{1, 2, 3, 4, 5}, hint: []byte("hint")}
	f.Add(h.encode(7))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := parseHead(b, 7); err == nil && !bytes.Equal(h.encode(7), b) {
			t.Fatalf("%x encoded again as %x", b, h.encode(7))
		}
	})
}

func FuzzView(f *testing.F) {
	v := NewView()
	alterView(v, testRand(1), 9)
	var entries []viewEntry
	diffViews(NewView(), v, func(e viewEntry) { entries = append(entries, e) })
	f.Add(encodeEntries(entries))
	f.Add(encodeEntries([]viewEntry{{class: classTag, gone: true, key: "old"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		v := NewView()
		var entries []viewEntry
		err := decodeEntries(b, func(e viewEntry) {
			v.apply(e)
			entries = append(entries, e)
		})
		if again := encodeEntries(entries); err == nil && !bytes.Equal(again, b) {
			t.Fatalf("%x encoded again as %x", b, again)
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add(appendState(nil, &State{Parent: 3, Changes: []uint32{5, 6, 7, 1}, Pos: 9, ID: [32]byte{1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		st, rest, err := decodeState(b, counts{changesCol: 1000, statesCol: 5})
		if err == nil && !bytes.Equal(appendState(nil, &st), b[:len(b)-len(rest)]) {
			t.Fatalf("%x encoded again as %x", b, appendState(nil, &st))
		}
	})
}

func FuzzOp(f *testing.F) {
	body := opBody{user: "ann", command: []string{"record", "-m"}, view: []byte("view"), states: []byte("states")}
	f.Add(body.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := parseOpBody(b); err == nil && !bytes.Equal(o.append(nil), b) {
			t.Fatalf("%x encoded again as %x", b, o.append(nil))
		}
	})
}

func FuzzFormat(f *testing.F) {
	f.Add("oxy repository, format 1\n")
	f.Fuzz(func(t *testing.T, line string) {
		if err := parseFormat("format", line); err == nil && line != "oxy repository, format 1\n" {
			t.Fatalf("%q is a format", line)
		}
	})
}

// FuzzRecords reads records of the indexes back.
func FuzzRecords(f *testing.F) {
	f.Add(make([]byte, 64), uint32(3))
	f.Fuzz(func(t *testing.T, b []byte, n uint32) {
		if len(b) < 64 {
			return
		}
		r, bl, st := parseChangeRecord(b), parseBlobRecord(b), parseStateRecord(b)
		for c, again := range map[column][]byte{changesCol: r.append(nil, 1, n), blobsCol: bl.append(nil, 1, n), statesCol: st.append(nil, 1, n)} {
			if size := recordSizes[c]; !bytes.Equal(again[:size-4], b[:size-4]) || !recordOK(again, 1, c, n) || recordOK(again, 1, c, n+1) {
				t.Fatalf("%s: %x read as %x", columnNames[c], b, again)
			}
		}
	})
}

func TestZerosAreNoRecord(t *testing.T) {
	for c := range numColumns {
		if c != depsCol && recordOK(make([]byte, recordSizes[c]), 0, c, 0) {
			t.Errorf("zeros are a record of %s", columnNames[c])
		}
	}
	if _, err := parseHeader(make([]byte, headerSize)); err == nil {
		t.Error("zeros are a header")
	}
	if hashOf(nil) == (change.Hash{}) {
		t.Error("zeros are a hash")
	}
}
