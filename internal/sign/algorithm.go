package sign

import (
	"bytes"
	"crypto/rsa"
	"fmt"
	"math/big"
	"strings"

	"golang.org/x/crypto/ssh"
)

// keyAlgorithms are the kinds of keys that may sign, and the signature algorithms of each. What is not here is refused by name:
// the signer chooses the algorithm, so every one that is accepted is as weak as the weakest.
var keyAlgorithms = map[string][]string{
	ssh.KeyAlgoED25519:    {ssh.KeyAlgoED25519},
	ssh.KeyAlgoSKED25519:  {ssh.KeyAlgoSKED25519},
	ssh.KeyAlgoECDSA256:   {ssh.KeyAlgoECDSA256},
	ssh.KeyAlgoECDSA384:   {ssh.KeyAlgoECDSA384},
	ssh.KeyAlgoECDSA521:   {ssh.KeyAlgoECDSA521},
	ssh.KeyAlgoSKECDSA256: {ssh.KeyAlgoSKECDSA256},
	ssh.KeyAlgoRSA:        {ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256},
}

// keyWords are the names of kinds of keys that ssh-keygen -l shows, and people know.
var keyWords = map[string]string{
	ssh.KeyAlgoED25519:    "ED25519",
	ssh.KeyAlgoSKED25519:  "ED25519-SK",
	ssh.KeyAlgoECDSA256:   "ECDSA",
	ssh.KeyAlgoECDSA384:   "ECDSA",
	ssh.KeyAlgoECDSA521:   "ECDSA",
	ssh.KeyAlgoSKECDSA256: "ECDSA-SK",
	ssh.KeyAlgoRSA:        "RSA",
}

// parseKey reads a public key or certificate, in its one encoding: a key that could be written in two ways would escape
// a list that names it in the other.
func parseKey(blob []byte) (ssh.PublicKey, error) {
	if algo, _, ok := cutString(blob); ok && strings.HasPrefix(string(algo), "ssh-dss") {
		return nil, fmt.Errorf("%w: DSA keys are no longer safe", ErrWeak)
	}
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return nil, fmt.Errorf("%w: public key: %s", ErrMalformed, strings.TrimPrefix(err.Error(), "ssh: "))
	}
	if !bytes.Equal(key.Marshal(), blob) {
		return nil, fmt.Errorf("%w: public key in an unusual encoding", ErrMalformed)
	}
	return key, nil
}

// plain is the key itself, out of the certificate that may surround it.
func plain(key ssh.PublicKey) ssh.PublicKey {
	if cert, ok := key.(*ssh.Certificate); ok {
		return cert.Key
	}
	return key
}

// checkKey refuses keys that are too weak to sign or to certify, or too dear to check.
func checkKey(key ssh.PublicKey) error {
	key = plain(key)
	if keyAlgorithms[key.Type()] == nil {
		return fmt.Errorf("%w: keys of type %q are not accepted", ErrWeak, key.Type())
	}
	switch bits := rsaBits(key); {
	case bits != 0 && bits < minRSABits:
		return fmt.Errorf("%w: RSA key of %d bits, at least %d are asked for", ErrWeak, bits, minRSABits)
	case bits > maxRSABits:
		return fmt.Errorf("%w: RSA key of %d bits, at most %d are allowed", ErrMalformed, bits, maxRSABits)
	}
	return nil
}

// rsaBits is the size of an RSA key's modulus, 0 for another key.
func rsaBits(key ssh.PublicKey) int {
	if c, ok := key.(ssh.CryptoPublicKey); ok {
		if k, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok {
			return k.N.BitLen()
		}
	}
	return 0
}

// checkAlgorithm refuses a signature whose algorithm is not one of its key's, or is weak.
func checkAlgorithm(key ssh.PublicKey, algorithm string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	for _, good := range keyAlgorithms[plain(key).Type()] {
		if algorithm == good {
			return nil
		}
	}
	if algorithm == ssh.KeyAlgoRSA {
		return fmt.Errorf("%w: RSA with SHA-1", ErrWeak)
	}
	return fmt.Errorf("%w: algorithm %q with a key of type %q", ErrMalformed, algorithm, plain(key).Type())
}

// checkEncoding refuses the other encodings of one and the same signature that a verifier would accept: the list of a
// change's signatures could be filled with them by anybody. (An ECDSA signature still has a twin, by its mathematics.)
func checkEncoding(key ssh.PublicKey, sig *ssh.Signature) error {
	rest := 0
	switch plain(key).Type() {
	case ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		rest = 5 // flags, counter
	}
	if len(sig.Rest) != rest {
		return fmt.Errorf("%w: %d bytes behind the signature, not %d", ErrMalformed, len(sig.Rest), rest)
	}
	switch plain(key).Type() {
	case ssh.KeyAlgoRSA:
		if len(sig.Blob) != (rsaBits(plain(key))+7)/8 {
			return fmt.Errorf("%w: RSA signature of %d bytes", ErrMalformed, len(sig.Blob))
		}
	case ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKECDSA256:
		var rs struct{ R, S *big.Int }
		if ssh.Unmarshal(sig.Blob, &rs) != nil || !bytes.Equal(ssh.Marshal(rs), sig.Blob) {
			return fmt.Errorf("%w: ECDSA numbers in an unusual encoding", ErrMalformed)
		}
	}
	return nil
}

// describe is a key as a person sees it, such as "ED25519 key SHA256:...". A certificate is shown by its key.
func describe(key ssh.PublicKey) string {
	return keyWords[plain(key).Type()] + " key " + Fingerprint(key)
}

// Fingerprint is what ssh-keygen -l shows for the key: "SHA256:" and 43 characters.
func Fingerprint(key ssh.PublicKey) string { return ssh.FingerprintSHA256(plain(key)) }
