package repo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zeebo/blake3"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/store"
)

// A signed checkpoint says of a state what tree it has. Whoever trusts the signer can begin with that tree, and need not have
// the changes that made it. The list of them is a content that the view names (docs/spec/sign.md).

// SignedCheckpoint is a checkpoint's statement and its signatures, as sign.EncodePart gives them.
type SignedCheckpoint struct {
	sign.Checkpoint
	Part []byte
}

// Bounds of the list.
const (
	maxSignedCheckpoints = 1 << 10
	maxCheckpointList    = 16 << 20
)

var errNothingToKeep = &Error{Text: "there is nothing to keep yet: no change was recorded", Next: "Record one with: oxy commit -m MESSAGE"}

var errSignedCheckpoints = errors.New("malformed list of signed checkpoints")

// AppendSignedCheckpoint appends one for DecodeSignedCheckpoint.
func AppendSignedCheckpoint(b []byte, c *SignedCheckpoint) []byte {
	b = binary.AppendUvarint(append(b, c.State[:]...), c.Changes)
	b = binary.AppendVarint(append(b, c.Tree[:]...), c.Time)
	return append(binary.AppendUvarint(b, uint64(len(c.Part))), c.Part...)
}

// DecodeSignedCheckpoint reads one, and gives what follows it. That its signatures are any is for VerifyCheckpoint to say.
func DecodeSignedCheckpoint(b []byte) (c SignedCheckpoint, rest []byte, err error) {
	bad := false
	take := func(n uint64) []byte {
		if n > uint64(len(b)) {
			bad, n = true, 0
		}
		v := b[:n]
		b = b[n:]
		return v
	}
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || n > 1 && b[n-1] == 0 {
			bad, n = true, 0
		}
		b = b[n:]
		return v
	}
	copy(c.State[:], take(uint64(len(c.State))))
	c.Changes = number()
	copy(c.Tree[:], take(uint64(len(c.Tree))))
	sec := number()
	c.Time = int64(sec>>1) ^ -int64(sec&1)
	c.Part = bytes.Clone(take(number()))
	if bad {
		return c, nil, errSignedCheckpoints
	}
	return c, b, nil
}

// TreeDigest is the hash of all that a state's tree shows, told by the ids of changes, so that it is the same in every repository.
// A state with conflicts or hidden files has none.
func (r *Repo) TreeDigest(s StateRef) (change.Hash, error) {
	tree, err := r.tree(s.Num)
	if err != nil {
		return change.Hash{}, err
	}
	if tree.Disputed() {
		return change.Hash{}, &Error{Text: "the state has conflicts: what it shows is not settled", Next: "See them with: oxy conflicts"}
	}
	h := blake3.New()
	_, _ = h.WriteString("oxy tree 1\n") // a hash takes whatever is written
	var line []byte
	err = tree.Walk("", func(e *state.Entry) error {
		hash := e.Hash
		if !e.HashKnown() {
			b, err := r.content(nil, e)
			if err != nil {
				return fmt.Errorf("read %s: %w", safepath.Quote(e.Path), err)
			}
			hash = blake3.Sum256(b)
		}
		if e.Size == 0 {
			hash = change.Hash{}
		}
		id := r.store.ChangeID(e.File.Change)
		line = binary.AppendUvarint(line[:0], uint64(len(e.Path)))
		line = append(append(line, e.Path...), byte(e.Kind)<<1|boolBit(e.Exec))
		line = binary.AppendUvarint(append(line, id[:]...), uint64(e.File.Ord))
		line = append(binary.AppendUvarint(line, e.Size), hash[:]...)
		_, err := h.Write(line)
		return err
	})
	return change.Hash(h.Sum(nil)), err
}

func boolBit(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// SignCheckpoint keeps the tree of the current state and signs what it is, with the person's key or another one. It gives the
// fingerprint of the key.
func (r *Repo) SignCheckpoint(key string) (StateRef, string, error) {
	s, err := r.openSigner(key)
	if err != nil {
		return StateRef{}, "", err
	}
	// Before the lock: a person may have to touch a device.
	base, err := r.Base()
	if err != nil {
		return base, "", err
	}
	if base.Num == NoState {
		return base, "", errNothingToKeep
	}
	c := SignedCheckpoint{Checkpoint: sign.Checkpoint{State: base.ID, Changes: base.Len, Time: time.Now().Unix()}}
	if c.Tree, err = r.TreeDigest(base); err != nil {
		return base, "", err
	}
	e, err := sign.SignCheckpoint(s, &c.Checkpoint)
	if err != nil {
		return base, "", &Error{Text: "cannot sign: " + err.Error(), Err: err}
	}
	if c.Part, err = sign.EncodePart([]sign.Entry{e}); err != nil {
		return base, "", err
	}
	_, err = transact(r, func(t *tx) (struct{}, error) {
		v := t.view
		if !slices.Contains(v.Checkpoints, base.Num) {
			v.Checkpoints = append(v.Checkpoints, base.Num)
			slices.Sort(v.Checkpoints)
		}
		list, err := r.signedCheckpoints(v)
		if err != nil {
			return struct{}{}, err
		}
		if err := t.putSignedCheckpoints(append(list, c)); err != nil {
			return struct{}{}, err
		}
		return struct{}{}, t.commit("checkpoint")
	})
	return base, sign.Fingerprint(s.Key()), err
}

// putSignedCheckpoints has the view name a list.
func (t *tx) putSignedCheckpoints(list []SignedCheckpoint) error {
	if len(list) > maxSignedCheckpoints {
		return &Error{Text: fmt.Sprintf("there are %d signed checkpoints, the most that are kept", maxSignedCheckpoints), Next: "Let one go with: oxy checkpoint drop"}
	}
	var b []byte
	for i := range list {
		b = AppendSignedCheckpoint(b, &list[i])
	}
	h, p := hashOf(b), t.Packer()
	if err := errors.Join(p.Put(h, b), p.Flush()); err != nil {
		return err
	}
	t.view.Kept[keptCheckpoints] = h[:]
	return nil
}

// SignedCheckpoints gives the signed checkpoints of the states that are kept, in the order in which they were signed.
func (r *Repo) SignedCheckpoints() ([]SignedCheckpoint, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	return r.signedCheckpoints(v)
}

func (r *Repo) signedCheckpoints(v *store.View) ([]SignedCheckpoint, error) {
	name := v.Kept[keptCheckpoints]
	if len(name) == 0 {
		return nil, nil
	}
	if len(name) != len(change.Hash{}) {
		return nil, storeError(errors.Join(store.ErrDamaged, errSignedCheckpoints))
	}
	if size, ok := r.store.BlobSize(change.Hash(name)); ok && size > maxCheckpointList {
		return nil, storeError(errors.Join(store.ErrDamaged, errSignedCheckpoints))
	}
	b, err := r.store.Blob(nil, change.Hash(name))
	if err != nil {
		return nil, storeError(err)
	}
	kept := map[[32]byte]bool{}
	for _, n := range v.Checkpoints {
		s, err := r.stateRef(n)
		if err != nil {
			return nil, err
		}
		kept[s.ID] = true
	}
	var list []SignedCheckpoint
	for len(b) > 0 {
		var c SignedCheckpoint
		if c, b, err = DecodeSignedCheckpoint(b); err != nil {
			return nil, storeError(errors.Join(store.ErrDamaged, err))
		}
		if kept[c.State] {
			list = append(list, c)
		}
	}
	return list, nil
}

// VerifyCheckpoint judges the signatures of a checkpoint. Where its state is here, what it says of the tree is held to what the
// changes make: a Good one that says something else is Bad.
func (r *Repo) VerifyCheckpoint(c *SignedCheckpoint, p *sign.Policy) (sign.Result, error) {
	res := p.CheckCheckpoint(&c.Checkpoint, c.Part)
	s, ok, err := r.namedState(c.State)
	if err != nil || !ok {
		return res, err
	}
	tree, err := r.TreeDigest(s)
	if err != nil {
		return res, err
	}
	if tree != c.Tree || s.Len != c.Changes {
		res.Verdict, res.Reason = sign.Bad, "the state has another tree than what was signed"
	}
	return res, nil
}

// namedState finds a state by its id among those that checkpoints, bookmarks and tags name.
func (r *Repo) namedState(id [32]byte) (StateRef, bool, error) {
	v, err := r.view()
	if err != nil {
		return StateRef{}, false, err
	}
	states := append(slices.Collect(maps.Values(v.Bookmarks)), slices.Collect(maps.Values(v.Tags))...)
	for _, n := range append(states, v.Checkpoints...) {
		if n == NoState {
			continue
		}
		s, err := r.stateRef(n)
		if err != nil || s.ID == id {
			return s, err == nil, err
		}
	}
	return StateRef{}, false, nil
}
