package repo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/oxy-vcs/oxy/internal/sign"
)

// A checkpoint's signature holds for the state and tree that it names and for nothing else, whatever is recorded beside or after.
func TestSignedCheckpoints(t *testing.T) {
	w := born(t)
	withKey(t, w)
	w.commit(t, "first")
	w.with(t, func(r *Repo) error {
		_, key, err := r.SignCheckpoint(testKey)
		check(t, err)
		list, err := r.SignedCheckpoints()
		check(t, err)
		if len(list) != 1 {
			t.Fatalf("%d signed checkpoints", len(list))
		}
		s, err := r.openSigner(testKey)
		check(t, err)
		allowed, err := sign.ParseAllowed(append([]byte("ada@example.org "), ssh.MarshalAuthorizedKey(s.Key())...), time.UTC)
		check(t, err)
		p := &sign.Policy{Allowed: allowed}
		c := list[0]
		judge := func(c SignedCheckpoint) sign.Result {
			res, err := r.VerifyCheckpoint(&c, p)
			check(t, err)
			return res
		}
		if res := judge(c); res.Verdict != sign.Good || res.Principal != "ada@example.org" || res.Fingerprint != key {
			t.Errorf("%v", res)
		}
		if res, _ := r.VerifyCheckpoint(&c, &sign.Policy{}); res.Verdict != sign.Unknown {
			t.Errorf("whom nobody knows: %v", res)
		}
		for name, alter := range map[string]func(c *SignedCheckpoint){
			"another state":   func(c *SignedCheckpoint) { c.State[0] ^= 1 },
			"another tree":    func(c *SignedCheckpoint) { c.Tree[0] ^= 1 },
			"more changes":    func(c *SignedCheckpoint) { c.Changes++ },
			"another time":    func(c *SignedCheckpoint) { c.Time++ },
			"no signature":    func(c *SignedCheckpoint) { c.Part = nil },
			"a change's":      func(c *SignedCheckpoint) { c.Part = changeSignature(t, r) },
			"what is no part": func(c *SignedCheckpoint) { c.Part = []byte{9} },
			"a tree that it is not, signed": func(c *SignedCheckpoint) {
				c.Tree[0] ^= 1
				e, err := sign.SignCheckpoint(s, &c.Checkpoint)
				check(t, err)
				c.Part, err = sign.EncodePart([]sign.Entry{e})
				check(t, err)
			},
		} {
			bad := c
			if alter(&bad); judge(bad).Verdict == sign.Good {
				t.Errorf("%s passes", name)
			}
		}
		// The digest tells trees apart.
		digest, err := r.TreeDigest(must(r.Base())(t))
		check(t, err)
		if digest != c.Tree {
			t.Error("the digest of the same state is another")
		}
		return nil
	})
	seen := map[string]bool{}
	for i, edit := range []func(){
		nil,
		func() { put(t, w.mem, "a", "edited\n") },
		func() { put(t, w.mem, "new", "") },
		func() { putAs(t, w.mem, "new", "", 0o777) },
		func() { check(t, w.mem.Remove(memRoot+"/new")) },
	} {
		if edit != nil {
			edit()
			w.commit(t, fmt.Sprint(i))
		}
		w.with(t, func(r *Repo) error {
			d, err := r.TreeDigest(must(r.Base())(t))
			check(t, err)
			seen[d.String()] = true
			return nil
		})
	}
	if len(seen) != 4 { // the last tree is the second again
		t.Errorf("%d digests of 4 trees", len(seen))
	}
}

func changeSignature(t testing.TB, r *Repo) []byte {
	s, err := r.openSigner(testKey)
	check(t, err)
	e, err := sign.Change(s, r.store.ChangeID(0))
	check(t, err)
	part, err := sign.EncodePart([]sign.Entry{e})
	check(t, err)
	return part
}

// A state with a conflict has no tree that one could vouch for.
func TestConflictsAreNotSigned(t *testing.T) {
	w := disputed(t)
	withKey(t, w)
	w.with(t, func(r *Repo) error {
		if _, _, err := r.SignCheckpoint(testKey); err == nil || !strings.Contains(err.Error(), "conflicts") {
			t.Errorf("signed: %v", err)
		}
		return nil
	})
}

func FuzzSignedCheckpoint(f *testing.F) {
	f.Add(AppendSignedCheckpoint(nil, &SignedCheckpoint{Checkpoint: sign.Checkpoint{Changes: 300, Time: 1700000000}, Part: []byte("part")}))
	f.Add(AppendSignedCheckpoint(nil, &SignedCheckpoint{Checkpoint: sign.Checkpoint{Time: -1}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, rest, err := DecodeSignedCheckpoint(b)
		if err == nil && !bytes.Equal(append(AppendSignedCheckpoint(nil, &c), rest...), b) {
			t.Errorf("%x is read as %+v", b, c)
		}
	})
}
