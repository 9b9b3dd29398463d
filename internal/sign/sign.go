// Package sign says who vouches for a change: signatures of change ids with the SSH keys that people have, in the format
// of ssh-keygen -Y, and whom an allowed_signers file trusts. It knows nothing of repositories; docs/spec/sign.md is
// the format.
package sign

import (
	"encoding/hex"
	"errors"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Namespace is the SSHSIG namespace of everything that oxy signs. A signature that a person gave for a file, a mail or a
// Git commit has another, and so can never be shown as one for a change.
const Namespace = "oxy"

// Bounds of what is read from outside.
const (
	MaxSignature  = 16 << 10 // bytes of one: a certificate of RSA keys of 8192 bits takes 5 KiB, the names in it the rest
	MaxSignatures = 32       // of one change: its author, reviewers, a release; each costs 0.1 ms to check, 2 at worst
	MaxSigners    = 16 << 20 // bytes of an allowed_signers file or a list of revoked keys: 100 000 keys
	MaxKeyFile    = 1 << 20  // bytes of a private key's file, as ssh-keygen has it
	minRSABits    = 2048     // shorter ones are within reach of who has money
	maxRSABits    = 8192     // longer ones keep a verifier busy, 7 ms for a signature of 4 KiB, and make nothing safer
)

var (
	// ErrMalformed says that bytes are no signature, or no list of them, in the one form that is allowed.
	ErrMalformed = errors.New("malformed signature")
	// ErrWeak says that a signature is made in a way that others could imitate: DSA, SHA-1, a short RSA key.
	ErrWeak = errors.New("signature is too weak to prove anything")
	// ErrMismatch says that a signature is well made, and not for this message: forged, altered, or for another change.
	ErrMismatch = errors.New("signature does not fit")
	// ErrHardware says that a private key's secret is in a device, which only ssh-keygen or an agent can use.
	ErrHardware = errors.New("the key is held by a hardware device")
	// ErrNoKey says that neither an agent nor a file has the private key.
	ErrNoKey = errors.New("no private key found")
)

// ChangeMessage is what is signed for a change: its id behind words that no other kind of message begins with. It is
// a line of text, so that a person can sign it with ssh-keygen and nothing else.
func ChangeMessage(id change.ID) []byte {
	b := append(make([]byte, 0, 80), "oxy change 1 "...)
	return append(hex.AppendEncode(b, id[:]), '\n')
}
