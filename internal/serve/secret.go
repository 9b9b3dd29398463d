package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// A token is 32 random bytes, so that one SHA-256 hides it: nobody can try them all. A password is what a person thought of, and is
// kept with bcrypt, which makes trying slow.
const (
	tokenPrefix = "oxy_" // so that a scanner of leaked secrets knows it
	hashPrefix  = "sha256:"
	// bcryptCost makes a try take about 60 ms of one core.
	bcryptCost = 10
	// MaxPassword is bcrypt's: it looks at no byte beyond.
	MaxPassword = 72
	minPassword = 8
	// maxSecret bounds what a peer may show: nothing longer is hashed.
	maxSecret = 256
)

// NewToken makes a token, and what an access file keeps of it.
func NewToken() (token, kept string) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(b)
	return token, keptToken(token)
}

func keptToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// KeptPassword is what an access file keeps of a password.
func KeptPassword(password string) (string, error) {
	switch {
	case len(password) < minPassword:
		return "", errors.New("the password is shorter than 8 bytes")
	case len(password) > MaxPassword:
		return "", errors.New("the password is longer than 72 bytes")
	}
	b, err := bcrypt.GenerateFromPassword([]byte(password), bcryptCost)
	return string(b), err
}

// parseToken reads what is kept of a token.
func parseToken(kept string) (sum [sha256.Size]byte, err error) {
	digits, ok := strings.CutPrefix(kept, hashPrefix)
	if n, err := hex.Decode(sum[:], []byte(digits[:min(len(digits), 2*len(sum))])); !ok || err != nil || n != len(sum) || len(digits) != 2*len(sum) {
		return sum, errors.New("a token is kept as sha256: and 64 hex digits, as oxy access token prints it")
	}
	return sum, nil
}

func sameToken(sum *[sha256.Size]byte, shown *[sha256.Size]byte) bool {
	return subtle.ConstantTimeCompare(sum[:], shown[:]) == 1
}

// checkKept tells whether a password is kept in a way that can be checked in good time.
func checkKept(kept string) error {
	cost, err := bcrypt.Cost([]byte(kept))
	if err != nil || cost > 14 { // which takes a second
		return errors.New("a password is kept as bcrypt does, as oxy access password prints it")
	}
	return nil
}

func samePassword(kept, shown string) bool {
	return bcrypt.CompareHashAndPassword([]byte(kept), []byte(shown)) == nil
}
