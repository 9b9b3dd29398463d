package sign

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// serve runs an agent on a socket until the test ends, and gives the socket's path.
func serve(t *testing.T, a agent.Agent) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("agents are behind pipes here")
	}
	// A socket's path has at most 108 bytes, and a test's directory may be longer.
	dir, err := os.MkdirTemp("", "oxy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "agent")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				agent.ServeAgent(a, conn)
			}()
		}
	}()
	return socket
}

func TestSigningThroughAgent(t *testing.T) {
	ring := agent.NewKeyring()
	socket := serve(t, ring)
	rsaKey, err := rsa.GenerateKey(rand.Reader, minRSABits)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, private := range []any{rsaKey, edKey} {
		key := signerOf(t, private).Key()
		if _, err := AgentSigner(socket, key); !errors.Is(err, ErrNoKey) {
			t.Errorf("not held yet: %v", err)
		}
		if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
			t.Fatal(err)
		}
		s, err := AgentSigner(socket, key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Change(s, idOf("a")); err != nil {
			t.Error(err)
		}
		if err := ring.Remove(key); err != nil {
			t.Fatal(err)
		}
		if _, err := Change(s, idOf("a")); err == nil || !strings.Contains(err.Error(), "agent did not sign") {
			t.Errorf("taken out between: %v", err)
		}
	}
	if _, err := AgentSigner(socket+"x", signerOf(t, edKey).Key()); err == nil || errors.Is(err, ErrNoKey) {
		t.Errorf("no agent: %v", err)
	}
}

// lyingAgent signs with another key than it was asked to, or what it was not asked to.
type lyingAgent struct {
	agent.ExtendedAgent
	sign func(key ssh.PublicKey, data []byte) (*ssh.Signature, error)
}

func (a lyingAgent) SignWithFlags(key ssh.PublicKey, data []byte, _ agent.SignatureFlags) (*ssh.Signature, error) {
	return a.sign(key, data)
}

// What an agent answers is looked at before it becomes a change's signature.
func TestLyingAgent(t *testing.T) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring().(agent.ExtendedAgent)
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	key, other := signerOf(t, private).Key(), newKey(t).(keySigner)
	lies := map[string]func(ssh.PublicKey, []byte) (*ssh.Signature, error){
		"another key": func(_ ssh.PublicKey, data []byte) (*ssh.Signature, error) {
			return other.AlgorithmSigner.Sign(rand.Reader, data)
		},
		"another message": func(k ssh.PublicKey, data []byte) (*ssh.Signature, error) { return ring.Sign(k, data[1:]) },
		"another algorithm": func(k ssh.PublicKey, data []byte) (*ssh.Signature, error) {
			sig, err := ring.Sign(k, data)
			if err == nil {
				sig.Format = ssh.KeyAlgoRSA
			}
			return sig, err
		},
		"nothing": func(ssh.PublicKey, []byte) (*ssh.Signature, error) { return &ssh.Signature{}, nil },
	}
	for name, lie := range lies {
		s, err := AgentSigner(serve(t, lyingAgent{ring, lie}), key)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := Change(s, idOf("a")); err == nil {
			t.Errorf("%s: signed %x", name, e.Bytes)
		}
	}
}

// The agent that people run.
func TestRealAgent(t *testing.T) {
	program, err := exec.LookPath("ssh-agent")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no ssh-agent here")
	}
	dir, err := os.MkdirTemp("", "oxy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "agent")
	cmd := exec.Command(program, "-D", "-a", socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	// It prints where it listens once it does.
	if _, err := out.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	mustKeygen(t, dir, "", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "ca")
	for _, kind := range keyKinds[:3] {
		// One round of key derivation: the passphrase is not what is tested, and sixteen take half a second.
		mustKeygen(t, dir, "", append([]string{"-q", "-a", "1", "-N", "words", "-C", "", "-f", kind.name}, kind.args...)...)
		full := filepath.Join(dir, kind.name)
		private, err := ssh.ParseRawPrivateKeyWithPassphrase(read(t, full), []byte("words"))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		if err := agent.NewClient(conn).Add(agent.AddedKey{PrivateKey: private}); err != nil {
			t.Fatal(err)
		}
		conn.Close()
		// The agent holds the key, the configuration names its certificate.
		mustKeygen(t, dir, "", "-q", "-s", "ca", "-I", "id", "-n", "a@x", kind.name+".pub")
		// By the private file's name as by the public one's, and nobody is asked for the words.
		src := Source{FS: osFS, Agent: socket}
		for _, name := range []string{full, full + ".pub", full + "-cert.pub"} {
			s, err := src.Open(name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if _, isCert := s.Key().(*ssh.Certificate); isCert != strings.HasSuffix(name, "-cert.pub") {
				t.Errorf("%s: signs as %s", name, s.Key().Type())
			}
			if _, err := Change(s, idOf("a")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// writeKey makes the files of a fresh key, private and public, in OpenSSH's form or the older PEM.
func writeKey(t *testing.T, dir, name string, asPEM bool) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if asPEM {
		block = &pem.Block{Type: "EC PRIVATE KEY"}
		block.Bytes, err = x509.MarshalECPrivateKey(key)
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, name+".pub", ssh.MarshalAuthorizedKey(signerOf(t, key).Key()))
	return write(t, dir, name, pem.EncodeToMemory(block))
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	private := writeKey(t, dir, "key", false)
	old := writeKey(t, dir, "old", true)
	src := Source{FS: osFS, Agent: filepath.Join(dir, "no-agent")}
	for _, name := range []string{private, private + ".pub", old, old + ".pub"} {
		s, err := src.Open(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := Change(s, idOf("a")); err != nil {
			t.Error(err)
		}
	}
	public := read(t, private+".pub")
	if err := os.Remove(private); err != nil {
		t.Fatal(err)
	}
	if _, err := src.Open(private + ".pub"); !errors.Is(err, ErrNoKey) || !strings.Contains(err.Error(), private) {
		t.Errorf("only the public key: %v", err)
	}
	odd := write(t, dir, "odd-name", public)
	if _, err := src.Open(odd); err == nil {
		t.Error("a public key for a private one")
	}
	if _, err := src.Open(write(t, dir, "junk", []byte("junk"))); err == nil {
		t.Error("junk")
	}
	if _, err := src.Open(filepath.Join(dir, "missing")); err == nil {
		t.Error("missing")
	}
	if _, err := src.Open(write(t, dir, "big", make([]byte, MaxKeyFile+1))); err == nil {
		t.Error("a file without bound is read")
	}
}
