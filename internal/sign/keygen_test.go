package sign

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxy-vcs/oxy/internal/change"
	"golang.org/x/crypto/ssh"
)

// The real ssh-keygen is the judge of the format and of what an allowed_signers file means, where it is installed. What it
// made once is in testdata for everywhere else.

// sshKeygen runs the real program, in dir, with universal time for local, and gives its output.
func sshKeygen(t testing.TB, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	return sshKeygenAt(t, "UTC", dir, stdin, args...)
}

func sshKeygenAt(t testing.TB, zone, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("no ssh-keygen here")
	}
	cmd := exec.Command("ssh-keygen", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "TZ="+zone, "SSH_AUTH_SOCK=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func mustKeygen(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	out, err := sshKeygen(t, dir, stdin, args...)
	if err != nil {
		t.Fatalf("ssh-keygen %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func write(t testing.TB, dir, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// idOf is some change's id.
func idOf(s string) (id change.ID) {
	copy(id[:], s)
	return id
}

// pub is a key as a line of a .pub file, without a line end.
func pub(key ssh.PublicKey) string { return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) }

// realVerify asks ssh-keygen whether an armored signature of message is good for principal.
func realVerify(t testing.TB, dir string, armored, message []byte, allowed, principal string, more ...string) (string, error) {
	t.Helper()
	write(t, dir, "sig", armored)
	write(t, dir, "allowed", []byte(allowed))
	return sshKeygen(t, dir, string(message), append([]string{"-Y", "verify", "-n", Namespace, "-f", "allowed", "-I", principal, "-s", "sig"}, more...)...)
}

var keyKinds = []struct {
	name string
	args []string
}{
	{"ed25519", []string{"-t", "ed25519"}},
	{"rsa", []string{"-t", "rsa", "-b", "2048"}},
	{"ecdsa256", []string{"-t", "ecdsa", "-b", "256"}},
	{"ecdsa384", []string{"-t", "ecdsa", "-b", "384"}},
	{"ecdsa521", []string{"-t", "ecdsa", "-b", "521"}},
}

func TestKeygenAcceptsOursAndWeTheirs(t *testing.T) {
	dir := t.TempDir()
	id := idOf("change")
	for _, kind := range keyKinds {
		t.Run(kind.name, func(t *testing.T) {
			mustKeygen(t, dir, "", append([]string{"-q", "-N", "", "-C", "", "-f", kind.name}, kind.args...)...)
			s, err := ReadKey(osFS, filepath.Join(dir, kind.name), nil)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Change(s, id)
			if err != nil {
				t.Fatal(err)
			}
			sig, err := Parse(e.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			out, err := realVerify(t, dir, sig.Armor(), ChangeMessage(id), "me@x "+pub(s.Key()), "me@x")
			if err != nil {
				t.Fatalf("ssh-keygen refuses ours: %s", out)
			}
			if !strings.Contains(out, Fingerprint(s.Key())) {
				t.Errorf("ssh-keygen says %q, our fingerprint is %s", out, Fingerprint(s.Key()))
			}

			theirs := mustKeygen(t, dir, string(ChangeMessage(id)), "-q", "-Y", "sign", "-n", Namespace, "-f", kind.name)
			theirs = theirs[strings.Index(theirs, "-----"):]
			parsed, err := ParseArmored([]byte(theirs))
			if err != nil {
				t.Fatal(err)
			}
			if err := parsed.Verify(ChangeMessage(id), Namespace); err != nil {
				t.Errorf("we refuse theirs: %v", err)
			}
			if got := parsed.Armor(); !bytes.Equal(got, []byte(theirs)) {
				t.Errorf("armored again:\n%s\nwas\n%s", got, theirs)
			}
			for _, hash := range []string{"sha256", "sha512"} {
				theirs := mustKeygen(t, dir, string(ChangeMessage(id)), "-q", "-Y", "sign", "-n", Namespace, "-O", "hashalg="+hash, "-f", kind.name)
				parsed, err := ParseArmored([]byte(theirs[strings.Index(theirs, "-----"):]))
				if err != nil {
					t.Fatal(err)
				}
				if err := parsed.Verify(ChangeMessage(id), Namespace); err != nil || parsed.Hash != hash {
					t.Errorf("hash %s: %v, %s", hash, err, parsed.Hash)
				}
			}
		})
	}
}

// Keygen signs by the real program, as for a hardware key.
func TestSigningThroughKeygen(t *testing.T) {
	dir := t.TempDir()
	mustKeygen(t, dir, "", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "-key")
	key, err := readPublic(read(t, filepath.Join(dir, "-key.pub")))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	s, err := Keygen{}.signer("-key", key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Change(s, idOf("a")); err != nil {
		t.Error(err)
	}
	other := newKey(t)
	if s, err = (Keygen{}).signer("-key", other.Key()); err != nil {
		t.Fatal(err)
	}
	if _, err := Change(s, idOf("a")); err == nil || !strings.Contains(err.Error(), "signed with the ED25519 key") {
		t.Errorf("another key's signature: %v", err)
	}
	if s, err = (Keygen{Program: "no-such-program"}).signer("-key", key); err != nil {
		t.Fatal(err)
	}
	if _, err := Change(s, idOf("a")); err == nil || !strings.Contains(err.Error(), "need the program ssh-keygen") {
		t.Errorf("no program: %v", err)
	}
	if s, err = (Keygen{}).signer("missing", key); err != nil {
		t.Fatal(err)
	}
	if _, err := Change(s, idOf("a")); err == nil {
		t.Error("signed with a missing file")
	}
}

func TestEncryptedKeys(t *testing.T) {
	dir := t.TempDir()
	for _, format := range []string{"", "PEM", "PKCS8"} {
		name := "key" + format
		args := []string{"-q", "-t", "ecdsa", "-N", "secret words", "-C", "", "-f", name}
		if format != "" {
			args = append(args, "-m", format)
		}
		mustKeygen(t, dir, "", args...)
		full := filepath.Join(dir, name)
		asked := 0
		s, err := ReadKey(osFS, full, func(name string) ([]byte, error) {
			if asked++; name != full {
				t.Errorf("asked for %s", name)
			}
			if asked == 1 {
				return []byte("wrong"), nil
			}
			return []byte("secret words"), nil
		})
		if format == "PKCS8" {
			// Go reads no encrypted PKCS 8; ssh-keygen writes it only when asked to.
			if err == nil {
				t.Error("encrypted PKCS 8 is read now: say so in the spec")
			}
			continue
		}
		if err != nil || asked != 2 {
			t.Fatalf("%q: asked %d times, %v", format, asked, err)
		}
		if _, err := Change(s, idOf("a")); err != nil {
			t.Error(err)
		}
		asked = 0
		if _, err := ReadKey(osFS, full, func(string) ([]byte, error) { asked++; return []byte("no"), nil }); err == nil || asked != 3 {
			t.Errorf("%q: wrong three times: asked %d times, %v", format, asked, err)
		}
		if _, err := ReadKey(osFS, full, nil); err == nil || !strings.Contains(err.Error(), "passphrase") {
			t.Errorf("%q: nobody to ask: %v", format, err)
		}
	}
}
