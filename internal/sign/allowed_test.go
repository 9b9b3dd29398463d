package sign

import (
	"fmt"
	"math/rand"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// realAllows asks ssh-keygen the question that Allowed.allows answers: may the key of this signature sign for principal?
func realAllows(t *testing.T, dir string, armored []byte, file, principal, at string) bool {
	t.Helper()
	out, err := realVerify(t, dir, armored, ChangeMessage(idOf("a")), file, principal, "-O", "verify-time="+at)
	if err != nil && (strings.Contains(out, "usage") || strings.Contains(out, "unknown option")) {
		t.Fatalf("ssh-keygen: %s", out)
	}
	return err == nil
}

const (
	stamp   = "20260615120000Z"
	mailKey = "KEY" // stands for the signer's public key in the cases
)

// The lines of an allowed_signers file with KEY and OTHER for public keys, whether alice@example.com may sign with KEY,
// by the real program's judgement, which the test asks again where there is one.
var allowedCases = []struct {
	file string
	want bool
}{
	{"alice@example.com KEY", true},
	{"alice@example.com KEY a comment # with anything", true},
	{"  \t alice@example.com   KEY", true},
	{"alice@example.com\tKEY", true},
	{"# alice@example.com KEY", false},
	{"#alice@example.com KEY\n\nalice@example.com KEY", true},
	{"bob@example.com KEY", false},
	{"alice@example.com OTHER", false},
	{"alice@example.com OTHER\nalice@example.com KEY", true},
	{"bob@example.com,alice@example.com KEY", true},
	{"bob@example.com, alice@example.com KEY", false},
	{"*@example.com KEY", true},
	{"*@example.??m KEY", true},
	{"*@example.org KEY", false},
	{"ALICE@example.com KEY", false},
	{"*@example.com,!alice@example.com KEY", false},
	{"!alice@example.com,*@example.com KEY", false},
	{"!bob@example.com,*@example.com KEY", true},
	{"!bob@example.com KEY", false},
	{"* KEY", true},
	{`"alice@example.com" KEY`, true},
	{`"bob b,alice@example.com" KEY`, true},
	{`al"ice@example".com KEY`, false},
	{`al"ice@example.com" KEY`, true},
	{`"alice@example.com"KEY`, true},
	{`"alice@example.com KEY`, false},
	{"alice@example.com", false},
	{"alice@example.com ", false},
	{"KEY", false},
	{"alice@example.com\r\nalice@example.com KEY\r", true},
	{"alice@example.com KEY\r\n", true},
	{`alice@example.com namespaces="oxy" KEY`, true},
	{`alice@example.com namespaces="git,oxy" KEY`, true},
	{`alice@example.com namespaces="ox*" KEY`, true},
	{`alice@example.com namespaces="!oxy,*" KEY`, false},
	{`alice@example.com namespaces="git" KEY`, false},
	{`alice@example.com namespaces="" KEY`, false},
	{`alice@example.com namespaces="git, oxy" KEY`, false},
	{`alice@example.com NameSpaces="oxy" KEY`, true},
	{`alice@example.com namespaces=oxy KEY`, false},
	{`alice@example.com namespaces="oxy KEY`, false},
	{`alice@example.com namespaces="oxy"KEY`, false},
	{`alice@example.com namespaces="oxy",namespaces="oxy" KEY`, false},
	{`alice@example.com namespaces="o\"xy" KEY`, false},
	{`alice@example.com namespaces="git" KEY` + "\nalice@example.com KEY", true},
	{`alice@example.com cert-authority KEY`, false},
	{`alice@example.com cert-authority KEY` + "\nalice@example.com KEY", true},
	{`alice@example.com no-touch-required KEY`, false},
	{`alice@example.com namespaces="oxy",restrict KEY`, false},
	{`alice@example.com namespaces="oxy", KEY`, false},
	{`alice@example.com ,namespaces="oxy" KEY`, true},
	{`alice@example.com ,,namespaces="oxy",,,valid-after="2020" KEY`, false},
	{`alice@example.com ,,namespaces="oxy",,,valid-after="20200101" KEY`, true},
	{`alice@example.com valid-after="20260615Z" KEY`, true},
	{`alice@example.com valid-after="20260616Z" KEY`, false},
	{`alice@example.com valid-before="20260615Z" KEY`, false},
	{`alice@example.com valid-before="20260616Z" KEY`, true},
	{`alice@example.com valid-after="20260615120000Z" KEY`, true},
	{`alice@example.com valid-after="20260615120001Z" KEY`, false},
	{`alice@example.com valid-before="20260615120000Z" KEY`, true},
	{`alice@example.com valid-before="20260615115959Z" KEY`, false},
	{`alice@example.com valid-after="202606151200" KEY`, true},
	{`alice@example.com valid-after="202606151200z" KEY`, true},
	{`alice@example.com valid-after="202606151200UTC" KEY`, true},
	{`alice@example.com valid-after="20260101",valid-before="20270101" KEY`, true},
	{`alice@example.com valid-after="20270101",valid-before="20260101" KEY`, false},
	{`alice@example.com valid-after="20250101",valid-before="20250101" KEY`, false},
	{`alice@example.com valid-after="20250101",valid-after="20250101" KEY`, false},
	{`alice@example.com valid-before="20260231" KEY`, false},
	{`alice@example.com valid-before="20270231" KEY`, true},
	{`alice@example.com valid-before="20270232" KEY`, false},
	{`alice@example.com valid-before="20271301" KEY`, false},
	{`alice@example.com valid-before="20270001" KEY`, false},
	{`alice@example.com valid-before="202701012400" KEY`, false},
	{`alice@example.com valid-before="202701012360" KEY`, false},
	{`alice@example.com valid-before="20270101235960" KEY`, true},
	{`alice@example.com valid-before="20270101235962" KEY`, false},
	{`alice@example.com valid-before="2027" KEY`, false},
	{`alice@example.com valid-before="" KEY`, false},
	{`alice@example.com valid-before="Z" KEY`, false},
	{`alice@example.com valid-before="tomorrow" KEY`, false},
	{`alice@example.com valid-after="19700101Z" KEY`, false},
	{`alice@example.com valid-after="19690101Z" KEY`, false},
	{`alice@example.com valid-after="99991231235959Z" KEY`, false},
	{`alice@example.com valid-before="99991231235959Z" KEY`, true},
	{"alice@example.com ssh-ed25519", false},
	{"alice@example.com ssh-ed25519 AAAA", false},
	{"alice@example.com ssh-rsa BLOB", false},
	{"alice@example.com ssh-ed25519 BLOB", true},
	{"alice@example.com ssh-ed25519   BLOB", true},
	{"alice@example.com ssh-ed25519 BLOB=", false},
	{"alice@example.com SSH-ED25519 BLOB", false},
	{"alice@example.com x ssh-ed25519 BLOB", false},
	{strings.Repeat("x", 1022) + ",alice@example.com KEY", true},
	{strings.Repeat("x", 1023) + ",alice@example.com KEY", false},
	{"alice@example.com," + strings.Repeat("x", 1023) + " KEY", false},
	{strings.Repeat("*?", 10) + " KEY", true},
	{"alice@example.com KEY", true},
}

func TestAllowedSigners(t *testing.T) {
	s, other := newKey(t), newKey(t)
	sig, err := s.Sign(ChangeMessage(idOf("a")))
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse("20060102150405Z", stamp)
	if err != nil {
		t.Fatal(err)
	}
	_, hasKeygen := exec.LookPath("ssh-keygen")
	dir := t.TempDir()
	key := pub(s.Key())
	_, blob, _ := strings.Cut(key, " ")
	fill := strings.NewReplacer(mailKey, key, "OTHER", pub(other.Key()), "BLOB", blob)
	for _, c := range allowedCases {
		file := fill.Replace(c.file)
		a, err := ParseAllowed([]byte(file), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		who, no := a.allows(s.Key(), "alice@example.com", Namespace, at)
		if (no == nil) != c.want {
			t.Errorf("%q: allowed %v, want %v (%+v, %v)", c.file, no == nil, c.want, no, a.Problems)
		}
		if no == nil && who != "alice@example.com" {
			t.Errorf("%q: for %q", c.file, who)
		}
		if hasKeygen == nil {
			if real := realAllows(t, dir, sig.Armor(), file, "alice@example.com", stamp); real != c.want {
				t.Errorf("%q: ssh-keygen says %v, the case %v", c.file, real, c.want)
			}
		}
	}
}

// Files of random lines, from what may stand in one, mean the same to ssh-keygen.
func TestRandomAllowedSigners(t *testing.T) {
	s, other := newKey(t), newKey(t)
	sig, err := s.Sign(ChangeMessage(idOf("a")))
	if err != nil {
		t.Fatal(err)
	}
	at, _ := time.Parse("20060102150405Z", stamp)
	dir := t.TempDir()
	r := rand.New(rand.NewSource(1))
	pick := func(from ...string) string { return from[r.Intn(len(from))] }
	allowed, refused := 0, 0
	for range 250 {
		var file strings.Builder
		for range 1 + r.Intn(3) {
			file.WriteString(pick("", "", "", " ", "\t", "#"))
			for i := range 1 + r.Intn(3) {
				if i > 0 {
					file.WriteString(pick(",", ",", ",", ",", ", ", `"`))
				}
				file.WriteString(pick("a@x", "b@x", "*", "*@x", "!a@x", "!b@x", "?@x", `"a@x"`, `"b c`, "", "a@*,!*@y"))
			}
			file.WriteString(pick(" ", " ", " ", "\t", "", "  "))
			for i := range r.Intn(3) {
				if i > 0 {
					file.WriteString(pick(",", ",", ",", ",,", " ", `"`))
				}
				file.WriteString(pick(`namespaces="oxy"`, `namespaces="*"`, `namespaces="git"`, `NAMESPACES="a,oxy"`, `namespaces="!git,ox?"`, "cert-authority",
					`valid-after="20260101"`, `valid-before="20260101Z"`, `valid-before="20270101"`, `valid-after="20260615130000"`, `valid-after="2026061512z"`, `restrict`, `namespaces="`))
			}
			file.WriteString(pick(" ", " ", " ", " ", "\t", ""))
			file.WriteString(pick(pub(s.Key()), pub(s.Key()), pub(s.Key()), pub(other.Key()), strings.Replace(pub(s.Key()), " ", "\t ", 1), strings.Replace(pub(s.Key()), "AAAA", "AAAB", 1)))
			file.WriteString(pick("", "", " comment", "\r", "#", " \x01"))
			file.WriteString(pick("\n", "\n", "\n", "\n\n", "\r\n"))
		}
		a, err := ParseAllowed([]byte(file.String()), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		_, no := a.allows(s.Key(), "a@x", Namespace, at)
		if real := realAllows(t, dir, sig.Armor(), file.String(), "a@x", stamp); real != (no == nil) {
			t.Errorf("%q: ssh-keygen says %v, we %+v, problems %v", file.String(), real, no, a.Problems)
		}
		if no == nil {
			allowed++
		} else {
			refused++
		}
	}
	if allowed < 30 || refused < 30 {
		t.Errorf("%d allowed, %d refused: the lines are too much of a kind", allowed, refused)
	}
}

// A time without a zone is the local clock's, by standard time in summer too.
func TestLocalTimes(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	signer := newKey(t)
	sig, err := signer.Sign(ChangeMessage(idOf("a")))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "sig", sig.Armor())
	for local, utc := range map[string]string{
		"20260115":       "20260114230000",
		"20260701":       "20260630230000",
		"20260701Z":      "20260701000000",
		"20260329023000": "20260329013000", // is skipped by clocks
		"20260329033000": "20260329023000",
		"20261025023000": "20261025013000", // comes twice
		"20261025013000": "20261025003000",
	} {
		want, err := time.Parse("20060102150405", utc)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := parseTime(local, zone); !ok || got != want.Unix() {
			t.Errorf("%s is %s, want %s", local, time.Unix(got, 0).UTC(), want)
		}
		write(t, dir, "allowed", []byte(`a@x valid-after="`+local+`" `+pub(signer.Key())))
		for _, at := range []time.Time{want, want.Add(-time.Second)} {
			out, err := sshKeygenAt(t, "Europe/Berlin", dir, string(ChangeMessage(idOf("a"))), "-Y", "verify", "-n", Namespace, "-f", "allowed", "-I", "a@x", "-s", "sig",
				"-O", "verify-time="+at.Format("20060102150405Z"))
			if (err == nil) != at.Equal(want) {
				t.Errorf("%s is not %s for ssh-keygen: %s", local, want, out)
			}
		}
	}
}

// match against a regular expression.
func TestMatchAgainstRegexp(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	word := func(letters string, n int) string {
		b := make([]byte, r.Intn(n))
		for i := range b {
			b[i] = letters[r.Intn(len(letters))]
		}
		return string(b)
	}
	hits := 0
	for range 20000 {
		s, pattern := word("ab", 8), word("ab*?", 7)
		re := regexp.MustCompile("^" + strings.NewReplacer("*", ".*", "?", ".").Replace(pattern) + "$")
		got := match(s, pattern)
		if got != re.MatchString(s) {
			t.Fatalf("match(%q, %q) = %v", s, pattern, got)
		}
		if got {
			hits++
		}
	}
	if hits < 500 {
		t.Errorf("only %d matched", hits)
	}
	// What costs OpenSSH's matcher an hour.
	if match(strings.Repeat("a", 5000), strings.Repeat("*a", 500)+"b") {
		t.Error("matched")
	}
}

func TestProblemsNameTheirLine(t *testing.T) {
	key := pub(newKey(t).Key())
	file := "# fine\na@x " + key + "\na@x nonsense " + key + "\n\na@x ssh-dss AAAAB3NzaC1kc3M=\nb\x00@x " + key
	a, err := ParseAllowed([]byte(file), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(a.Problems); !regexp.MustCompile(`^\[line 3: unknown option "nonsense" line 5: .*DSA.* line 6: a zero byte\]$`).MatchString(got) {
		t.Errorf("problems %s", got)
	}
	if _, err := ParseAllowed(make([]byte, MaxSigners+1), time.UTC); err == nil {
		t.Error("a file without bound is read")
	}
}

func FuzzParseAllowed(f *testing.F) {
	key := pub(newKey(f).Key())
	for _, c := range allowedCases {
		f.Add([]byte(strings.ReplaceAll(c.file, mailKey, key)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := ParseAllowed(data, time.UTC); err == nil {
			for _, lines := range a.byKey {
				for _, l := range lines {
					a.allows(l.key, "a@x", Namespace, time.Unix(0, 0))
				}
			}
		}
		ParseRevocations(data)
	})
}
