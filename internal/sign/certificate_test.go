package sign

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Certificates made by ssh-keygen, each with options of its own; who is allowed by it; and whether ssh-keygen too says so.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ca", "key", "otherca"} {
		mustKeygen(t, dir, "", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name)
	}
	mustKeygen(t, dir, "", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-C", "", "-f", "rsaca")
	rsaCA := strings.TrimSpace(string(read(t, filepath.Join(dir, "rsaca.pub"))))
	ca, otherCA := strings.TrimSpace(string(read(t, filepath.Join(dir, "ca.pub")))), strings.TrimSpace(string(read(t, filepath.Join(dir, "otherca.pub"))))
	key := strings.TrimSpace(string(read(t, filepath.Join(dir, "key.pub"))))
	at, err := time.Parse("20060102150405Z", stamp)
	if err != nil {
		t.Fatal(err)
	}
	message := ChangeMessage(idOf("a"))
	cases := []struct {
		name    string
		make    string // arguments to ssh-keygen -s
		allowed string
		want    bool
		lax     bool // ssh-keygen lets it pass, we do not
	}{
		{name: "plain", make: "-n a@x", allowed: "a@x cert-authority " + ca, want: true},
		{name: "one of many", make: "-n b@x,a@x", allowed: "*@x cert-authority " + ca, want: true},
		{name: "another's", make: "-n b@x", allowed: "*@x cert-authority " + ca},
		{name: "pattern in the certificate", make: "-n *@x", allowed: "*@x cert-authority " + ca},
		{name: "authority for others only", make: "-n a@x", allowed: "*@y cert-authority " + ca},
		{name: "for everybody", make: "", allowed: "a@x cert-authority " + ca},
		{name: "other authority", make: "-n a@x", allowed: "a@x cert-authority " + otherCA},
		{name: "authority without its option", make: "-n a@x", allowed: "a@x " + ca},
		{name: "the key is listed, not the certificate", make: "-n a@x", allowed: "a@x " + key},
		{name: "a host's", make: "-h -n a@x", allowed: "a@x cert-authority " + ca},
		{name: "not begun", make: "-n a@x -V 20260616Z:20300101Z", allowed: "a@x cert-authority " + ca},
		{name: "expired", make: "-n a@x -V 20200101Z:20260615Z", allowed: "a@x cert-authority " + ca},
		{name: "first second", make: "-n a@x -V 20260615120000Z:20300101Z", allowed: "a@x cert-authority " + ca, want: true},
		{name: "last second", make: "-n a@x -V 20200101Z:20260615120000Z", allowed: "a@x cert-authority " + ca},
		{name: "inside", make: "-n a@x -V 20200101Z:20260615120001Z", allowed: "a@x cert-authority " + ca, want: true},
		{name: "authority expired", make: "-n a@x", allowed: `a@x cert-authority,valid-before="20260101" ` + ca},
		{name: "authority for git", make: "-n a@x", allowed: `a@x cert-authority,namespaces="git" ` + ca},
		{name: "narrowed to an address", make: "-n a@x -O source-address=10.0.0.0/8", allowed: "a@x cert-authority " + ca, want: true},
		{name: "RSA authority", make: "-s rsaca -n a@x", allowed: "a@x cert-authority " + rsaCA, want: true},
		{name: "RSA authority that signs with SHA-1", make: "-s rsaca -t ssh-rsa -n a@x", allowed: "a@x cert-authority " + rsaCA, lax: true},
		{name: "unknown critical option", make: "-n a@x -O critical:x@y=z", allowed: "a@x cert-authority " + ca, lax: true},
	}
	for _, c := range cases {
		args := append([]string{"-q", "-s", "ca", "-I", "id"}, strings.Fields(c.make)...)
		authority := ca
		if strings.Contains(c.make, "rsaca") {
			authority = rsaCA
		}
		mustKeygen(t, dir, "", append(args, "key.pub")...)
		src := Source{FS: osFS}
		s, err := src.Open(filepath.Join(dir, "key-cert.pub"))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		e, err := Change(s, idOf("a"))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		sig := parseOK(t, e.Bytes)
		a, err := ParseAllowed([]byte(c.allowed), time.UTC)
		if err != nil || len(a.Problems) > 0 {
			t.Fatalf("%s: %v %v", c.name, err, a.Problems)
		}
		if _, no := a.allows(sig.Key, "a@x", Namespace, at); (no == nil) != c.want {
			t.Errorf("%s: %+v, want %v", c.name, no, c.want)
		}
		if out, err := realVerify(t, dir, sig.Armor(), message, c.allowed, "a@x", "-O", "verify-time="+stamp); (err == nil) != (c.want || c.lax) {
			t.Errorf("%s: ssh-keygen: %s", c.name, out)
		}
		if who, no := a.allows(sig.Key, anyPerson, Namespace, at); c.want && (no != nil || who != "a@x" && who != "b@x") {
			t.Errorf("%s: for anybody: %q %+v", c.name, who, no)
		}
		// Revoked: the key, or who certified it.
		for _, list := range []string{key, authority, "# c\n\n" + authority + " comment\n"} {
			r, err := ParseRevocations([]byte(list))
			if err != nil || !r.Has(sig.Key) {
				t.Errorf("%s: not revoked by %q: %v", c.name, list, err)
			}
		}
		if r, err := ParseRevocations([]byte(otherCA)); err != nil || r.Has(sig.Key) {
			t.Errorf("%s: revoked by another key, or %v", c.name, err)
		}
	}
}

// A certificate whose authority did not sign it.
func TestForgedCertificate(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ca", "key"} {
		mustKeygen(t, dir, "", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name)
	}
	mustKeygen(t, dir, "", "-q", "-s", "ca", "-I", "id", "-n", "b@x", "key.pub")
	src := Source{FS: osFS}
	s, err := src.Open(filepath.Join(dir, "key-cert.pub"))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := s.Sign(ChangeMessage(idOf("a")))
	if err != nil {
		t.Fatal(err)
	}
	// The principal is inside what the authority signed.
	blob := []byte(strings.Replace(string(sig.Marshal()), "b@x", "a@x", 1))
	forged := parseOK(t, blob)
	if err := forged.Verify(ChangeMessage(idOf("a")), Namespace); err != nil {
		t.Fatal(err)
	}
	a, err := ParseAllowed([]byte("*@x cert-authority "+string(read(t, filepath.Join(dir, "ca.pub")))), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	_, no := a.allows(forged.Key, "a@x", Namespace, time.Now())
	if no == nil || no.near != missCertificate || !strings.Contains(no.reason, "does not verify") {
		t.Errorf("forged certificate: %+v", no)
	}
}
