package sign

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

const (
	sigMagic   = "SSHSIG"
	sigVersion = 1
	armorBegin = "-----BEGIN SSH SIGNATURE-----\n"
	armorEnd   = "-----END SSH SIGNATURE-----"
	armorWidth = 70 // characters of base64 in a line, as ssh-keygen writes them

	// maxArmored bounds an armored signature: base64, a line end every 70 characters, and room for what surrounds it.
	maxArmored = MaxSignature/3*4 + MaxSignature/32 + 256
)

// Signature is a signature in OpenSSH's SSHSIG format: by a key, for a namespace, of a message's hash.
// That it could be parsed says nothing yet: only Verify proves that the key's owner made it.
type Signature struct {
	Key       ssh.PublicKey // perhaps a certificate
	Namespace string
	Hash      string // sha256 or sha512
	Sig       *ssh.Signature
}

// Parse reads the binary form. It accepts exactly one encoding of a signature: Marshal gives the same bytes again.
// It shares the bytes. Errors are ErrMalformed or ErrWeak.
func Parse(blob []byte) (*Signature, error) {
	if len(blob) > MaxSignature {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrMalformed, len(blob), MaxSignature)
	}
	rest, ok := bytes.CutPrefix(blob, []byte(sigMagic))
	if !ok || len(rest) < 4 {
		return nil, fmt.Errorf("%w: does not begin with %s", ErrMalformed, sigMagic)
	}
	if v := binary.BigEndian.Uint32(rest); v != sigVersion {
		return nil, fmt.Errorf("%w: version %d, this oxy knows %d", ErrMalformed, v, sigVersion)
	}
	rest = rest[4:]
	var field [5][]byte // key, namespace, reserved, hash, signature
	for i := range field {
		if field[i], rest, ok = cutString(rest); !ok {
			return nil, fmt.Errorf("%w: cut off", ErrMalformed)
		}
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", ErrMalformed, len(rest))
	}
	// ssh-keygen skips what stands here, and it is not signed: a place to hide anything, and to make copies that differ.
	if len(field[2]) != 0 {
		return nil, fmt.Errorf("%w: the reserved field is not empty", ErrMalformed)
	}
	key, err := parseKey(field[0])
	if err != nil {
		return nil, err
	}
	s := &Signature{Key: key, Namespace: string(field[1]), Hash: string(field[3]), Sig: &ssh.Signature{}}
	if s.Namespace == "" {
		return nil, fmt.Errorf("%w: no namespace", ErrMalformed)
	}
	if s.digest(nil) == nil {
		return nil, fmt.Errorf("%w: hash algorithm %q", ErrMalformed, s.Hash)
	}
	if err := ssh.Unmarshal(field[4], s.Sig); err != nil {
		return nil, fmt.Errorf("%w: cut off", ErrMalformed)
	}
	if err := checkAlgorithm(key, s.Sig.Format); err != nil {
		return nil, err
	}
	return s, checkEncoding(key, s.Sig)
}

// ParseArmored reads the form between BEGIN and END lines. As for ssh-keygen, the first line must be the first bytes, how base64 is cut into lines is free,
// and what follows the END line does not count.
func ParseArmored(text []byte) (*Signature, error) {
	blob, err := dearmor(text)
	if err != nil {
		return nil, err
	}
	return Parse(blob)
}

func dearmor(text []byte) ([]byte, error) {
	if len(text) > maxArmored {
		return nil, fmt.Errorf("%w: %d bytes of text, at most %d are allowed", ErrMalformed, len(text), maxArmored)
	}
	// Files that went through Windows have CR LF: ssh-keygen there writes and reads them.
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	body, ok := bytes.CutPrefix(text, []byte(armorBegin))
	if !ok {
		return nil, fmt.Errorf("%w: the first line is not %q", ErrMalformed, armorBegin)
	}
	body, _, ok = bytes.Cut(body, []byte("\n"+armorEnd))
	if !ok {
		return nil, fmt.Errorf("%w: no line %q", ErrMalformed, armorEnd)
	}
	blob, err := unbase64(string(body))
	if err != nil {
		return nil, fmt.Errorf("%w: broken base64", ErrMalformed)
	}
	return blob, nil
}

// unbase64 reads base64 as OpenSSH does: white space anywhere, padding and its unused bits as they must be.
func unbase64(s string) ([]byte, error) {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\v\f\r", r) {
			return -1
		}
		return r
	}, s)
	return base64.StdEncoding.Strict().DecodeString(s)
}

// Marshal gives the binary form.
func (s *Signature) Marshal() []byte {
	b := binary.BigEndian.AppendUint32([]byte(sigMagic), sigVersion)
	b = appendString(b, s.Key.Marshal())
	b = appendString(b, []byte(s.Namespace))
	b = appendString(b, nil)
	b = appendString(b, []byte(s.Hash))
	return appendString(b, ssh.Marshal(s.Sig))
}

// Armor gives the text form, byte for byte as ssh-keygen -Y sign writes it.
func (s *Signature) Armor() []byte {
	b64 := base64.StdEncoding.EncodeToString(s.Marshal())
	b := []byte(armorBegin)
	for len(b64) > 0 {
		n := min(armorWidth, len(b64))
		b = append(append(b, b64[:n]...), '\n')
		b64 = b64[n:]
	}
	return append(append(b, armorEnd...), '\n')
}

// Verify proves that the owner of s.Key signed this message for this namespace; whether the owner is trusted is for a
// Policy to say. Errors are ErrMismatch, or ErrWeak for a certificate that is weakly signed.
func (s *Signature) Verify(message []byte, namespace string) error {
	if s.Namespace != namespace {
		return fmt.Errorf("%w: it was given for %q, not for %q", ErrMismatch, s.Namespace, namespace)
	}
	if err := checkAlgorithm(s.Key, s.Sig.Format); err != nil {
		return err
	}
	if err := s.Key.Verify(toSign(namespace, s.Hash, s.digest(message)), s.Sig); err != nil {
		if strings.Contains(err.Error(), "user presence") {
			return fmt.Errorf("%w: the hardware key was not touched when it signed", ErrWeak)
		}
		return fmt.Errorf("%w: the key signed something else, or did not sign", ErrMismatch)
	}
	return nil
}

// toSign is what the key signs: it names the namespace too, so that the field beside the signature cannot be altered.
func toSign(namespace, hash string, digest []byte) []byte {
	b := append(make([]byte, 0, 128), sigMagic...)
	b = appendString(b, []byte(namespace))
	b = appendString(b, nil)
	b = appendString(b, []byte(hash))
	return appendString(b, digest)
}

// digest is the message's hash, nil if the algorithm is not one of the two that SSHSIG has.
func (s *Signature) digest(message []byte) []byte {
	switch s.Hash {
	case "sha512":
		sum := sha512.Sum512(message)
		return sum[:]
	case "sha256":
		sum := sha256.Sum256(message)
		return sum[:]
	}
	return nil
}

// cutString takes a string of the SSH protocol, a length in four bytes and the bytes, off the front of b.
func cutString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	b = b[4:]
	if uint64(n) > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

func appendString(b, s []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}
