package sign

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"golang.org/x/crypto/ssh"
)

var osFS = vfs.OS()

// newKey is a fresh ed25519 signer.
func newKey(t testing.TB) Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return signerOf(t, private)
}

func signerOf(t testing.TB, private any) Signer {
	t.Helper()
	raw, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSigner(raw)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signed is the unhashed part of a change with a signature by each of the signers.
func signed(t testing.TB, id [32]byte, signers ...Signer) []byte {
	t.Helper()
	var entries []Entry
	for _, s := range signers {
		e, err := Change(s, id)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	part, err := EncodePart(entries)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

func parseOK(t testing.TB, blob []byte) *Signature {
	t.Helper()
	sig, err := Parse(blob)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func TestSignatureOfAnotherChangeDoesNotFit(t *testing.T) {
	e, err := Change(newKey(t), idOf("this"))
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckEntry(idOf("this"), e); err != nil {
		t.Error(err)
	}
	if err := CheckEntry(idOf("that"), e); !errors.Is(err, ErrMismatch) {
		t.Errorf("for another change: %v", err)
	}
}

// Whatever single bit is turned, the signature is refused: nothing in it is decoration.
func TestEveryBitCounts(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, minRSABits)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Signer{newKey(t), signerOf(t, rsaKey)} {
		e, err := Change(s, idOf("a"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(e.Bytes) * 8 {
			forged := bytes.Clone(e.Bytes)
			forged[i/8] ^= 1 << (i % 8)
			if err := CheckEntry(idOf("a"), Entry{SSH, forged}); err == nil {
				t.Fatalf("bit %d of %d turned, and good", i, len(e.Bytes)*8)
			}
		}
		for n := range e.Bytes {
			if _, err := Parse(e.Bytes[:n]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("cut to %d of %d bytes: %v", n, len(e.Bytes), err)
			}
		}
		if _, err := Parse(append(bytes.Clone(e.Bytes), 0)); !errors.Is(err, ErrMalformed) {
			t.Errorf("a byte more: %v", err)
		}
	}
}

// A signature for another purpose, of the very same bytes, is none for a change.
func TestOtherNamespaces(t *testing.T) {
	s := newKey(t).(keySigner)
	message := ChangeMessage(idOf("a"))
	for _, namespace := range []string{"git", "file", "oxy2", "OXY", "oxy\x00"} {
		sig := &Signature{Key: s.Key(), Namespace: namespace, Hash: "sha512"}
		var err error
		if sig.Sig, err = s.AlgorithmSigner.Sign(rand.Reader, toSign(namespace, sig.Hash, sig.digest(message))); err != nil {
			t.Fatal(err)
		}
		if err := sig.Verify(message, namespace); err != nil {
			t.Fatal(err)
		}
		if err := CheckEntry(idOf("a"), Entry{SSH, sig.Marshal()}); !errors.Is(err, ErrMismatch) {
			t.Errorf("namespace %q: %v", namespace, err)
		}
		sig.Namespace = Namespace // the field says otherwise than what was signed
		if err := CheckEntry(idOf("a"), Entry{SSH, sig.Marshal()}); !errors.Is(err, ErrMismatch) {
			t.Errorf("namespace %q renamed: %v", namespace, err)
		}
	}
}

func TestRSAWithSHA1IsRefused(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, minRSABits)
	if err != nil {
		t.Fatal(err)
	}
	sig := &Signature{Key: signerOf(t, key).Key(), Namespace: Namespace, Hash: "sha512"}
	digest := sha1.Sum(toSign(Namespace, sig.Hash, sig.digest(ChangeMessage(idOf("a")))))
	blob, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA1, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	sig.Sig = &ssh.Signature{Format: ssh.KeyAlgoRSA, Blob: blob}
	if err := sig.Key.Verify(toSign(Namespace, sig.Hash, sig.digest(ChangeMessage(idOf("a")))), sig.Sig); err != nil {
		t.Fatalf("the test's signature is wrong: %v", err)
	}
	if err := CheckEntry(idOf("a"), Entry{SSH, sig.Marshal()}); !errors.Is(err, ErrWeak) || !strings.Contains(err.Error(), "SHA-1") {
		t.Errorf("RSA with SHA-1: %v", err)
	}
	if err := sig.Verify(ChangeMessage(idOf("a")), Namespace); !errors.Is(err, ErrWeak) {
		t.Errorf("not parsed: %v", err)
	}
}

func TestShortRSAIsRefused(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newSigner(raw); !errors.Is(err, ErrWeak) {
		t.Errorf("as a signer: %v", err)
	}
	s := keySigner{raw.(ssh.AlgorithmSigner)}
	sig, err := s.Sign(ChangeMessage(idOf("a")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(sig.Marshal()); !errors.Is(err, ErrWeak) || !strings.Contains(err.Error(), "1024 bits") {
		t.Errorf("parsed: %v", err)
	}
}

// A modulus that keeps a verifier busy needs no private key to be made.
func TestHugeRSAIsRefused(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(1), maxRSABits)
	key, err := ssh.NewPublicKey(&rsa.PublicKey{N: n.SetBit(n, 0, 1), E: 65537})
	if err != nil {
		t.Fatal(err)
	}
	sig := ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoRSASHA512, Blob: make([]byte, maxRSABits/8+1)})
	if _, err := Parse(rawSignature(key.Marshal(), nil, "sha512", sig)); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "8193 bits") {
		t.Errorf("huge key: %v", err)
	}
}

func TestDSAIsRefused(t *testing.T) {
	key := appendString(nil, []byte("ssh-dss"))
	for range 4 {
		key = appendString(key, []byte{1})
	}
	blob := rawSignature(key, nil, "sha512", ssh.Marshal(ssh.Signature{Format: "ssh-dss", Blob: make([]byte, 40)}))
	if _, err := Parse(blob); !errors.Is(err, ErrWeak) || !strings.Contains(err.Error(), "DSA") {
		t.Errorf("DSA: %v", err)
	}
}

// rawSignature puts the fields of a signature together, right or wrong.
func rawSignature(key, reserved []byte, hash string, sig []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte(sigMagic), sigVersion)
	b = appendString(b, key)
	b = appendString(b, []byte(Namespace))
	b = appendString(b, reserved)
	b = appendString(b, []byte(hash))
	return appendString(b, sig)
}

// What ssh-keygen would let pass, and would give one signature many forms.
func TestOneFormOnly(t *testing.T) {
	e, err := Change(newKey(t), idOf("a"))
	if err != nil {
		t.Fatal(err)
	}
	good := parseOK(t, e.Bytes)
	key, sig := good.Key.Marshal(), ssh.Marshal(good.Sig)
	if !bytes.Equal(rawSignature(key, nil, "sha512", sig), e.Bytes) {
		t.Fatal("the test puts signatures together wrongly")
	}
	cases := map[string][]byte{
		"reserved field":   rawSignature(key, []byte("x"), "sha512", sig),
		"hash sha1":        rawSignature(key, nil, "sha1", sig),
		"hash SHA512":      rawSignature(key, nil, "SHA512", sig),
		"key with a tail":  rawSignature(append(bytes.Clone(key), 0), nil, "sha512", sig),
		"bytes behind":     rawSignature(key, nil, "sha512", append(bytes.Clone(sig), 0)),
		"no key":           rawSignature(nil, nil, "sha512", sig),
		"length of 2^32-1": append([]byte(sigMagic), 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff),
		"version 0":        append(append([]byte(sigMagic), 0, 0, 0, 0), e.Bytes[10:]...),
		"version 2":        append(append([]byte(sigMagic), 0, 0, 0, 2), e.Bytes[10:]...),
		"too long":         append(bytes.Clone(e.Bytes), make([]byte, MaxSignature)...),
		"empty":            nil,
		"armored":          good.Armor(),
	}
	for name, blob := range cases {
		if _, err := Parse(blob); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArmor(t *testing.T) {
	e, err := Change(newKey(t), idOf("a"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(parseOK(t, e.Bytes).Armor())
	good := map[string]string{
		"as written":    text,
		"CR LF":         strings.ReplaceAll(text, "\n", "\r\n"),
		"more behind":   text + "anything\n",
		"one line":      armorBegin + strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(text, armorBegin), armorEnd+"\n"), "\n", "") + "\n" + armorEnd,
		"blanks inside": strings.Replace(text, "U1NI", "U1 N\tI", 1),
	}
	for name, text := range good {
		sig, err := ParseArmored([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !bytes.Equal(sig.Marshal(), e.Bytes) {
			t.Errorf("%s: other bytes", name)
		}
	}
	bad := map[string]string{
		"empty":          "",
		"before it":      "x\n" + text,
		"no end":         strings.TrimSuffix(text, armorEnd+"\n"),
		"nothing inside": armorBegin + armorEnd,
		"not base64":     strings.Replace(text, "U1NI", "U*NI", 1),
		"PGP":            strings.ReplaceAll(text, "SSH SIGNATURE", "PGP SIGNATURE"),
		"too long":       text + strings.Repeat("x", maxArmored),
	}
	for name, text := range bad {
		if _, err := ParseArmored([]byte(text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	theirs, err := filepath.Glob(filepath.Join("testdata", "keygen", "*.sig"))
	if err != nil || len(theirs) == 0 {
		f.Fatal("no signatures of ssh-keygen", err)
	}
	for _, name := range theirs {
		f.Add(read(f, name))
		if blob, err := dearmor(read(f, name)); err == nil {
			f.Add(blob)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if sig, err := Parse(b); err == nil {
			if !bytes.Equal(sig.Marshal(), b) {
				t.Errorf("%x is parsed and written as %x", b, sig.Marshal())
			}
			sig.Verify([]byte("x"), Namespace)
		}
		if sig, err := ParseArmored(b); err == nil {
			again, err := ParseArmored(sig.Armor())
			if err != nil || !bytes.Equal(again.Marshal(), sig.Marshal()) {
				t.Errorf("armored again: %v", err)
			}
		}
	})
}

// Numbers with needless zeros, or without needed ones, which OpenSSH or Go's library takes for the same.
func TestOneFormOfNumbers(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, minRSABits)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parse := func(key, sig []byte) error {
		_, err := Parse(rawSignature(key, nil, "sha512", sig))
		return err
	}
	sign := func(private any) (key []byte, sig *ssh.Signature) {
		s, err := signerOf(t, private).Sign(ChangeMessage(idOf("a")))
		if err != nil {
			t.Fatal(err)
		}
		key, sig = s.Key.Marshal(), s.Sig
		if err := parse(key, ssh.Marshal(sig)); err != nil {
			t.Fatal(err)
		}
		return key, sig
	}
	key, sig := sign(rsaKey)
	for name, blob := range map[string][]byte{"shorter": sig.Blob[1:], "longer": append([]byte{0}, sig.Blob...), "empty": nil} {
		if err := parse(key, ssh.Marshal(ssh.Signature{Format: sig.Format, Blob: blob})); !errors.Is(err, ErrMalformed) {
			t.Errorf("RSA signature, %s: %v", name, err)
		}
	}
	padded := appendString(appendString(appendString(nil, []byte(ssh.KeyAlgoRSA)), []byte{1, 0, 1}), append([]byte{0, 0}, rsaKey.N.Bytes()...))
	if err := parse(padded, ssh.Marshal(sig)); !errors.Is(err, ErrMalformed) {
		t.Errorf("RSA key with zeros before its modulus: %v", err)
	}
	key, sig = sign(ecKey)
	r, rest, _ := cutString(sig.Blob)
	s, _, _ := cutString(rest)
	for name, blob := range map[string][]byte{
		"zeros before r": appendString(appendString(nil, append([]byte{0}, r...)), s),
		"zeros before s": appendString(appendString(nil, r), append([]byte{0}, s...)),
		"a third number": appendString(bytes.Clone(sig.Blob), []byte{1}),
		"one number":     appendString(nil, r),
	} {
		if err := parse(key, ssh.Marshal(ssh.Signature{Format: sig.Format, Blob: blob})); !errors.Is(err, ErrMalformed) {
			t.Errorf("ECDSA, %s: %v", name, err)
		}
	}
}
