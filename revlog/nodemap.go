package revlog

import (
	"encoding/binary"
	"strings"
)

// nodemap is Mercurial's persistent nodemap: a trie of blocks of 16 numbers, one for each hexadecimal digit, which are
// another block, nothing, or a revision that is alone in beginning so. (mercurial/revlogutils/nodemap.py describes it in its
// comments.) The root is the last block. Revisions after the ones it knows are few and searched one by one.
type nodemap struct {
	data []byte
	file File
	tip  Rev // the last one it knows
}

const (
	nodemapVersion = 1
	// nodemapHeader is the length of the docket's fixed part: version, length of the id, last revision, length of the data,
	// of it unused, length of the last node.
	nodemapHeader = 1 + 1 + 8 + 8 + 8 + 8
	nodemapBlock  = 16 * 4
	// maxNodemapDocket bounds the docket: the fixed part, an id and a node.
	maxNodemapDocket = 4096
	// maxNodemapLag is how many revisions may be newer than the nodemap before a table is the faster way.
	maxNodemapLag = 512
)

// openNodemap opens the nodemap beside the index, nil if there is none or it is not of this index. It is a cache: whatever is
// wrong with it is no fault of the revlog.
func (l *Log) openNodemap() *nodemap {
	if l.inline || l.version != version1 || l.n == 0 {
		return nil
	}
	radix := strings.TrimSuffix(l.path, ".i")
	f, err := l.fs.Open(radix + ".n")
	if err != nil {
		return nil
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil || size < nodemapHeader || size > maxNodemapDocket {
		return nil
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); n < len(b) && err != nil {
		return nil
	}
	idSize, tip := int(b[1]), binary.BigEndian.Uint64(b[2:])
	length, nodeSize := binary.BigEndian.Uint64(b[10:]), binary.BigEndian.Uint64(b[26:])
	rest := b[nodemapHeader:]
	if b[0] != nodemapVersion || nodeSize != uint64(len(NullNode)) || len(rest) < idSize+len(NullNode) ||
		tip >= uint64(l.n) || uint64(l.n)-tip > maxNodemapLag || length < nodemapBlock || length%nodemapBlock != 0 {
		return nil
	}
	id := string(rest[:idSize])
	if id == "" || strings.Trim(id, "0123456789abcdef") != "" {
		return nil
	}
	if l.nodeAt(Rev(tip)) != Node(rest[idSize:idSize+20]) {
		return nil // the history was rewritten since
	}
	data, err := l.fs.Open(radix + "-" + id + ".nd")
	if err != nil {
		return nil
	}
	if size, err := data.Size(); err != nil || uint64(size) < length {
		data.Close()
		return nil
	}
	m, err := data.Map(int64(length))
	if err != nil {
		data.Close()
		return nil
	}
	return &nodemap{data: m, file: data, tip: Rev(tip)}
}

func (m *nodemap) close() error {
	err := m.file.Unmap(m.data)
	m.data = nil
	if cerr := m.file.Close(); err == nil {
		err = cerr
	}
	return err
}

// entry is what a block has for a digit: another block, -1 for nothing, or -2 and less for a revision from 0 on.
func (m *nodemap) entry(block int, digit byte) int32 {
	return int32(binary.BigEndian.Uint32(m.data[block*nodemapBlock+4*int(digit):]))
}

// find walks the trie, then what is newer. A trie that leads astray finds nothing that is not so, since the index's own node
// is compared.
func (m *nodemap) find(l *Log, node Node) (Rev, bool) {
	block := len(m.data)/nodemapBlock - 1
	for digit := range 2 * len(node) {
		v := node[digit/2] >> (4 - 4*(digit&1)) & 15
		entry := m.entry(block, v)
		if entry < -1 {
			if rev := -(entry + 2); int(rev) < l.n && l.nodeAt(Rev(rev)) == node {
				return Rev(rev), true
			}
		}
		if entry < 0 || int(entry) >= len(m.data)/nodemapBlock {
			break
		}
		block = int(entry)
	}
	for rev := m.tip + 1; int(rev) < l.n; rev++ {
		if l.nodeAt(rev) == node {
			return rev, true
		}
	}
	return Null, false
}

// prefix finds the one revision whose node begins with so many digits of low. That there is no other is the trie's word, as Mercurial
// takes it. It is not ok where there is none or there are several: the index must say which.
func (m *nodemap) prefix(l *Log, low Node, digits int) (found Rev, ok bool) {
	found = Null
	block := len(m.data)/nodemapBlock - 1
	for digit := 0; ; digit++ {
		if digit == digits {
			return Null, false
		}
		entry := m.entry(block, low[digit/2]>>(4-4*(digit&1))&15)
		if entry < -1 {
			if found = Rev(-(entry + 2)); int(found) >= l.n {
				return Null, false
			}
			if node := l.nodeAt(found); !hasPrefix(&node, &low, digits) {
				found = Null
			}
		}
		if entry < 0 {
			break
		}
		if int(entry) >= len(m.data)/nodemapBlock {
			return Null, false
		}
		block = int(entry)
	}
	for rev := m.tip + 1; int(rev) < l.n; rev++ {
		if node := l.nodeAt(rev); hasPrefix(&node, &low, digits) {
			if found != Null {
				return Null, false
			}
			found = rev
		}
	}
	return found, found != Null
}
