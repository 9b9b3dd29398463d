package sign

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"golang.org/x/crypto/ssh"
)

// passphraseTries is how often a person may mistype, as for ssh.
const passphraseTries = 3

// Passphrase asks a person for the passphrase of the named key file. An error ends the asking.
type Passphrase func(name string) ([]byte, error)

// ReadKey reads a private key, in OpenSSH's or PEM form. ask is called for an encrypted one, up to three times; nil refuses
// those. The secret of a hardware key is not in its file: ErrHardware.
func ReadKey(fsys vfs.FS, name string, ask Passphrase) (Signer, error) {
	data, err := fsys.ReadFile(name, MaxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	s, err := parsePrivate(data, name, ask)
	if err != nil {
		return nil, fmt.Errorf("read key %s: %w", name, err)
	}
	return newSigner(s)
}

func parsePrivate(data []byte, name string, ask Passphrase) (ssh.Signer, error) {
	if isHardware(publicHalf(data)) {
		return nil, ErrHardware
	}
	s, err := ssh.ParsePrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if !errors.As(err, &locked) {
		return s, err
	}
	if ask == nil {
		return nil, errors.New("it needs a passphrase, and there is nobody to ask; an agent can hold it instead")
	}
	for try := 1; ; try++ {
		pass, err := ask(name)
		if err != nil {
			return nil, err
		}
		s, err := ssh.ParsePrivateKeyWithPassphrase(data, pass)
		clear(pass)
		if !errors.Is(err, x509.IncorrectPasswordError) || try == passphraseTries {
			return s, err
		}
	}
}

// publicHalf is the public key that a private key's file shows without a passphrase; nil in the older PEM forms.
func publicHalf(data []byte) ssh.PublicKey {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil
	}
	rest, ok := bytes.CutPrefix(block.Bytes, []byte("openssh-key-v1\x00"))
	for range 3 { // cipher, key derivation, its options
		if ok {
			_, rest, ok = cutString(rest)
		}
	}
	if !ok || len(rest) < 4 {
		return nil
	}
	blob, _, ok := cutString(rest[4:]) // behind the number of keys, always one
	if !ok {
		return nil
	}
	key, err := parseKey(blob)
	if err != nil {
		return nil
	}
	return key
}

func isHardware(key ssh.PublicKey) bool {
	return key != nil && strings.HasPrefix(plain(key).Type(), "sk-")
}
