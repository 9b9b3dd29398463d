package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/zeebo/xxh3"
)

// The log beside the manifest holds what changed since: a header and a batch for each Save. A batch counts whole or not
// at all, because its records belong together: entries of a new state without the new base would hide edits.
const (
	logMagic    = "oxymflog"
	logVersion  = 1
	logHeadSize = 32
	frameSize   = 16 // length of the body, number of records, checksum

	// maxLog bounds the log. A Save that would pass foldBytes writes a new base instead, so none grows near it.
	maxLog = 256 << 20
)

const (
	recordPut = 1 + iota
	recordRemove
	recordDir
	recordBase
)

const (
	recordHead   = 3 // kind and length of the path
	dirInfoSize  = 36
	baseInfoSize = 36
)

// logEnd is where the log stood when it was read.
type logEnd struct {
	size    int64 // of the file, 0 when there is none of this generation
	end     int64 // of the last whole batch
	records int
}

func appendRecordHead(buf []byte, kind byte, path string) []byte {
	return le.AppendUint16(append(buf, kind), uint16(len(path)))
}

func appendPutRecord(buf []byte, path string, e *Entry) []byte {
	return append(appendEntry(appendRecordHead(buf, recordPut, path), e), path...)
}

func appendRemoveRecord(buf []byte, path string) []byte {
	return append(appendRecordHead(buf, recordRemove, path), path...)
}

func appendDirRecord(buf []byte, path string, d *DirInfo) []byte {
	return append(appendDirInfo(appendRecordHead(buf, recordDir, path), d), path...)
}

func appendBaseRecord(buf []byte, state uint32, id *[32]byte) []byte {
	return append(le.AppendUint32(appendRecordHead(buf, recordBase, ""), state), id[:]...)
}

func logHead(gen uint64) []byte {
	h := append(make([]byte, 0, logHeadSize), logMagic...)
	h = le.AppendUint32(h, logVersion)
	h = le.AppendUint32(h, 0)
	h = le.AppendUint64(h, gen)
	return le.AppendUint64(h, xxh3.Hash(h))
}

// frame is the head of a batch. The generation seeds the checksum, so that a batch fits no other log.
func frame(body []byte, records int, gen uint64) []byte {
	f := le.AppendUint32(make([]byte, 0, frameSize), uint32(len(body)))
	f = le.AppendUint32(f, uint32(records))
	return le.AppendUint64(f, xxh3.HashSeed(body, xxh3.HashSeed(f, gen)))
}

// readLog applies the log to the manifest just opened. It tells false for a log of another generation.
func (m *Manifest) readLog() (fits bool, err error) {
	data, err := m.fsys.ReadFile(filepath.Join(m.dir, logName), maxLog)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("load manifest: %w", err)
	}
	return m.applyLog(data)
}

func (m *Manifest) applyLog(data []byte) (fits bool, err error) {
	if len(data) < logHeadSize || string(data[:logHeadSize]) != string(logHead(m.base.gen)) {
		return false, nil
	}
	m.log = logEnd{size: int64(len(data)), end: logHeadSize}
	for rest := data[logHeadSize:]; len(rest) >= frameSize; {
		length, records := uint64(le.Uint32(rest)), le.Uint32(rest[4:])
		if length > uint64(len(rest)-frameSize) {
			break // a batch that was never finished
		}
		body := rest[frameSize : frameSize+length]
		if string(frame(body, int(records), m.base.gen)) != string(rest[:frameSize]) {
			break
		}
		if err := m.applyRecords(body, int(records)); err != nil {
			return false, err
		}
		m.log.end += int64(frameSize + length)
		m.log.records += int(records)
		rest = rest[frameSize+length:]
	}
	return true, nil
}

// applyRecords makes the changes of one batch.
func (m *Manifest) applyRecords(body []byte, records int) error {
	for range records {
		if len(body) < recordHead {
			return fmt.Errorf("%w: short record in the log", ErrDamaged)
		}
		kind, pathLen := body[0], int(le.Uint16(body[1:]))
		body = body[recordHead:]
		fixed, ok := recordSize(kind)
		if !ok || len(body) < fixed+pathLen {
			return fmt.Errorf("%w: record of kind %d in the log", ErrDamaged, kind)
		}
		path := string(body[fixed : fixed+pathLen])
		root := path == "" && (kind == recordDir || kind == recordBase)
		if !root && (kind == recordBase || checkPath(path) != nil) {
			return fmt.Errorf("%w: path of a record in the log", ErrDamaged)
		}
		if err := m.applyRecord(kind, path, body[:fixed]); err != nil {
			return err
		}
		body = body[fixed+pathLen:]
	}
	if len(body) != 0 {
		return fmt.Errorf("%w: unused bytes in the log", ErrDamaged)
	}
	return nil
}

func recordSize(kind byte) (int, bool) {
	switch kind {
	case recordPut:
		return fieldsSize, true
	case recordRemove:
		return 0, true
	case recordDir:
		return dirInfoSize, true
	case recordBase:
		return baseInfoSize, true
	}
	return 0, false
}

func (m *Manifest) applyRecord(kind byte, path string, fixed []byte) error {
	switch kind {
	case recordPut:
		var e Entry
		if decodeEntry(fixed, &e); e.Kind >= numKinds {
			return fmt.Errorf("%w: kind of an entry in the log", ErrDamaged)
		}
		return m.put(path, &e)
	case recordRemove:
		_, err := m.remove(path)
		return err
	case recordDir:
		o := m.overDir(path)
		o.seen = true
		o.info = DirInfo{
			Mtime: int64(le.Uint64(fixed)), Ctime: int64(le.Uint64(fixed[8:])), Ino: le.Uint64(fixed[16:]),
			Rules: le.Uint64(fixed[24:]), Flags: DirFlags(le.Uint32(fixed[32:])),
		}
	case recordBase:
		m.state = le.Uint32(fixed)
		copy(m.id[:], fixed[4:])
	}
	return nil
}
