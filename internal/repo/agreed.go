package repo

import (
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// The file `agreed` says of an address what the signatures there and here were when nothing more was to be taken from there, or to be given.
// While both are as then, nobody asks. Without the file one is asked once more.

const (
	maxAgreed   = 1 << 16
	linesAgreed = 256 // addresses, twice: the oldest go
)

// agreement is one line of it: which way, and a hash of all that it depends on.
type agreement struct{ way, hash string }

// ways of signatures.
const (
	wayTake = "take"
	wayGive = "give"
)

// agreement of what is now. left is what may bring more of the same, where something was left out. What was given is there whatever came since:
// of the other side it counts then only whether it has any.
func (l *link) agreement(way string, theirs, ours sync.Mark, left []byte) agreement {
	if way == wayGive && theirs != (sync.Mark{}) {
		theirs = sync.Mark{1}
	}
	h := blake3.New()
	_, _ = h.WriteString(l.shown + "\n") // a hash takes whatever is written
	_, _ = h.Write(theirs[:])
	_, _ = h.Write(ours[:])
	_, _ = h.Write(left)
	return agreement{way + " " + hex.EncodeToString(addressHash(l.shown)), hex.EncodeToString(h.Sum(nil)[:16])}
}

func addressHash(address string) []byte {
	h := blake3.Sum256([]byte(address))
	return h[:8]
}

func (r *Repo) agreedFile() string { return filepath.Join(r.dir, "agreed") }

func (r *Repo) agreements() []string {
	b, err := r.fs.ReadFile(r.agreedFile(), maxAgreed)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// agreed tells whether one of some agreements is the last with that address.
func (r *Repo) agreed(some ...agreement) bool {
	for _, line := range r.agreements() {
		for _, a := range some {
			if line == a.way+" "+a.hash {
				return true
			}
		}
	}
	return false
}

// agree notes an agreement. If that fails the next one asks once more than it has to.
func (r *Repo) agree(a agreement) {
	if r.agreed(a) {
		return
	}
	out := []string{}
	for _, line := range r.agreements() {
		if line != "" && !strings.HasPrefix(line, a.way+" ") {
			out = append(out, line)
		}
	}
	out = append(out, a.way+" "+a.hash)
	out = out[max(0, len(out)-linesAgreed):]
	_ = vfs.WriteFileAtomic(r.fs, r.agreedFile(), []byte(strings.Join(out, "\n")+"\n"), false)
}
