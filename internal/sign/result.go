package sign

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Verdict is what a policy says of a change.
type Verdict uint8

// The verdicts, from the worst to the best.
const (
	None       Verdict = iota // no signature
	Bad                       // forged, for another change, weak or broken: proves nothing about anybody
	Unknown                   // by a key that nobody has named
	Revoked                   // by a key that was taken back
	NotAllowed                // by a known key, but not for this person, time or use
	Good
	verdicts = int(iota)
)

// String is the word for it in machine-readable output.
func (v Verdict) String() string {
	return [verdicts]string{"none", "bad", "unknown-key", "revoked-key", "not-allowed", "good"}[v]
}

// Result is a verdict and what led to it.
type Result struct {
	Change      change.ID
	Verdict     Verdict
	Principal   string // Good: who signed
	KeyType     string // such as ED25519; "" if there is no signature that could be read
	Fingerprint string // such as SHA256:...; of a Bad signature it is only what it claims
	Reason      string // not Good: why, for a person
	Line        int    // NotAllowed: the line of the allowed signers that comes nearest
}

// String is the result as a person reads it, in one line.
func (r Result) String() string {
	key := r.KeyType + " key " + r.Fingerprint
	switch r.Verdict {
	case Good:
		return "good signature by " + show(r.Principal) + ", " + key
	case None:
		if r.Reason != "" {
			return "not signed in a way that can be checked: " + r.Reason
		}
		return "not signed"
	case Bad:
		if r.KeyType == "" {
			return "bad signature: " + r.Reason
		}
		return "bad signature that names " + key + ": " + r.Reason
	case Unknown:
		return "signed by an unknown key, " + key + ": " + r.Reason
	case Revoked:
		return "signed by a revoked key, " + key
	}
	words := "signed by a key that may not, " + key + ": " + r.Reason
	if r.Line > 0 {
		words += fmt.Sprintf(" (line %d of the allowed signers)", r.Line)
	}
	return words
}

// Summary counts the verdicts of a range.
type Summary [verdicts]int

// Summarize counts results.
func Summarize(results []Result) Summary {
	var s Summary
	for _, r := range results {
		s[r.Verdict]++
	}
	return s
}

// OK tells whether every change is Good. A range without changes is: it brings in nothing.
func (s Summary) OK() bool { return s.total() == s[Good] }

func (s Summary) total() int {
	n := 0
	for _, c := range s {
		n += c
	}
	return n
}

// String is the summary as a person reads it.
func (s Summary) String() string {
	if s.OK() {
		return fmt.Sprintf("all %d changes have a good signature", s.total())
	}
	var bad []string
	for v, words := range [...]string{"not signed", "with a bad signature", "signed by an unknown key", "signed by a revoked key", "signed by a key that may not"} {
		if s[v] > 0 {
			bad = append(bad, fmt.Sprintf("%d %s", s[v], words))
		}
	}
	return fmt.Sprintf("%d of %d changes have no good signature: %s", s.total()-s[Good], s.total(), strings.Join(bad, ", "))
}

// show gives a text from a file or a change as it is if nothing in it could mislead who reads it, else quoted.
func show(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == '"' || r == ' ' || r == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}
