package sign

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Allowed is an allowed_signers file: which keys speak for whom. Its meaning is that of ssh-keygen, whose manual describes
// it under ALLOWED SIGNERS. It may be used by several goroutines at once.
type Allowed struct {
	// Problems are the lines that say nothing because they cannot be read, as ssh-keygen skips them: for the person who
	// wrote them.
	Problems []Problem

	byKey map[string][]line // by the key's bytes; in the order of the file
}

// Problem is a line that is not understood.
type Problem struct {
	Line int // from 1
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// ParseAllowed reads an allowed_signers file of at most MaxSigners bytes. Times in it without a zone are in zone, which
// for ssh-keygen is time.Local. A line that cannot be read trusts nobody, and is no error.
func ParseAllowed(data []byte, zone *time.Location) (*Allowed, error) {
	if len(data) > MaxSigners {
		return nil, fmt.Errorf("allowed signers: %d bytes, at most %d are allowed", len(data), MaxSigners)
	}
	a := &Allowed{byKey: map[string][]line{}}
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		s := strings.TrimLeft(strings.TrimSuffix(string(raw), "\n"), " \t\r")
		if s == "" || s[0] == '#' {
			continue
		}
		if strings.IndexByte(s, 0) >= 0 {
			a.Problems = append(a.Problems, Problem{number, "a zero byte"})
			continue
		}
		l, err := parseLine(s, zone)
		if err != nil {
			a.Problems = append(a.Problems, Problem{number, err.Error()})
			continue
		}
		l.number = number
		k := string(l.key.Marshal())
		a.byKey[k] = append(a.byKey[k], l)
	}
	return a, nil
}

// refusal is why no line allows a key, the nearest miss of all lines that name it.
type refusal struct {
	near   int // how far a line got: the higher, the nearer to being allowed
	line   int // from 1, 0 for none
	reason string
}

// anyPerson, as a principal, stands for whoever the line names.
const anyPerson = ""

// How far a line got.
const (
	missKey = iota
	missPrincipal
	missCertificate
	missNamespace
	missTime
)

// allows finds the first line that lets key sign for principal (perhaps anyPerson), and gives for whom: the principal,
// or what the line has in its place. at is the time of signing.
func (a *Allowed) allows(key ssh.PublicKey, principal, namespace string, at time.Time) (who string, no *refusal) {
	no = &refusal{near: missKey, reason: "no line of the allowed signers has this key"}
	if a == nil {
		return "", no
	}
	for _, l := range a.byKey[string(key.Marshal())] {
		if l.authority {
			continue
		}
		who, err := l.allows(principal, namespace, at)
		if err == nil {
			return who, nil
		}
		no = nearer(no, err)
	}
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return "", no
	}
	for _, l := range a.byKey[string(cert.SignatureKey.Marshal())] {
		if !l.authority {
			continue
		}
		who, err := l.certifies(cert, principal, namespace, at)
		if err == nil {
			return who, nil
		}
		no = nearer(no, err)
	}
	return "", no
}

func nearer(a, b *refusal) *refusal {
	if b.near > a.near {
		return b
	}
	return a
}

// allows tells whether the line lets its own key sign.
func (l *line) allows(principal, namespace string, at time.Time) (string, *refusal) {
	if principal == anyPerson {
		principal = l.principals
	} else if !matchList(principal, l.principals) {
		return "", l.refuse(missPrincipal, "the key is %s's, not %s's", show(l.principals), show(principal))
	}
	return principal, l.open(namespace, at)
}

// certifies tells whether the line lets the owner of a certificate of its key sign.
func (l *line) certifies(cert *ssh.Certificate, principal, namespace string, at time.Time) (string, *refusal) {
	// A certificate without principals is good for every one in SSH's protocol. Not to prove who somebody is.
	if len(cert.ValidPrincipals) == 0 {
		return "", l.refuse(missCertificate, "the certificate names nobody")
	}
	if principal == anyPerson {
		i := slices.IndexFunc(cert.ValidPrincipals, func(p string) bool { return matchList(p, l.principals) })
		if i < 0 {
			return "", l.refuse(missPrincipal, "the authority may not certify %s", show(strings.Join(cert.ValidPrincipals, ",")))
		}
		principal = cert.ValidPrincipals[i]
	} else if !matchList(principal, l.principals) {
		return "", l.refuse(missPrincipal, "the authority may not certify %s", show(principal))
	}
	if err := checkCertificate(cert, principal, at); err != nil {
		return "", l.refuse(missCertificate, "%s", strings.TrimPrefix(err.Error(), "ssh: "))
	}
	return principal, l.open(namespace, at)
}

// open tells whether the line is good for the namespace and the time.
func (l *line) open(namespace string, at time.Time) *refusal {
	if l.narrowed && !matchList(namespace, l.namespaces) {
		return l.refuse(missNamespace, "the key may sign for namespaces %s only, not for %s", show(l.namespaces), show(namespace))
	}
	if t := at.Unix(); l.after != 0 && t < l.after {
		return l.refuse(missTime, "the key is good from %s on, the time is %s", showTime(l.after), showTime(t))
	} else if l.before != 0 && t > l.before {
		return l.refuse(missTime, "the key was good until %s, the time is %s", showTime(l.before), showTime(t))
	}
	return nil
}

func (l *line) refuse(near int, format string, args ...any) *refusal {
	return &refusal{near, l.number, fmt.Sprintf(format, args...)}
}

// criticalOptions are those that OpenSSH defines. They narrow logins, and ssh-keygen passes over them; any other may say
// something about signing that must not be passed over.
var criticalOptions = []string{"force-command", "source-address", "verify-required"}

// checkCertificate tells whether a certificate is a person's, for principal, good at the time, and signed by its authority.
func checkCertificate(cert *ssh.Certificate, principal string, at time.Time) error {
	if cert.CertType != ssh.UserCert {
		return fmt.Errorf("the certificate is a host's, not a person's")
	}
	if err := checkAlgorithm(cert.SignatureKey, cert.Signature.Format); err != nil {
		return fmt.Errorf("the authority's signature: %w", err)
	}
	checker := ssh.CertChecker{SupportedCriticalOptions: criticalOptions, Clock: func() time.Time { return at }}
	return checker.CheckCert(principal, cert)
}

func showTime(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02 15:04:05 UTC") }
