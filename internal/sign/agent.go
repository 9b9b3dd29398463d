package sign

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentSigner signs through an ssh-agent. It connects anew for each signature: an agent may be restarted, or its
// forwarding end, between two of them, and there is no connection to be closed by whoever holds a Signer.
type agentSigner struct {
	socket string
	key    ssh.PublicKey // in whose name
	held   ssh.PublicKey // what the agent calls it: key, or the key in its certificate
}

// AgentSigner gives a signer for key if the agent at socket, a Unix socket's path, holds it, or the key in
// the certificate that key is: ErrNoKey if not. Hardware keys work too;
// the agent asks for the touch.
func AgentSigner(socket string, key ssh.PublicKey) (Signer, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("connect to the ssh agent: %w", err)
	}
	defer conn.Close()
	held, err := agent.NewClient(conn).List()
	if err != nil {
		return nil, fmt.Errorf("ask the ssh agent for its keys: %w", err)
	}
	for _, want := range []ssh.PublicKey{key, plain(key)} {
		blob := want.Marshal()
		if slices.ContainsFunc(held, func(k *agent.Key) bool { return bytes.Equal(k.Blob, blob) }) {
			return &agentSigner{socket, key, want}, nil
		}
	}
	return nil, fmt.Errorf("ssh agent: %w: it does not hold the %s", ErrNoKey, describe(key))
}

func (s *agentSigner) Key() ssh.PublicKey { return s.key }

func (s *agentSigner) Sign(message []byte) (*Signature, error) {
	conn, err := net.Dial("unix", s.socket)
	if err != nil {
		return nil, fmt.Errorf("connect to the ssh agent: %w", err)
	}
	defer conn.Close()
	var flags agent.SignatureFlags
	if plain(s.key).Type() == ssh.KeyAlgoRSA {
		flags = agent.SignatureFlagRsaSha512 // without it the agent takes SHA-1
	}
	sig := &Signature{Key: s.key, Namespace: Namespace, Hash: "sha512"}
	sig.Sig, err = agent.NewClient(conn).SignWithFlags(s.held, toSign(Namespace, sig.Hash, sig.digest(message)), flags)
	if err != nil {
		return nil, fmt.Errorf("the ssh agent did not sign: %s", strings.TrimPrefix(err.Error(), "agent: "))
	}
	return sig, nil
}
