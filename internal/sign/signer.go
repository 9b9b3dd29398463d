package sign

import (
	"crypto/rand"
	"fmt"

	"github.com/oxy-vcs/oxy/internal/change"
	"golang.org/x/crypto/ssh"
)

// Signer makes signatures with one key, wherever it is held.
type Signer interface {
	// Key is the public key, or the certificate, that the signatures name.
	Key() ssh.PublicKey
	// Sign signs a message for Namespace. It may ask a person for something, a touch or a PIN, and so take long.
	Sign(message []byte) (*Signature, error)
}

// Change signs a change, and looks at what came out before it hands it over: an agent that answers with another
// key's signature must not leave a change that looks forged.
func Change(s Signer, id change.ID) (Entry, error) {
	message := ChangeMessage(id)
	sig, err := s.Sign(message)
	if err != nil {
		return Entry{}, fmt.Errorf("sign change %s: %w", id.Short(), err)
	}
	e := Entry{SSH, sig.Marshal()}
	if err := CheckEntry(id, e); err != nil {
		return Entry{}, fmt.Errorf("sign change %s with %s: %w", id.Short(), describe(s.Key()), err)
	}
	return e, nil
}

// keySigner signs with a key that is in memory or behind an agent.
type keySigner struct{ ssh.AlgorithmSigner }

// newSigner refuses keys that Verify would refuse: better before signing than after pushing.
func newSigner(s ssh.Signer) (Signer, error) {
	if err := checkKey(s.PublicKey()); err != nil {
		return nil, err
	}
	with, ok := s.(ssh.AlgorithmSigner)
	if !ok {
		return nil, fmt.Errorf("keys of type %q cannot sign by a named algorithm", s.PublicKey().Type())
	}
	return keySigner{with}, nil
}

func (s keySigner) Key() ssh.PublicKey { return s.PublicKey() }

func (s keySigner) Sign(message []byte) (*Signature, error) {
	key := s.PublicKey()
	sig := &Signature{Key: key, Namespace: Namespace, Hash: "sha512"}
	// The first algorithm of a key is its best. For RSA the default would be SHA-1.
	algorithm := keyAlgorithms[plain(key).Type()][0]
	var err error
	if sig.Sig, err = s.SignWithAlgorithm(rand.Reader, toSign(Namespace, sig.Hash, sig.digest(message)), algorithm); err != nil {
		return nil, err
	}
	return sig, nil
}
