package revlog

import (
	"crypto/sha1"
	"encoding/binary"
)

// HashText is the node of a text with parents of the given nodes: SHA-1 of these, the lesser first, and the text.
func HashText(text []byte, p1, p2 Node) Node {
	if less(&p2, &p1) {
		p1, p2 = p2, p1
	}
	h := sha1.New()
	h.Write(p1[:])
	h.Write(p2[:])
	h.Write(text)
	return Node(h.Sum(nil))
}

// Hashing is a text whose node HashTexts finds.
type Hashing struct {
	Text   []byte
	P1, P2 Node // the parents'
	Node   Node // what HashText gives
}

// HashTexts finds the nodes of texts, two at once where the processor can: each step of SHA-1 waits for the one before, so that two
// texts side by side take little longer than one.
func HashTexts(texts []*Hashing) {
	if !canHashTwo || len(texts) < 2 {
		for _, t := range texts {
			t.Node = HashText(t.Text, t.P1, t.P2)
		}
		return
	}
	var lanes [2]lane
	a, b := &lanes[0], &lanes[1]
	a.begin(texts[0])
	b.begin(texts[1])
	for next := texts[2:]; ; {
		n := min(a.blocks(), b.blocks())
		hashTwo(&a.sum, &b.sum, &a.at[0], &b.at[0], n)
		ended := false
		for _, l := range [2]*lane{a, b} {
			if l.pass(n); l.of != nil {
				continue
			}
			if len(next) > 0 {
				l.begin(next[0])
				next = next[1:]
			} else {
				ended = true
			}
		}
		if ended {
			break
		}
	}
	// What is left of one goes on beside nothing.
	var none [5]uint32
	for _, l := range [2]*lane{a, b} {
		for l.of != nil {
			n := l.blocks()
			hashTwo(&l.sum, &none, &l.at[0], &l.at[0], n)
			l.pass(n)
		}
	}
}

// lane is a text under way. What is hashed of it are the parents and what fills up the first block, its blocks, and what is left with
// the padding.
type lane struct {
	of    *Hashing
	sum   [5]uint32
	at    []byte // not hashed yet, whole blocks: never empty while there is a text
	whole []byte // the text's blocks, that come after
	tail  []byte // in ends
	first [sha1.BlockSize]byte
	ends  [2 * sha1.BlockSize]byte
}

// besideParents is how much of the text the first block has.
const besideParents = sha1.BlockSize - 2*len(Node{})

func (l *lane) begin(t *Hashing) {
	l.of = t
	l.sum = [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
	p1, p2 := &t.P1, &t.P2
	if less(p2, p1) {
		p1, p2 = p2, p1
	}
	rest := t.Text
	size := uint64(len(p1) + len(p2) + len(rest))
	head := append(append(l.first[:0], p1[:]...), p2[:]...)
	l.at, l.whole = nil, nil
	var left []byte // of what fills no block
	if len(rest) >= besideParents {
		l.at = append(head, rest[:besideParents]...)
		rest = rest[besideParents:]
		n := len(rest) &^ (sha1.BlockSize - 1)
		l.whole, left = rest[:n], rest[n:]
		l.tail = l.ends[:copy(l.ends[:], left)]
	} else {
		l.tail = l.ends[:copy(l.ends[:], append(head, rest...))]
	}
	n := len(l.tail)
	l.tail = l.ends[:sha1.BlockSize]
	if n >= sha1.BlockSize-8 {
		l.tail = l.ends[:]
	}
	clear(l.tail[n:])
	l.tail[n] = 0x80
	binary.BigEndian.PutUint64(l.tail[len(l.tail)-8:], 8*size)
	l.pass(0)
}

// blocks is how many blocks lie at hand.
func (l *lane) blocks() int { return len(l.at) / sha1.BlockSize }

// pass goes on after so many blocks, and gives the node after the last.
func (l *lane) pass(n int) {
	if l.at = l.at[n*sha1.BlockSize:]; len(l.at) > 0 {
		return
	}
	if len(l.whole) > 0 {
		l.at, l.whole = l.whole, nil
		return
	}
	if len(l.tail) > 0 {
		l.at, l.tail = l.tail, nil
		return
	}
	for i, w := range l.sum {
		binary.BigEndian.PutUint32(l.of.Node[4*i:], w)
	}
	l.of = nil
}
