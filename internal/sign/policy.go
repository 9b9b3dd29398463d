package sign

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
)

// Policy says which signatures count. The zero Policy trusts nobody. It may be used by several goroutines at once.
type Policy struct {
	Allowed *Allowed     // nil allows nobody
	Revoked *Revocations // nil revokes nothing
	// AnyPerson lets whoever is allowed sign the changes of others: a maintainer who signs what she takes in. Without it a
	// change is signed by its author, whose email is the principal.
	AnyPerson bool
	// At is the time at which keys must be good. Zero is each change's own, so that old changes stay good when a key
	// expires; but that time is what the signer wrote, see docs/threat-model.md.
	At time.Time
}

// Subject is what a policy looks at: a change, and its unhashed part. Author and Time must be those that the id covers.
type Subject struct {
	ID     change.ID
	Author change.Person
	Time   change.Time
	Part   []byte
}

// CheckEntry proves that an entry is a signature of this change by the key that it names, whoever that is. What fails is
// not worth keeping: check before storing what came from elsewhere. An entry of a kind not known here passes.
func CheckEntry(id change.ID, e Entry) error {
	if e.Kind != SSH {
		return nil
	}
	s, err := Parse(e.Bytes)
	if err != nil {
		return err
	}
	return s.Verify(ChangeMessage(id), Namespace)
}

// Check judges one change. Of several signatures the best counts: anybody can add one to a change, and that must not
// make a good one worthless.
func (p *Policy) Check(s *Subject) Result {
	return p.best(Result{Change: s.ID}, s.Part, func(blob []byte) Result { return p.checkOne(s, blob) })
}

// best is the best of the signatures in a part.
func (p *Policy) best(none Result, part []byte, check func(blob []byte) Result) Result {
	best := none
	best.Verdict = None
	entries, err := DecodePart(part)
	if err != nil {
		best.Verdict, best.Reason = Bad, "its signatures cannot be read: "+err.Error()
		return best
	}
	for _, e := range entries {
		if e.Kind != SSH {
			if best.Verdict == None {
				best.Reason = "its signatures are of a kind that this oxy does not know"
			}
			continue
		}
		if r := check(e.Bytes); r.Verdict > best.Verdict {
			best = r
		}
		if best.Verdict == Good {
			break
		}
	}
	return best
}

func (p *Policy) checkOne(s *Subject, blob []byte) Result {
	at := p.At
	if at.IsZero() {
		at = time.Unix(s.Time.Sec, 0)
	}
	return p.judge(Result{Change: s.ID}, blob, ChangeMessage(s.ID), s.Author.Email, p.AnyPerson, at)
}

// judge judges one signature of a message, by the person with an email or by any who is allowed.
func (p *Policy) judge(r Result, blob, message []byte, principal string, any bool, at time.Time) Result {
	r.Verdict = Bad
	sig, err := Parse(blob)
	if err != nil {
		r.Reason = err.Error()
		return r
	}
	r.KeyType, r.Fingerprint = keyWords[plain(sig.Key).Type()], Fingerprint(sig.Key)
	if err := sig.Verify(message, Namespace); err != nil {
		r.Reason = err.Error()
		return r
	}
	if p.Revoked.Has(sig.Key) {
		r.Verdict, r.Reason = Revoked, "the key is on the list of revoked keys"
		return r
	}
	if any {
		principal = anyPerson
	} else if principal == "" {
		r.Verdict, r.Reason = NotAllowed, "the change's author has no email, so no key can be his or hers"
		return r
	}
	who, no := p.Allowed.allows(sig.Key, principal, Namespace, at)
	switch {
	case no == nil:
		r.Verdict, r.Principal = Good, who
	case no.near == missKey:
		r.Verdict, r.Reason = Unknown, no.reason
	default:
		r.Verdict, r.Reason, r.Line = NotAllowed, no.reason, no.line
	}
	return r
}

// CheckAll judges the changes of a range, on all cores, and gives a result for each at its place.
func (p *Policy) CheckAll(subjects []Subject) []Result {
	results := make([]Result, len(subjects))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(subjects)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(subjects) {
					return
				}
				results[i] = p.Check(&subjects[i])
			}
		})
	}
	workers.Wait()
	return results
}
