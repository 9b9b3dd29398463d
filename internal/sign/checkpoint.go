package sign

import (
	"fmt"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Checkpoint is what the signature of a checkpoint says: that the state with this id, of so many changes, has the tree with this
// digest (docs/spec/sign.md), and when that was signed. Who trusts the signer need not make the tree from the changes.
type Checkpoint struct {
	State   [32]byte
	Changes uint64
	Tree    change.Hash
	Time    int64 // seconds since 1970
}

// CheckpointMessage is what is signed of a checkpoint.
func CheckpointMessage(c *Checkpoint) []byte {
	return fmt.Appendf(nil, "oxy checkpoint 1 %x %d %x %d\n", c.State, c.Changes, c.Tree, c.Time)
}

// SignCheckpoint signs a checkpoint, and proves that the signature is one.
func SignCheckpoint(s Signer, c *Checkpoint) (Entry, error) {
	message := CheckpointMessage(c)
	sig, err := s.Sign(message)
	if err != nil {
		return Entry{}, fmt.Errorf("sign the checkpoint: %w", err)
	}
	e := Entry{SSH, sig.Marshal()}
	back, err := Parse(e.Bytes)
	if err == nil {
		err = back.Verify(message, Namespace)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("sign the checkpoint with %s: %w", describe(s.Key()), err)
	}
	return e, nil
}

// CheckCheckpointEntry tells whether an entry is a signature of a checkpoint at all, by whomever, or of a kind that is not known here.
func CheckCheckpointEntry(c *Checkpoint, e Entry) error {
	if e.Kind != SSH {
		return nil
	}
	s, err := Parse(e.Bytes)
	if err != nil {
		return err
	}
	return s.Verify(CheckpointMessage(c), Namespace)
}

// CheckCheckpoint judges the signatures of a checkpoint. Whoever is allowed may sign one: it has no author.
func (p *Policy) CheckCheckpoint(c *Checkpoint, part []byte) Result {
	at := p.At
	if at.IsZero() {
		at = time.Unix(c.Time, 0)
	}
	return p.best(Result{}, part, func(blob []byte) Result {
		return p.judge(Result{}, blob, CheckpointMessage(c), "", true, at)
	})
}
