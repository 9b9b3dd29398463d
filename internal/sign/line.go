package sign

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// line is one line of an allowed_signers file: who may sign with which key, for what and when.
type line struct {
	number     int // from 1
	principals string
	key        ssh.PublicKey
	options
}

// parseLine reads a line in which something stands. The reading is OpenSSH's, its oddities included: a quote may stand
// anywhere in the principals, and an option that is not known makes the line worthless.
func parseLine(s string, zone *time.Location) (line, error) {
	var l line
	var ok bool
	if l.principals, s, ok = cutPrincipals(s); !ok {
		return l, errors.New("no principals, or a quote that is not closed")
	}
	if s == "" {
		return l, errors.New("no key behind the principals")
	}
	key, keyErr := parseKeyField(s)
	if errors.Is(keyErr, ErrWeak) {
		return l, keyErr
	}
	if keyErr != nil {
		opts, rest, err := cutOptions(s)
		if err != nil {
			return l, err
		}
		if rest == "" {
			return l, errors.New("no key behind the principals")
		}
		if key, err = parseKeyField(strings.TrimLeft(rest, " \t")); err != nil {
			return l, err
		}
		if l.options, err = parseOptions(opts, zone); err != nil {
			return l, err
		}
	}
	l.key = key
	return l, checkKey(key)
}

// cutPrincipals takes the first word. It ends at white space, or at the end of a part in quotes.
func cutPrincipals(s string) (word, rest string, ok bool) {
	const space = " \t\r\n"
	i := strings.IndexAny(s, space+`"`)
	if i < 0 {
		return s, "", true
	}
	if s[i] != '"' {
		return s[:i], strings.TrimLeft(s[i:], space), true
	}
	quoted, rest, ok := strings.Cut(s[i+1:], `"`)
	return s[:i] + quoted, strings.TrimLeft(rest, space), ok
}

// parseKeyField reads "type base64", and does not care what follows.
func parseKeyField(s string) (ssh.PublicKey, error) {
	name, rest, ok := cutBlank(s)
	if !ok {
		return nil, errors.New("no key")
	}
	b64, _, _ := cutBlank(rest)
	blob, err := unbase64(b64)
	if err != nil || len(blob) == 0 {
		return nil, errors.New("no key, or one in broken base64")
	}
	key, err := parseKey(blob)
	if err != nil {
		return nil, err
	}
	if key.Type() != name {
		return nil, fmt.Errorf("the key is of type %q, the line says %q", key.Type(), name)
	}
	return key, nil
}

func cutBlank(s string) (word, rest string, found bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimLeft(s[i:], " \t"), true
}

// cutOptions takes the options, which end at a blank outside quotes.
func cutOptions(s string) (opts, rest string, err error) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ' ' || c == '\t'):
			return s[:i], s[i+1:], nil
		}
	}
	if quoted {
		return "", "", errors.New("options with a quote that is not closed")
	}
	return s, "", nil
}
