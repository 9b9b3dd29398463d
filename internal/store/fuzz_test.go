package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// FuzzFrame gives a frame of any kind a valid header and checksum and lets a scan read it: no panic, and what is
// accepted counts what it holds.
func FuzzFrame(f *testing.F) {
	f.Add(byte(kindBlobs), byte(codecRaw), uint16(0), uint32(1), append(make([]byte, 36), []byte("x")...), uint32(1))
	f.Add(byte(kindBlobs), byte(codecZstd), uint16(0), uint32(0), compressWith(&encoders, nil, bytes.Repeat([]byte("ab"), 90)), uint32(180))
	f.Add(byte(kindChange), byte(codecRaw), uint16(0), uint32(1), make([]byte, changeTable+4), uint32(0))
	f.Add(byte(kindStates), byte(codecRaw), uint16(0), uint32(1), appendState(nil, &State{Parent: -1}), uint32(35))
	op := opTableFields{n: counts{opsCol: 1}}
	f.Add(byte(kindOp), byte(codecRaw), uint16(0), uint32(0), (&opBody{}).append(op.append(nil)), uint32(3))
	changes := appendChangesTable(nil, 3, make([]change.ID, 2))
	item := packedItem{time: -5, lengths: [numFields]uint32{1, 0, 2}, deps: []uint32{1, 2}}
	contents := append(appendPackedItem(appendPackedItem(nil, 3, 0, &item), 4, -5, &item), "aacccc"...)
	f.Add(byte(kindChanges), byte(codecRaw), uint16(0), uint32(2), append(changes, contents...), uint32(len(contents)))
	op.view, op.n[changesCol] = viewFull, 3
	contents = appendPackedOp(nil, &opTableFields{}, &op, &opBody{user: "ann", command: []string{"commit"}, view: []byte("v")})
	f.Add(byte(kindOps), byte(codecRaw), uint16(0), uint32(1), append(make([]byte, packedTable), contents...), uint32(len(contents)))
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
		batch := batch{logID: 5, n: counts{changesCol: 3, statesCol: 2}, base: h.kind > kindOp}
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

// FuzzPackedChanges reads changes back one by one as the scan saw them.
func FuzzPackedChanges(f *testing.F) {
	item := packedItem{time: 7, flags: 2, lengths: [numFields]uint32{1, 32, 2}, deps: []uint32{1, 8}}
	contents := appendPackedItem(nil, 9, 0, &item)
	f.Add(uint32(9), uint32(1), append(contents, make([]byte, 35)...))
	f.Fuzz(func(t *testing.T, first, items uint32, contents []byte) {
		if items > 50 {
			return
		}
		fr := frame{header: header{kind: kindChanges, raw: uint32(len(contents)), items: items}, stored: contents,
			table: appendChangesTable(nil, first, make([]change.ID, items))}
		var again []byte
		var flags []uint16
		before := int64(0)
		fields, err := parseChanges(fr, contents, func(n uint32, it *packedItem) {
			again = appendPackedItem(again, n, before, it)
			before = it.time
			flags = append(flags, it.flags)
		})
		if err != nil {
			return
		}
		if again = append(again, fields...); !bytes.Equal(again, contents) {
			t.Fatalf("%x encoded again as %x", contents, again)
		}
		spans, err := parseFields(fr, contents)
		if err != nil {
			t.Fatal(err)
		}
		total := 0
		for i := range items {
			rec, got, err := spans.read(fr, contents, first+i, changeFlags)
			if err != nil || got != flags[i] {
				t.Fatalf("change %d: flags %d, %v", i, got, err)
			}
			for _, f := range rec.fields() {
				total += len(*f)
			}
		}
		if total != len(fields) {
			t.Fatalf("%d bytes of fields, not %d", total, len(fields))
		}
		for _, n := range []uint32{first - 1, first + items} {
			if _, _, err := spans.read(fr, contents, n, changeFlags); err == nil {
				t.Fatalf("read change %d, which is not there", n)
			}
		}
	})
}

// FuzzPackedOps reads ops back one by one as the scan saw them.
func FuzzPackedOps(f *testing.F) {
	op := opTableFields{view: viewFull, time: -3, n: counts{0, 2, 3, 4, 5}, chain: chain{full: 3}}
	contents := appendPackedOp(nil, &opTableFields{}, &op, &opBody{user: "ann", command: []string{"a", "b"}, view: []byte("abc")})
	f.Add(uint32(0), uint32(1), contents)
	f.Fuzz(func(t *testing.T, first, items uint32, contents []byte) {
		if items > 50 {
			return
		}
		fr := frame{header: header{kind: kindOps, raw: uint32(len(contents)), items: items}, stored: contents,
			table: []byte{byte(first), byte(first >> 8), byte(first >> 16), byte(first >> 24)}}
		b := batch{n: counts{first, maxRecords, maxRecords, maxRecords, maxRecords}, base: true}
		if b.addOps(fr, placeAt(1, 8)) != nil {
			return
		}
		var again []byte
		var before opTableFields
		for i := range items {
			op, body, err := packedOp(fr, first+i)
			if err != nil || op.number != first+i {
				t.Fatalf("op %d: %v", i, err)
			}
			again = appendPackedOp(again, &before, &op, &body)
			before = op
		}
		if !bytes.Equal(again, contents) {
			t.Fatalf("%x encoded again as %x", contents, again)
		}
		if _, _, err := packedOp(fr, first+items); err == nil {
			t.Fatal("read an op that is not there")
		}
	})
}

// FuzzBase opens a base with any bytes behind its first frame: it is damage or what was packed, never less.
func FuzzBase(f *testing.F) {
	mem := newMem(f)
	s := open(f, mem)
	if err := errors.Join(appendOne(s, "main"), appendOne(s, "b"), repackAll(s), s.Close()); err != nil {
		f.Fatal(err)
	}
	name := logName(testDir, 2, baseSuffix)
	good, err := mem.ReadFile(name, 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good[baseStart:])
	f.Add(append(good[baseStart:len(good):len(good)], "tail"...))
	f.Fuzz(func(t *testing.T, rest []byte) {
		mem := vfs.NewMem()
		write := func(name string, b []byte) {
			if err := errors.Join(mem.MkdirAll(filepath.Dir(name), 0o777), vfs.WriteFileAtomic(mem, name, b, false)); err != nil {
				t.Fatal(err)
			}
		}
		write(filepath.Join(testDir, formatName), []byte("oxy repository, format 2\n"))
		write(name, append(good[:baseStart:baseStart], rest...))
		s, err := Open(mem, testDir)
		whole := bytes.HasPrefix(rest, good[baseStart:])
		if err != nil {
			if whole || !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		defer s.Close()
		if !whole || s.NumOps() != 2 || s.NumChanges() != 2 {
			t.Fatalf("%d ops, %d changes", s.NumOps(), s.NumChanges())
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
	f.Add(appendState(nil, &State{Parent: 3, Changes: []uint32{5, 6, 7, 1}, Pos: 9, ID: [32]byte{1}, Beside: true}))
	f.Add(appendState(nil, &State{Parent: 3, Without: []uint32{1, 2, 9}, Changes: []uint32{5}, Pos: 9}))
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
	f.Add("oxy repository, format 2\n")
	f.Fuzz(func(t *testing.T, line string) {
		if n, err := parseFormat("format", line); err == nil && line != fmt.Sprintf("oxy repository, format %d\n", n) {
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
