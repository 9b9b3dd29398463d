package sign

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/oxy-vcs/oxy/internal/vfs"
	"golang.org/x/crypto/ssh"
)

// Source says where a person's keys are, and how to ask for what they need.
type Source struct {
	FS     vfs.FS
	Agent  string     // the agent's socket, from SSH_AUTH_SOCK; "" for none
	Keygen Keygen     // for hardware keys
	Ask    Passphrase // nil: there is nobody to ask
}

// Open finds the signer for the key that a configuration names by a file: a private key, a public key, or a certificate
// (NAME-cert.pub). An agent that holds the key goes first, for who uses one does not want to type a passphrase; then
// the private file; a hardware key is left to ssh-keygen.
func (src *Source) Open(name string) (Signer, error) {
	data, err := src.FS.ReadFile(name, MaxKeyFile)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	private := name
	key := publicHalf(data)
	if key == nil {
		if key, err = readPublic(data); err == nil {
			private = strings.TrimSuffix(strings.TrimSuffix(name, ".pub"), "-cert")
		} else if beside, err := src.FS.ReadFile(name+".pub", MaxKeyFile); err == nil {
			key, _ = readPublic(beside) // an old PEM file: only this tells what an agent may hold
		}
	}
	if key != nil && src.Agent != "" {
		if s, err := AgentSigner(src.Agent, key); err == nil {
			return s, nil
		}
		// Whatever is wrong with the agent, the file may still do.
	}
	if isHardware(key) {
		return src.Keygen.signer(name, key)
	}
	s, err := ReadKey(src.FS, private, src.Ask)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("key %s: %w: no agent holds it, and there is no file %s", name, ErrNoKey, private)
	}
	if err != nil {
		return nil, err
	}
	return asCertified(s, key)
}

// readPublic reads the public key or certificate in a .pub file.
func readPublic(data []byte) (ssh.PublicKey, error) {
	first, _, _ := strings.Cut(string(data), "\n")
	return parseKeyField(strings.TrimSpace(first))
}

// asCertified lets s sign in the name of a certificate of its key.
func asCertified(s Signer, key ssh.PublicKey) (Signer, error) {
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return s, nil
	}
	certified, err := ssh.NewCertSigner(cert, s.(keySigner).AlgorithmSigner)
	if err != nil {
		return nil, fmt.Errorf("certificate: %s", strings.TrimPrefix(err.Error(), "ssh: "))
	}
	return newSigner(certified)
}
