package sign

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Revocations is a list of keys that prove nothing any more, whatever the time of what they signed: who steals a key can also
// write an old date. It may be used by several goroutines at once; nil is an empty list.
type Revocations struct{ keys map[string]bool }

// ParseRevocations reads public keys, one a line ("type base64 comment"), with empty lines and comments behind '#': the plain
// form of what ssh-keygen -r takes. A line that cannot be read is an error: skipped, it would leave a stolen key trusted.
func ParseRevocations(data []byte) (*Revocations, error) {
	if len(data) > MaxSigners {
		return nil, fmt.Errorf("revoked keys: %d bytes, at most %d are allowed", len(data), MaxSigners)
	}
	if bytes.HasPrefix(data, []byte("SSHKRL\n\x00")) {
		return nil, errors.New("revoked keys: this is a binary KRL; list the public keys instead, one a line")
	}
	r := &Revocations{keys: map[string]bool{}}
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		s := strings.TrimSpace(string(raw))
		if s == "" || s[0] == '#' {
			continue
		}
		key, err := parseKeyField(s)
		if errors.Is(err, ErrWeak) {
			continue // no key of its kind is accepted anyway
		}
		if err != nil {
			return nil, fmt.Errorf("revoked keys, line %d: %w", number, err)
		}
		r.keys[string(plain(key).Marshal())] = true
	}
	return r, nil
}

// Has tells whether the key is revoked: itself, the key in a certificate, or the authority that signed it.
func (r *Revocations) Has(key ssh.PublicKey) bool {
	if r == nil {
		return false
	}
	if cert, ok := key.(*ssh.Certificate); ok && r.keys[string(cert.SignatureKey.Marshal())] {
		return true
	}
	return r.keys[string(plain(key).Marshal())]
}
