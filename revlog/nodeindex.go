package revlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// nodeIndex finds revisions by node: in Mercurial's persistent nodemap where there is a valid one, else in a table of buckets,
// built in two passes over the index. Whoever asks once needs no table: the first question is answered by looking through the index.
type nodeIndex struct {
	once  sync.Once
	trie  *nodemap
	asked atomic.Bool
	built sync.Once
	err   error
	table nodeTable
}

func (x *nodeIndex) close() error {
	if x.trie != nil {
		return x.trie.close()
	}
	return nil
}

// Rev finds the revision that has a node, ErrUnknown if none has, or an *Error where the index could not be read. Null has NullNode. With a
// persistent nodemap (source: mercurial/revlogutils/nodemap.py) it takes well under a microsecond; without one the first call looks
// through the index, 4 ns a revision, and the second builds a table, 10 ns a revision.
func (l *Log) Rev(node Node) (Rev, error) {
	if node == NullNode {
		return Null, nil
	}
	if trie := l.openTrie(); trie != nil {
		if rev, ok := trie.find(l, node); ok {
			return rev, nil
		}
		// The trie is a cache that may be wrong: that a node is not there, the index itself must say.
	}
	rev, err := l.search(node)
	if err == nil && rev == Null {
		err = l.index.fault()
	}
	if err != nil {
		return Null, l.fault(Null, err)
	}
	if rev == Null {
		return Null, fmt.Errorf("%s in %s: %w", node, l.path, ErrUnknown)
	}
	return rev, nil
}

// openTrie is the persistent nodemap, nil for none.
func (l *Log) openTrie() *nodemap {
	l.nodes.once.Do(func() { l.nodes.trie = l.openNodemap() })
	return l.nodes.trie
}

// search finds a node by the index itself. Null if it is not there, or a page could not be read.
func (l *Log) search(node Node) (Rev, error) {
	if l.offsets == nil && !l.nodes.asked.Swap(true) {
		return l.scan(node)
	}
	if err := l.buildTable(); err != nil {
		return Null, err
	}
	return l.nodes.table.find(l, node), nil
}

// scan looks through a split index from its beginning: of a node twice the first revision is found, as by the table.
func (l *Log) scan(node Node) (Rev, error) {
	found, rev := Null, Rev(0)
	at, step := l.nodeOffset(), l.entrySize
	want := binary.LittleEndian.Uint64(node[:])
	err := l.index.stream(step, func(b []byte) error {
		for ; len(b) >= step; b = b[step:] {
			if binary.LittleEndian.Uint64(b[at:]) == want && Node(b[at:at+len(node)]) == node {
				found = rev
				return errFound
			}
			rev++
		}
		return nil
	})
	if err == errFound {
		err = nil
	}
	return found, err
}

// errFound ends a stream.
var errFound = errors.New("found")

func (l *Log) buildTable() error {
	l.nodes.built.Do(func() { l.nodes.err = l.fault(Null, l.nodes.table.build(l)) })
	return l.nodes.err
}

// Prefix finds the revision whose node begins with the given hexadecimal digits, 1 to 40 of either case. ErrUnknown if
// there is none, ErrAmbiguous if there are several. A persistent nodemap that is sound is believed.
func (l *Log) Prefix(digits string) (Rev, error) {
	if len(digits) == 0 || len(digits) > 40 {
		return Null, fmt.Errorf("prefix %q: %d digits, want 1 to 40: %w", digits, len(digits), ErrUnknown)
	}
	var low Node
	for i := range len(digits) {
		v := unhex(digits[i])
		if v > 15 {
			return Null, fmt.Errorf("prefix %q: %q is no hexadecimal digit: %w", digits, digits[i], ErrUnknown)
		}
		low[i/2] |= v << (4 - 4*(i&1))
	}
	if trie := l.openTrie(); trie != nil {
		if rev, ok := trie.prefix(l, low, len(digits)); ok {
			return rev, nil
		}
	}
	if err := l.buildTable(); err != nil {
		return Null, err
	}
	rev, err := l.nodes.table.prefix(l, low, len(digits))
	if err != nil {
		return Null, fmt.Errorf("%s in %s: %w", digits, l.path, err)
	}
	return rev, nil
}

// unhex is the value of a hexadecimal digit, or more than 15.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// nodeTable has the revisions in buckets by the first bits of their nodes, about one in each. Nodes are hashes, but a
// hostile file may choose them: a bucket that is much fuller is sorted, so that no search is longer than a logarithm.
type nodeTable struct {
	shift  uint     // of a node's first 32 bits, to the number of its bucket
	starts []uint32 // where each bucket begins in revs; one more than buckets
	revs   []Rev
}

const (
	maxBucketBits = 22
	// fullBucket is where a bucket is sorted: among a million hashes in a million buckets one of this size is not expected.
	fullBucket = 16
)

func (t *nodeTable) build(l *Log) error {
	width := min(max(bits.Len(uint(l.n)), 4), maxBucketBits)
	t.shift = uint(32 - width)
	t.starts = make([]uint32, 1<<width+1)
	heads := make([]uint32, 0, l.n)
	at, step := l.nodeOffset(), l.entrySize
	if l.offsets != nil {
		for _, from := range l.offsets {
			h := binary.BigEndian.Uint32(l.index.b[int(from)+at:]) >> t.shift
			heads = append(heads, h)
			t.starts[h+1]++
		}
	} else if err := l.index.stream(step, func(b []byte) error {
		for ; len(b) >= step; b = b[step:] {
			h := binary.BigEndian.Uint32(b[at:]) >> t.shift
			heads = append(heads, h)
			t.starts[h+1]++
		}
		return nil
	}); err != nil {
		return err
	}
	sum, fullest := uint32(0), uint32(0)
	for i, n := range t.starts {
		fullest = max(fullest, n)
		sum += n
		t.starts[i] = sum
	}
	// Placed from the last to the first, so that starts, running down from each bucket's end, end as its beginning. Of one
	// node twice the first revision is found.
	t.revs = make([]Rev, l.n)
	ends := t.starts[1:]
	for rev := len(heads) - 1; rev >= 0; rev-- {
		h := heads[rev]
		ends[h]--
		t.revs[ends[h]] = Rev(rev)
	}
	copy(t.starts, ends)
	t.starts[len(t.starts)-1] = uint32(l.n)
	if fullest <= fullBucket {
		return nil
	}
	if err := l.index.bring(); err != nil {
		return err
	}
	for i := range len(t.starts) - 1 {
		if bucket := t.revs[t.starts[i]:t.starts[i+1]]; len(bucket) > fullBucket {
			slices.SortStableFunc(bucket, func(a, b Rev) int {
				x, y := l.nodeAt(a), l.nodeAt(b)
				return bytes.Compare(x[:], y[:])
			})
		}
	}
	return nil
}

// nodeOffset is where in an entry the node stands.
func (l *Log) nodeOffset() int {
	switch l.version {
	case version0:
		return 56
	case versionChangelog2:
		return 24
	default:
		return 32
	}
}

func (t *nodeTable) find(l *Log, node Node) Rev {
	h := binary.BigEndian.Uint32(node[:]) >> t.shift
	bucket := t.revs[t.starts[h]:t.starts[h+1]]
	if len(bucket) > fullBucket {
		i, found := slices.BinarySearchFunc(bucket, node, func(rev Rev, node Node) int {
			x := l.nodeAt(rev)
			return bytes.Compare(x[:], node[:])
		})
		if !found {
			return Null
		}
		return bucket[i]
	}
	for _, rev := range bucket {
		if l.nodeAt(rev) == node {
			return rev
		}
	}
	return Null
}

// prefix searches the buckets of all nodes from low, which has the given digits and zeros, to the last that begins so.
func (t *nodeTable) prefix(l *Log, low Node, digits int) (Rev, error) {
	first := binary.BigEndian.Uint32(low[:])
	last := first
	if digits < 8 {
		last |= 1<<(32-4*digits) - 1
	}
	found := Null
	var node Node
	for _, rev := range t.revs[t.starts[first>>t.shift]:t.starts[last>>t.shift+1]] {
		n := l.nodeAt(rev)
		if !hasPrefix(&n, &low, digits) || found != Null && n == node {
			continue
		}
		if found != Null {
			return Null, ErrAmbiguous
		}
		found, node = rev, n
	}
	if found == Null {
		return Null, ErrUnknown
	}
	return found, nil
}

func hasPrefix(n, low *Node, digits int) bool {
	whole := digits / 2
	return bytes.Equal(n[:whole], low[:whole]) && (digits&1 == 0 || n[whole]>>4 == low[whole]>>4)
}
