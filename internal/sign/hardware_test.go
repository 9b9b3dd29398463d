package sign

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// token stands for a hardware key: it signs what a FIDO device signs, with a key in memory.
type token struct {
	key   ssh.PublicKey
	flags byte
	sign  func(data []byte) []byte // of the device's own message
}

const application = "ssh:"

func newToken(t testing.TB, kind string) *token {
	t.Helper()
	tok := &token{flags: 1} // touched
	blob := appendString(nil, []byte(kind))
	switch kind {
	case ssh.KeyAlgoSKED25519:
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		blob = appendString(blob, public)
		tok.sign = func(data []byte) []byte { return ed25519.Sign(private, data) }
	case ssh.KeyAlgoSKECDSA256:
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		point, err := private.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		blob = appendString(appendString(blob, []byte("nistp256")), point)
		tok.sign = func(data []byte) []byte {
			sum := sha256.Sum256(data)
			r, s, err := ecdsa.Sign(rand.Reader, private, sum[:])
			if err != nil {
				t.Fatal(err)
			}
			return ssh.Marshal(struct{ R, S *big.Int }{r, s})
		}
	}
	var err error
	if tok.key, err = parseKey(appendString(blob, []byte(application))); err != nil {
		t.Fatal(err)
	}
	return tok
}

func (tok *token) Key() ssh.PublicKey { return tok.key }

func (tok *token) Sign(message []byte) (*Signature, error) {
	sig := &Signature{Key: tok.key, Namespace: Namespace, Hash: "sha512"}
	app, sum := sha256.Sum256([]byte(application)), sha256.Sum256(toSign(Namespace, sig.Hash, sig.digest(message)))
	rest := []byte{tok.flags, 0, 0, 0, 7}
	data := append(append(app[:], rest...), sum[:]...)
	sig.Sig = &ssh.Signature{Format: tok.key.Type(), Blob: tok.sign(data), Rest: rest}
	return sig, nil
}

// The signatures of hardware keys are ours to verify.
func TestHardwareKeys(t *testing.T) {
	for _, kind := range []string{ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256} {
		tok := newToken(t, kind)
		e, err := Change(tok, idOf("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckEntry(idOf("b"), e); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: for another change: %v", kind, err)
		}
		sig := parseOK(t, e.Bytes)
		for i := range len(sig.Sig.Rest) * 8 {
			forged := parseOK(t, bytes.Clone(e.Bytes))
			forged.Sig.Rest[i/8] ^= 1 << (i % 8)
			if err := CheckEntry(idOf("a"), Entry{SSH, forged.Marshal()}); err == nil {
				t.Errorf("%s: bit %d of flags and counter does not count", kind, i)
			}
		}
		tok.flags = 0
		if _, err := Change(tok, idOf("a")); !errors.Is(err, ErrWeak) || !strings.Contains(err.Error(), "not touched") {
			t.Errorf("%s: not touched: %v", kind, err)
		}
		if _, err := Parse(rawSignature(sig.Key.Marshal(), nil, "sha512", ssh.Marshal(ssh.Signature{Format: kind, Blob: sig.Sig.Blob}))); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: without flags: %v", kind, err)
		}
	}
}

// That the token above signs as hardware does, the real ssh-keygen says.
func TestKeygenAcceptsTheToken(t *testing.T) {
	dir := t.TempDir()
	for _, kind := range []string{ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256} {
		tok := newToken(t, kind)
		sig, err := tok.Sign(ChangeMessage(idOf("a")))
		if err != nil {
			t.Fatal(err)
		}
		if out, err := realVerify(t, dir, sig.Armor(), ChangeMessage(idOf("a")), "a@x "+pub(tok.key), "a@x"); err != nil {
			t.Errorf("%s: ssh-keygen: %s", kind, out)
		}
	}
}

// The private file of a hardware key holds no secret. It is known by its public half, and left to ssh-keygen.
func TestHardwareKeyFile(t *testing.T) {
	tok := newToken(t, ssh.KeyAlgoSKED25519)
	body := []byte("openssh-key-v1\x00")
	for _, s := range []string{"none", "none", ""} {
		body = appendString(body, []byte(s))
	}
	body = append(body, 0, 0, 0, 1)
	body = appendString(body, tok.key.Marshal())
	body = appendString(body, make([]byte, 64))
	name := write(t, t.TempDir(), "id_sk", pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: body}))
	if _, err := ReadKey(osFS, name, nil); !errors.Is(err, ErrHardware) {
		t.Errorf("read: %v", err)
	}
	src := Source{FS: osFS}
	s, err := src.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.(*keygenSigner); !ok {
		t.Errorf("opened as %T", s)
	}
}
