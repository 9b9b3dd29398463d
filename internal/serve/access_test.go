package serve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAccessFile(t *testing.T) {
	token, kept := NewToken()
	password, err := KeptPassword("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	a, err := ParseAccess(fmt.Appendf(nil, `
[people.ada]
tokens = [%q]
read = ["*"]
write = ["team/*"]
[people.bob]
password = %q
read = ["team/project"]
write = ["bob/*"]
move = ["bob/*", "main"]
[anyone]
read = ["public/*"]
`, kept, password))
	if err != nil {
		t.Fatal(err)
	}
	ada, bob := a.Token(token), a.Password("bob", "correct horse")
	if ada == nil || ada.Name != "ada" || bob == nil || bob.Name != "bob" {
		t.Fatalf("%v %v", ada, bob)
	}
	for range 2 { // the second time from what is remembered
		if a.Password("bob", "correct horse") != bob {
			t.Error("bob is not known again")
		}
	}
	for _, p := range []*Person{a.Token(token + "x"), a.Token(""), a.Token(kept), a.Token(strings.Repeat("x", 1<<20)), a.Password("ada", ""), a.Password("bob", "correct"),
		a.Password("nobody", "correct horse"), a.Password("bobcorrect", " horse"), a.Password("bob", password), a.Password("bob", strings.Repeat("x", 100))} {
		if p != nil {
			t.Errorf("%s was let in", p.Name)
		}
	}
	for _, c := range []struct {
		p          *Person
		repository string
		read, push bool
	}{{ada, "x", true, false}, {ada, "team/project", true, true}, {bob, "team/project", true, false}, {bob, "team/other", false, false},
		{bob, "bob/x", true, true}, {nil, "public/x", true, false}, {nil, "team/project", false, false}, {bob, "public/x", true, false}} {
		if got := a.MayRead(c.p, c.repository); got != c.read {
			t.Errorf("%v read %s: %v", c.p, c.repository, got)
		}
		if got := a.Caller(c.p, c.repository, "").Push; got != c.push {
			t.Errorf("%v push %s: %v", c.p, c.repository, got)
		}
	}
	if c := a.Caller(bob, "bob/x", ""); c.Move("other") || !c.Move("bob/y") || !c.Move("main") {
		t.Error("what bob may move")
	}
	if a.Caller(ada, "team/x", "").Move != nil {
		t.Error("ada may move all")
	}
}

// TestAccessFileRefuses: a slip in the file is told with its place, and gives nobody a right.
func TestAccessFileRefuses(t *testing.T) {
	for text, why := range map[string]string{
		"[people.ada]\nread=[\"*\"]":                                "neither a token nor a password",
		"[people.ada]\ntokens=[\"secret\"]":                         "sha256:",
		"[people.ada]\ntokens=[\"sha256:" + strings.Repeat("g", 64): "",
		"[people.ada]\npassword=\"secret\"":                         "bcrypt",
		"[people.ada]\ntoken=\"x\"":                                 "line 2: there is no people.ada.token",
		"[poeple.ada]\nread=[\"*\"]":                                "there is no poeple",
		"[people.\"a b\"]\npassword=\"x\"":                          "a space",
		"[anyone]\npassword=\"x\"":                                  "no password",
		"[people.ada\n":                                             "line 1",
	} {
		if _, err := ParseAccess([]byte(text)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, not that %q", text, err, why)
		}
	}
	if _, err := ParseAccess(make([]byte, MaxAccess+1)); err == nil {
		t.Error("a file without an end")
	}
}

func FuzzAccess(f *testing.F) {
	_, kept := NewToken()
	f.Add([]byte("[people.ada]\ntokens=[\"" + kept + "\"]\n[anyone]\nread=[\"*\"]"))
	f.Add([]byte("people=3"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := ParseAccess(b)
		if err == nil && (a.Token("") != nil || a.MayRead(nil, "x") && a.anyone == nil) {
			t.Error("somebody was let in without a secret")
		}
	})
}

// TestRate holds the buckets to a count of their own.
func TestRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		each, burst := float64(rapid.IntRange(1, 5).Draw(t, "each")), float64(rapid.IntRange(1, 5).Draw(t, "burst"))
		now := time.Unix(0, 0)
		r := newRate(each, burst, func() time.Time { return now })
		left := burst
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			passed := time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms")) * time.Millisecond
			now = now.Add(passed)
			left = min(burst, left+passed.Seconds()*each)
			wait, ok := r.take("x")
			if diff := left - 1; diff > 1e-6 && !ok || diff < -1e-6 && ok {
				t.Fatalf("%v with %g left", ok, left)
			}
			if ok {
				left--
			} else if got := left + wait.Seconds()*each; got < 1-1e-6 {
				t.Fatalf("after the wait only %g are left", got)
			}
			if _, ok := r.take(fmt.Sprint(now.UnixNano(), left)); !ok && burst >= 1 && len(r.buckets) < 2 {
				t.Fatal("another caller is counted along")
			}
		}
	})
	r := newRate(1, 1, func() time.Time { return time.Unix(0, 0) })
	for i := range 3 * maxBuckets {
		r.take(fmt.Sprint(i))
	}
	if len(r.buckets) > maxBuckets {
		t.Errorf("%d callers are remembered", len(r.buckets))
	}
}

// FuzzToken: what is kept of a token is 64 digits or refused.
func FuzzToken(f *testing.F) {
	f.Add("sha256:" + strings.Repeat("ab", 32))
	f.Add("sha256:")
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := parseToken(s); err == nil && len(s) != len(hashPrefix)+64 {
			t.Errorf("%q is taken", s)
		}
		_ = checkKept(s)
	})
}
