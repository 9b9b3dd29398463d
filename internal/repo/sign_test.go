package repo

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sign"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"golang.org/x/crypto/ssh"
)

const testKey = "/keys/ada"

// putKey writes a person's key.
func putKey(t testing.TB, fsys vfs.FS, name string, seed byte) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	block, err := ssh.MarshalPrivateKey(key, "")
	check(t, err)
	check(t, fsys.MkdirAll("/keys", 0o700))
	check(t, vfs.WriteFileAtomic(fsys, name, pem.EncodeToMemory(block), true))
}

func signLast(_ context.Context, r *Repo) error {
	n, err := r.ResolveChange("main")
	if err != nil {
		return err
	}
	_, err = r.Sign([]uint32{n, 0}, testKey)
	return err
}

func commitSigned(ctx context.Context, r *Repo) error {
	if _, err := r.openSigner(testKey); err != nil {
		return err
	}
	_, err := r.Commit(ctx, CommitOptions{Message: "signed", Time: at(2000), Sign: SignAlways})
	return err
}

func withKey(t testing.TB, w *world) { putKey(t, w.mem, testKey, 1) }

// Signatures that come one by one and several at once, in many operations: each change has its own at any time, also after
// packing, and the contents that hold them stay few.
func TestSignaturesThatComeLater(t *testing.T) {
	w := &world{mem: newMem()}
	check(t, w.mem.MkdirAll(memRoot, 0o777))
	r, err := Init(memRoot, memOptions(w.mem))
	check(t, err)
	check(t, r.Close())
	for i := range 20 {
		put(t, w.mem, "a", fmt.Sprint(i, "\n"))
		w.commit(t, fmt.Sprint(i))
	}
	var keys []string
	for i := range 4 {
		keys = append(keys, fmt.Sprint("/keys/", i))
		putKey(t, w.mem, keys[i], byte(i))
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	want := map[uint32]map[string]bool{}
	for step := range 60 {
		w.with(t, func(r *Repo) error {
			key := keys[rnd.IntN(len(keys))]
			var ns []uint32
			for range 1 + rnd.IntN(3)*rnd.IntN(3) {
				if n := uint32(rnd.IntN(20)); !slices.Contains(ns, n) {
					ns = append(ns, n)
				}
			}
			done, err := r.Sign(ns, key)
			check(t, err)
			for i, n := range ns {
				if done[i].Already != want[n][done[i].Key] {
					t.Errorf("step %d: change %d: %+v", step, n, done[i])
				}
				if want[n] == nil {
					want[n] = map[string]bool{}
				}
				want[n][done[i].Key] = true
			}
			return nil
		})
		if step%20 == 19 {
			pack(t, w)
		}
		w.with(t, func(r *Repo) error {
			v, err := r.view()
			check(t, err)
			if n := len(v.Kept[keptSigned]) / 32; n > 8 {
				t.Errorf("step %d: %d contents", step, n)
			}
			for n := range uint32(20) {
				c, err := r.Info(n)
				check(t, err)
				part, err := r.partOf(c.ID, c.part)
				check(t, err)
				entries, err := sign.DecodePart(part)
				check(t, err)
				if len(entries) != len(want[n]) {
					t.Fatalf("step %d: change %d has %d signatures, not %d", step, n, len(entries), len(want[n]))
				}
				for _, e := range entries {
					check(t, sign.CheckEntry(c.ID, e))
				}
			}
			return nil
		})
	}
	fine(t, w.mem)
}

// A signature given for one change, kept for another, is found.
func TestFsckLooksAtLateSignatures(t *testing.T) {
	for want, alter := range map[string]func(r *Repo, e sign.Entry) change.ID{
		"a signature of it":   func(r *Repo, _ sign.Entry) change.ID { return r.store.ChangeID(1) },
		"cannot be had: sign": nil,
	} {
		w := settled(t)
		withKey(t, w)
		w.with(t, func(r *Repo) error {
			s, err := r.openSigner(testKey)
			check(t, err)
			e, err := sign.Change(s, r.store.ChangeID(0))
			check(t, err)
			_, err = transact(r, func(tx *tx) (struct{}, error) {
				if alter == nil {
					tx.view.Kept[keptSigned] = make([]byte, 32)
				} else {
					check(t, tx.addSignatures(map[change.ID][]sign.Entry{alter(r, e): {e}}))
				}
				return struct{}{}, tx.commit("sign")
			})
			return err
		})
		res, err := fsck(t, w.mem, false)
		check(t, err)
		if len(res.Problems) != 1 || res.Problems[0].Derived || !strings.Contains(res.Problems[0].Text, want) {
			t.Errorf("%s: %+v", want, res.Problems)
		}
	}
}

func TestSignedVector(t *testing.T) {
	page, err := os.ReadFile("../../docs/spec/repo.md")
	check(t, err)
	parts := strings.Split(string(page), "```vector\n")
	if len(parts) != 3 {
		t.Fatalf("%d vectors", len(parts)-1)
	}
	text, _, _ := strings.Cut(parts[2], "```")
	want, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	check(t, err)
	part := func(b byte) []byte {
		p, err := sign.EncodePart([]sign.Entry{{Kind: 9, Bytes: []byte{b}}})
		check(t, err)
		return p
	}
	got := encodeSigned(map[change.ID][]byte{{2}: part('b'), {1}: part('a')})
	if !bytes.Equal(got, want) {
		t.Errorf("written %x", got)
	}
	var l lateSignatures
	l.parts = map[change.ID][]byte{}
	check(t, l.add(want))
	if !bytes.Equal(encodeSigned(l.parts), want) {
		t.Error("read as something else")
	}
}

func FuzzSigned(f *testing.F) {
	part, err := sign.EncodePart([]sign.Entry{{Kind: 9, Bytes: []byte("x")}})
	check(f, err)
	f.Add(encodeSigned(map[change.ID][]byte{{1}: part, {2}: part}))
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{1}, 40))
	f.Fuzz(func(t *testing.T, b []byte) {
		parts := map[change.ID][]byte{}
		err := eachSigned(b, func(id change.ID, part []byte) error { parts[id] = part; return nil })
		if err == nil && !bytes.Equal(encodeSigned(parts), b) {
			t.Errorf("%x is read, and written as %x", b, encodeSigned(parts))
		}
	})
}

// What a peer attaches to a change and is no signature of it is not kept.
func TestSoundPart(t *testing.T) {
	mem := newMem()
	putKey(t, mem, testKey, 1)
	s, err := sign.ReadKey(mem, testKey, nil)
	check(t, err)
	mine, err := sign.Change(s, change.ID{1})
	check(t, err)
	others, err := sign.Change(s, change.ID{2})
	check(t, err)
	later := sign.Entry{Kind: 9, Bytes: []byte("of a later oxy")}
	part, err := sign.EncodePart([]sign.Entry{mine, others, later, {Kind: sign.SSH, Bytes: []byte("none")}})
	check(t, err)
	got, err := sign.DecodePart(soundPart(change.ID{1}, part))
	check(t, err)
	if len(got) != 2 || !bytes.Equal(got[0].Bytes, mine.Bytes) || got[1].Kind != 9 {
		t.Errorf("%+v", got)
	}
	if p := soundPart(change.ID{1}, []byte{9, 9}); p != nil {
		t.Errorf("%x", p)
	}
}
