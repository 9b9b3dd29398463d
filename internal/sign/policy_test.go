package sign

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
)

func allowing(t testing.TB, lines ...string) *Allowed {
	t.Helper()
	a, err := ParseAllowed([]byte(strings.Join(lines, "\n")), time.UTC)
	if err != nil || len(a.Problems) > 0 {
		t.Fatal(err, a.Problems)
	}
	return a
}

func revoking(t testing.TB, s Signer) *Revocations {
	t.Helper()
	r, err := ParseRevocations([]byte(pub(s.Key())))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPolicy(t *testing.T) {
	alice, bob, eve := newKey(t), newKey(t), newKey(t)
	id := idOf("change")
	june := change.Time{Sec: time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC).Unix()}
	a, b := "alice@x "+pub(alice.Key()), "bob@x "+pub(bob.Key())
	until := func(date string) string { return `alice@x valid-before="` + date + `Z" ` + pub(alice.Key()) }
	foreign := signed(t, idOf("another"), alice)
	forged := bytes.Clone(signed(t, id, alice))
	forged[len(forged)-1] ^= 1
	odd, err := EncodePart([]Entry{{Kind: 9, Bytes: []byte("new")}})
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		policy Policy
		author string
		part   []byte
		want   Verdict
		words  string // in what a person reads
	}{
		{name: "good", policy: Policy{Allowed: allowing(t, a, b)}, part: signed(t, id, alice), want: Good, words: "good signature by alice@x, ED25519 key " + Fingerprint(alice.Key())},
		{name: "not signed", policy: Policy{Allowed: allowing(t, a)}, want: None, words: "not signed"},
		{name: "another's key", policy: Policy{Allowed: allowing(t, a, b)}, part: signed(t, id, bob), want: NotAllowed, words: "the key is bob@x's, not alice@x's (line 2"},
		{name: "another's key, any person", policy: Policy{Allowed: allowing(t, a, b), AnyPerson: true}, part: signed(t, id, bob), want: Good, words: "by bob@x"},
		{name: "unknown key", policy: Policy{Allowed: allowing(t, a, b)}, part: signed(t, id, eve), want: Unknown, words: Fingerprint(eve.Key())},
		{name: "unknown key, any person", policy: Policy{Allowed: allowing(t, a, b), AnyPerson: true}, part: signed(t, id, eve), want: Unknown},
		{name: "nobody allowed", policy: Policy{}, part: signed(t, id, alice), want: Unknown},
		{name: "of another change", policy: Policy{Allowed: allowing(t, a)}, part: foreign, want: Bad, words: "signed something else"},
		{name: "forged", policy: Policy{Allowed: allowing(t, a)}, part: forged, want: Bad, words: "did not sign"},
		{name: "good beside an unknown one", policy: Policy{Allowed: allowing(t, a)}, part: signed(t, id, alice, eve), want: Good},
		{name: "unknown beside another's", policy: Policy{Allowed: allowing(t, a, b)}, part: signed(t, id, bob, eve), want: NotAllowed},
		{name: "revoked", policy: Policy{Allowed: allowing(t, a), Revoked: revoking(t, alice)}, part: signed(t, id, alice), want: Revoked, words: "revoked key"},
		{name: "revoked, another still good", policy: Policy{Allowed: allowing(t, a, b), AnyPerson: true, Revoked: revoking(t, alice)}, part: signed(t, id, alice, bob), want: Good, words: "bob@x"},
		{name: "expired since", policy: Policy{Allowed: allowing(t, until("20260701"))}, part: signed(t, id, alice), want: Good},
		{name: "expired before", policy: Policy{Allowed: allowing(t, until("20260601"))}, part: signed(t, id, alice), want: NotAllowed, words: "was good until 2026-06-01 00:00:00 UTC, the time is 2026-06-15"},
		{name: "asked for today", policy: Policy{Allowed: allowing(t, until("20260701")), At: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)}, part: signed(t, id, alice), want: NotAllowed},
		{name: "key for git only", policy: Policy{Allowed: allowing(t, `alice@x namespaces="git" `+pub(alice.Key()))}, part: signed(t, id, alice), want: NotAllowed, words: "git only, not for oxy"},
		{name: "no email", policy: Policy{Allowed: allowing(t, "* "+pub(alice.Key()))}, author: "-", part: signed(t, id, alice), want: NotAllowed, words: "no email"},
		{name: "unknown kind", policy: Policy{Allowed: allowing(t, a)}, part: odd, want: None, words: "does not know"},
		{name: "not a list", policy: Policy{Allowed: allowing(t, a)}, part: []byte("\x00"), want: Bad, words: "cannot be read"},
		{name: "not a signature", policy: Policy{Allowed: allowing(t, a)}, part: []byte("\x01\x01\x01a"), want: Bad, words: "SSHSIG"},
		{name: "an author who would command the terminal", policy: Policy{Allowed: allowing(t, b)}, author: "\x1b[2Jalice@x", part: signed(t, id, bob), want: NotAllowed, words: `"\x1b[2Jalice@x"`},
	}
	for _, c := range cases {
		s := Subject{ID: id, Author: change.Person{Name: "Alice", Email: "alice@x"}, Time: june, Part: c.part}
		if c.author != "" {
			s.Author.Email = strings.TrimPrefix(c.author, "-")
		}
		r := c.policy.Check(&s)
		if r.Verdict != c.want || !strings.Contains(r.String(), c.words) || r.Change != id {
			t.Errorf("%s: %s (%s), want %s and %q", c.name, r, r.Verdict, c.want, c.words)
		}
		if strings.Contains(r.String(), "line 0") {
			t.Errorf("%s: %s", c.name, r)
		}
		if strings.ContainsFunc(r.String(), func(r rune) bool { return r < ' ' }) {
			t.Errorf("%s: %q commands the terminal", c.name, r)
		}
	}
}

func TestRangeOfChanges(t *testing.T) {
	alice, eve := newKey(t), newKey(t)
	p := Policy{Allowed: allowing(t, "alice@x "+pub(alice.Key()))}
	var subjects []Subject
	for i := range 60 {
		s := Subject{ID: idOf(fmt.Sprint(i)), Author: change.Person{Email: "alice@x"}}
		switch i % 3 {
		case 0:
			s.Part = signed(t, s.ID, alice)
		case 1:
			s.Part = signed(t, s.ID, eve)
		}
		subjects = append(subjects, s)
	}
	results := p.CheckAll(subjects)
	for i, r := range results {
		if want := [...]Verdict{Good, Unknown, None}[i%3]; r.Verdict != want || r.Change != subjects[i].ID {
			t.Errorf("%d: %s, want %s", i, r, want)
		}
	}
	sum := Summarize(results)
	if sum.OK() || sum.String() != "40 of 60 changes have no good signature: 20 not signed, 20 signed by an unknown key" {
		t.Errorf("summary %q, %v", sum, sum.OK())
	}
	if sum = Summarize(p.CheckAll(subjects[:1])); !sum.OK() || sum.String() != "all 1 changes have a good signature" {
		t.Errorf("summary %q", sum)
	}
	if sum = Summarize(p.CheckAll(nil)); !sum.OK() {
		t.Errorf("summary of none %q", sum)
	}
}

// Signatures that ssh-keygen of OpenSSH 9.2 made and called good, othernamespace apart. Three are too weak for us.
func TestSignaturesOfKeygen(t *testing.T) {
	dir := filepath.Join("testdata", "keygen")
	a, err := ParseAllowed(read(t, filepath.Join(dir, "allowed_signers")), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Problems) != 2 {
		t.Errorf("problems %v", a.Problems)
	}
	var id change.ID
	for i := range id {
		id[i] = byte(i)
	}
	for name, want := range map[string]string{
		"ed25519": "", "rsa": "", "ecdsa256": "", "ecdsa384": "", "ecdsa521": "", "sha256": "", "certificate": "",
		"othernamespace": `it was given for "git", not for "oxy"`,
		"dsa":            "DSA keys are no longer safe",
		"rsa1024":        "RSA key of 1024 bits",
	} {
		blob, err := dearmor(read(t, filepath.Join(dir, name+".sig")))
		if err != nil {
			t.Fatal(err)
		}
		part, err := EncodePart([]Entry{{SSH, blob}})
		if err != nil {
			t.Fatal(err)
		}
		p := Policy{Allowed: a}
		r := p.Check(&Subject{ID: id, Author: change.Person{Email: name + "@example.com"}, Time: change.Time{Sec: 1e9}, Part: part})
		if want == "" && (r.Verdict != Good || r.Principal != name+"@example.com") || want != "" && (r.Verdict != Bad || !strings.Contains(r.Reason, want)) {
			t.Errorf("%s: %s", name, r)
		}
		id[0] ^= 1
		if r := p.Check(&Subject{ID: id, Author: change.Person{Email: name + "@example.com"}, Part: part}); r.Verdict != Bad {
			t.Errorf("%s, of another change: %s", name, r)
		}
		id[0] ^= 1
	}
}

func TestRevocations(t *testing.T) {
	alice, bob := newKey(t), newKey(t)
	list := "# stolen\n\n  " + pub(alice.Key()) + " laptop\r\nssh-dss AAAAB3NzaC1kc3M=\n"
	r, err := ParseRevocations([]byte(list))
	if err != nil || !r.Has(alice.Key()) || r.Has(bob.Key()) {
		t.Errorf("%v", err)
	}
	var none *Revocations
	if none.Has(alice.Key()) {
		t.Error("no list revokes")
	}
	for list, want := range map[string]string{
		"SSHKRL\n\x00\x00\x00\x00\x01":         "binary KRL",
		pub(alice.Key()) + "\nssh-ed25519 AAA": "line 2",
		"alice@x " + pub(alice.Key()):          "line 1",
		"SHA256:abc":                           "line 1",
	} {
		if _, err := ParseRevocations([]byte(list)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", list, err)
		}
	}
	if _, err := ParseRevocations(make([]byte, MaxSigners+1)); err == nil {
		t.Error("a list without bound is read")
	}
}

func BenchmarkCheck(b *testing.B) {
	alice := newKey(b)
	p := Policy{Allowed: allowing(b, "alice@x "+pub(alice.Key()))}
	s := Subject{ID: idOf("a"), Author: change.Person{Email: "alice@x"}, Part: signed(b, idOf("a"), alice)}
	b.ReportAllocs()
	for b.Loop() {
		if r := p.Check(&s); r.Verdict != Good {
			b.Fatal(r)
		}
	}
}
