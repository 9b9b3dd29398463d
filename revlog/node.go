package revlog

import (
	"encoding/hex"
	"fmt"
)

// Rev is a revision's number in its revlog: 0 is the oldest, each new one is appended. It means nothing outside this
// one file; what travels is the Node.
type Rev int32

// Null is the revision before all others: the parent of roots, with an empty text.
const Null Rev = -1

// Node is a revision's id: the SHA-1 of both parents' nodes, the lesser first, and the text.
type Node [20]byte

// NullNode is the node of Null.
var NullNode Node

// String is the node in 40 hexadecimal digits.
func (n Node) String() string { return hex.EncodeToString(n[:]) }

// ParseNode reads 40 hexadecimal digits of either case. Its error says what else there is.
func ParseNode(s string) (n Node, err error) {
	if len(s) != 2*len(n) {
		return n, fmt.Errorf("node id %q: %d characters, want %d", s, len(s), 2*len(n))
	}
	if _, err := hex.Decode(n[:], []byte(s)); err != nil {
		return n, fmt.Errorf("node id %q: %w", s, err)
	}
	return n, nil
}
