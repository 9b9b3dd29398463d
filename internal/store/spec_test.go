package store

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
)

// specVectors makes what the page shows: a log with id 0x0102030405060708 and one operation, without compression.
func specVectors() map[string][]byte {
	const id = 0x0102030405060708
	out := map[string][]byte{}
	at := placeAt(1, 0)
	put := func(name string, frame []byte) {
		seal(frame, id, at)
		out[name] = frame
		at += place(len(frame))
	}
	put("segment", segmentFrame(1, id, 0))

	b := batch{logID: id}
	add := func(name string, frame []byte) {
		p := at
		put(name, frame)
		h, err := parseHeader(frame)
		if err == nil {
			err = b.addFrame(splitFrame(frame, h), p)
		}
		if err != nil {
			panic(name + ": " + err.Error())
		}
	}
	p := Packer{}
	for _, s := range []string{"one\n", "two\n"} {
		h := hashOf([]byte(s))
		p.table = append(append(p.table, h[:]...), byte(len(s)), 0, 0, 0)
		p.raw = append(p.raw, s...)
	}
	p.pack()
	add("blobs", p.out)

	rec := Record{ID: change.ID(hashOf([]byte("a change"))), Meta: []byte("meta"), Body: []byte("body"), Unhashed: []byte("sig")}
	frame, _ := appendChange(nil, nil, &rec, 0, nil, 1_700_000_000)
	add("change", frame)

	state := appendState(nil, &State{Parent: -1, Changes: []uint32{0}, Pos: 1, ID: hashOf([]byte("a state"))})
	out["state"] = state
	out["state without"] = appendState(nil, &State{Parent: 0, Without: []uint32{0}, Changes: []uint32{1}, Pos: 1, ID: hashOf([]byte("another state"))})
	v := NewView()
	v.Bookmarks["main"], v.Current, v.Base = 0, "main", 0
	var entries []viewEntry
	diffViews(NewView(), v, func(e viewEntry) { entries = append(entries, e) })
	out["view"] = encodeEntries(entries)
	body := opBody{user: "a@h", command: []string{"new"}, view: out["view"], states: state}
	table := opTableFields{view: viewFull, time: 1_700_000_001, n: b.n, chain: chain{full: uint32(len(out["view"]))}}
	table.n[opsCol], table.n[statesCol] = 1, 1
	frame, start := beginFrame(nil)
	frame = table.append(frame)
	frame = endFrame(frame, start, kindOp, 0, 1, nil)
	frame = frame[:headerSize+opTable]
	frame = append(frame, body.append(nil)...)
	h := header{kind: kindOp, raw: uint32(len(frame) - headerSize - opTable), stored: uint32(len(frame) - headerSize), items: 1}
	for len(frame)%frameAlign != 0 {
		frame = append(frame, 0)
	}
	h.put(frame)
	op := at
	add("op", frame)
	index, end := b, at

	base := placeAt(2, baseStart)
	b = batch{logID: id, base: true}
	item := packedItem{time: 1_700_000_000, lengths: [numFields]uint32{4, 4, 0, 3}}
	at = base
	add("changes", packedFrame(kindChanges, 1, appendChangesTable(nil, 0, []change.ID{rec.ID}),
		append(appendPackedItem(nil, 0, 0, &item), "metabodysig"...)))
	op2 := table
	op2.n = counts{changesCol: 1}
	add("ops", packedFrame(kindOps, 1, make([]byte, packedTable), appendPackedOp(nil, &opTableFields{}, &op2, &body)))
	out["base"] = baseFrame(2, id, standing{op: b.op, end: at, n: b.n}, 0)
	b, at = index, end

	out["head"] = (&head{op: op, end: at, n: b.n, hint: []byte("hint")}).encode(id)
	out["index changes"] = append(appendIndexHeader(nil, columnMagic, id, changesCol, 0), b.cols[changesCol]...)
	out["index states"] = append(appendIndexHeader(nil, columnMagic, id, statesCol, 0), b.cols[statesCol]...)
	out["index ops"] = append(appendIndexHeader(nil, columnMagic, id, opsCol, 0), b.cols[opsCol]...)
	out["index blobs"] = append(appendIndexHeader(nil, columnMagic, id, blobsCol, 0), b.cols[blobsCol]...)
	t := &tables{logID: id, n: b.n}
	t.cols[changesCol] = columnData{size: recordSizes[changesCol], extra: b.cols[changesCol]}
	l, err := (&lookup{col: changesCol}).sorted(t)
	if err != nil {
		panic(err)
	}
	out["index changes.order"] = append(appendIndexHeader(nil, orderMagic, id, changesCol, 1), l.list...)
	out["index blobs.frames"] = append(appendIndexHeader(nil, runsMagic, id, blobsCol, 1), appendRun(nil, id, 0, base, 0)...)
	out["index deps.sums"] = binary.LittleEndian.AppendUint64(appendIndexHeader(nil, sumsMagic, id, depsCol, 0),
		blockSum(make([]byte, depBlock*recordSizes[depsCol]), id, 0))
	return out
}

// packedFrame makes a frame without compression.
func packedFrame(kind frameKind, items int, table, contents []byte) []byte {
	b, _ := beginFrame(nil)
	b = append(append(b, table...), contents...)
	h := header{kind: kind, raw: uint32(len(contents)), stored: uint32(len(table) + len(contents)), items: uint32(items)}
	for len(b)%frameAlign != 0 {
		b = append(b, 0)
	}
	h.put(b)
	return b
}

// TestSpec compares the vectors of docs/spec/store.md with what the code makes.
func TestSpec(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/store.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	want := specVectors()
	for _, block := range strings.Split(string(page), "```vector\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		name, digits, _ := strings.Cut(text, "\n")
		got, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if b, ok := want[name]; !ok || err != nil || string(got) != string(b) {
			t.Errorf("vector %q: %v; the code makes\n%s", name, err, dump(b))
		}
		seen++
	}
	if seen != len(want) {
		t.Errorf("%d vectors of %d are on the page", seen, len(want))
		for name, b := range want {
			t.Logf("%s\n%s", name, dump(b))
		}
	}
}

// dump writes bytes as the page does, 32 a line.
func dump(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		n := min(32, len(b))
		out.WriteString(hex.EncodeToString(b[:n]) + "\n")
		b = b[n:]
	}
	return out.String()
}
