package sign

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Keygen runs an installed ssh-keygen, which can talk to hardware keys. Only to sign: a program that the PATH leads to
// is not asked whom to trust.
type Keygen struct {
	Program string    // "" for ssh-keygen in the PATH
	Stderr  io.Writer // where it asks a person to touch the key; nil for nowhere
}

type keygenSigner struct {
	Keygen
	file string
	key  ssh.PublicKey
}

// signer gives a signer for the key in file, private or public.
func (k Keygen) signer(file string, key ssh.PublicKey) (Signer, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	return &keygenSigner{k, file, key}, nil
}

func (s *keygenSigner) Key() ssh.PublicKey { return s.key }

func (s *keygenSigner) Sign(message []byte) (*Signature, error) {
	program := s.Program
	if program == "" {
		program = "ssh-keygen"
	}
	// No shell, and the file as an option's argument: a name that begins with a dash stays a name.
	cmd := exec.Command(program, "-Y", "sign", "-n", Namespace, "-f", s.file)
	cmd.Stdin = bytes.NewReader(message)
	var out, words tail
	cmd.Stdout = &out
	cmd.Stderr = &words
	if s.Stderr != nil {
		cmd.Stderr = io.MultiWriter(s.Stderr, &words)
	}
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("hardware keys need the program ssh-keygen of OpenSSH: %w", err)
		}
		return nil, fmt.Errorf("ssh-keygen: %w: %s", err, show(strings.TrimSpace(string(words.b))))
	}
	sig, err := ParseArmored(out.b)
	if err != nil {
		return nil, fmt.Errorf("ssh-keygen: %w", err)
	}
	if !bytes.Equal(sig.Key.Marshal(), s.key.Marshal()) {
		return nil, fmt.Errorf("ssh-keygen signed with the %s", describe(sig.Key))
	}
	return sig, nil
}

// tail keeps as much of a program's output as a signature may have, so that one gone mad does not fill the memory.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p[:min(len(p), maxArmored+1-len(t.b))]...)
	return len(p), nil
}
