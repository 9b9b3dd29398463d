package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path/filepath"
)

// compare holds the index files against the records of one frame.
func (w *logWalk) compare(before counts) {
	for c := range w.b.cols {
		rec, size := w.b.cols[c], recordSizes[c]
		w.b.cols[c] = rec[:0]
		first := before[c]
		if runs := w.index.runs; column(c) == blobsCol && runs != nil {
			if first < runs.n {
				w.compareRun(first, rec)
				continue
			}
			first -= runs.n
		}
		from := int(first) * size
		have := w.index.columns[c]
		if w.differs[c] || from >= len(have) { // what an index lacks is read from the log
			continue
		}
		have = have[from:min(len(have), from+len(rec))]
		for i := 0; i < len(have); i += size {
			if !bytes.Equal(have[i:i+size], rec[i:i+size]) {
				w.differs[c] = true
				w.indexFault(indexFile(column(c)), int64(indexHeader+from+i), errors.New("not what the log says"))
				break
			}
		}
	}
}

// compareRun holds the run of a frame of a base, whose first content has a number, against the records of its contents.
func (w *logWalk) compareRun(first uint32, records []byte) {
	if len(records) == 0 || w.differs[blobsCol] {
		return
	}
	p, n, ok := w.index.runs.find(first)
	if !ok || n != first || p != parseBlobRecord(records).at {
		w.differs[blobsCol] = true
		w.indexFault(indexFile(blobsCol)+".frames", 0, errRuns)
	}
}

func indexFile(c column) string { return "index/" + columnNames[c] }

func (a *auditor) indexFault(name string, off int64, err error) {
	a.fault(Fault{File: name, Off: off, Derived: true, Err: err})
}

// headers looks at how head and the index files begin. One of another log is only old: a repack was cut short.
func (a *auditor) headers() {
	if b, err := a.s.fsys.ReadFile(filepath.Join(a.s.dir, headName), headFixed+maxHint+headSum); err == nil {
		id := a.t.logID
		if len(b) >= 16 {
			id = binary.LittleEndian.Uint64(b[8:])
		}
		if _, err := parseHead(b, id); err != nil {
			a.indexFault(headName, 0, err)
		}
	}
	packed := a.t.packed > 0
	header := func(name, path, magic string, c column, has bool) {
		if has {
			return
		}
		b, err := a.s.fsys.ReadFile(path, maxSegment)
		if err != nil || len(b) < indexHeader {
			return
		}
		id, count := binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
		if string(b[:indexHeader]) != string(appendIndexHeader(nil, magic, id, c, uint32(count))) ||
			id == a.t.logID && len(b) > indexHeader {
			a.indexFault(name, 0, errors.New("it does not begin as it must"))
		}
	}
	for c := range numColumns {
		magic, has := columnMagic, a.index.columns[c] != nil
		if c == blobsCol && packed {
			magic, has = restMagic, has || a.index.runs == nil
		}
		header(indexFile(c), indexName(a.s.dir, c), magic, c, has)
	}
	if packed {
		header(indexFile(blobsCol)+".frames", runsName(a.s.dir), runsMagic, blobsCol, a.index.runs != nil)
	}
	header(indexFile(depsCol)+".sums", sumsName(a.s.dir), sumsMagic, depsCol, a.index.sums != nil)
	for _, c := range []column{changesCol, blobsCol} {
		header(indexFile(c)+".order", orderName(a.s.dir, c), orderMagic, c, a.index.orders[c] != nil)
	}
}

// orders checks the sorted lists: every number once, by ascending hash.
func (a *auditor) orders() {
	if off, wrong := a.s.sumsFault(a.t, a.index.sums); wrong {
		a.indexFault(indexFile(depsCol)+".sums", off, errors.New("the sum does not belong there"))
	}
	for _, c := range []column{changesCol, blobsCol} {
		list := a.index.orders[c]
		l := lookup{col: c, list: list, base: uint32(len(list) / orderEntry)}
		seen := make([]bool, l.base)
		last := uint64(0)
		for rank := range l.base {
			key, n, err := l.entry(a.t, rank)
			switch {
			case err != nil:
			case key < last, n >= l.base,
				n < a.t.n[c] && a.t.ok(c, n) && hashKey(a.t.cols[c].at(n)) != key && !(c == blobsCol && a.t.lost(n)):
				err = errors.New("the entry does not belong there")
			case seen[n]:
				err = errors.New("the entry is there twice")
			}
			if err != nil {
				a.indexFault(indexFile(c)+".order", indexHeader+int64(rank)*orderEntry, err)
				break
			}
			seen[n], last = true, key
		}
	}
}
