package sign

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// options are what may stand between the principals and the key in a line of an allowed_signers file.
type options struct {
	authority     bool   // the key signs certificates, not messages
	narrowed      bool   // namespaces was given, perhaps as ""
	namespaces    string // a pattern list
	after, before int64  // seconds since 1970, both inclusive; 0 for no bound
}

// The names by which options begin.
const (
	optAuthority  = "cert-authority"
	optNamespaces = "namespaces="
	optAfter      = "valid-after="
	optBefore     = "valid-before="
)

// parseOptions reads a list of options. As for OpenSSH one that is not known is an error, and an empty one is not, save at the
// end: an option of tomorrow that narrows a key must not be skipped by a reader of today.
func parseOptions(s string, zone *time.Location) (options, error) {
	var o options
	for s != "" {
		name := optionName(s)
		s = s[len(name):]
		var value string
		var err error
		if strings.HasSuffix(name, "=") {
			if value, s, err = cutQuoted(s); err != nil {
				return o, fmt.Errorf("%s: %w", strings.TrimSuffix(name, "="), err)
			}
		}
		if err := o.set(name, value, zone); err != nil {
			return o, err
		}
		if s == "" {
			break
		}
		if s[0] != ',' {
			return o, fmt.Errorf("unknown option %q", s)
		}
		if s = s[1:]; s == "" {
			return o, errors.New("the options end with a comma")
		}
	}
	if o.after != 0 && o.before != 0 && o.before <= o.after {
		return o, errors.New("valid-before is not later than valid-after")
	}
	return o, nil
}

// optionName is the known option with which s begins, letter case aside; "" if there is none.
func optionName(s string) string {
	for _, name := range [...]string{optAuthority, optNamespaces, optAfter, optBefore} {
		if len(s) >= len(name) && strings.EqualFold(s[:len(name)], name) {
			return name
		}
	}
	return ""
}

func (o *options) set(name, value string, zone *time.Location) error {
	switch name {
	case optAuthority:
		o.authority = true
	case optNamespaces:
		if o.narrowed {
			return errors.New("namespaces stands twice")
		}
		o.narrowed, o.namespaces = true, value
	case optAfter:
		return setTime(&o.after, name, value, zone)
	case optBefore:
		return setTime(&o.before, name, value, zone)
	}
	return nil
}

func setTime(to *int64, name, value string, zone *time.Location) error {
	name = strings.TrimSuffix(name, "=")
	if *to != 0 {
		return fmt.Errorf("%s stands twice", name)
	}
	t, ok := parseTime(value, zone)
	if !ok {
		return fmt.Errorf("%s: %q is no time like 20260131 or 20260131235959Z", name, value)
	}
	*to = t
	return nil
}

// cutQuoted takes a value in double quotes, in which \" is a quote and every other backslash itself.
func cutQuoted(s string) (value, rest string, err error) {
	if s == "" || s[0] != '"' {
		return "", "", errors.New("the value does not begin with a quote")
	}
	var v strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return v.String(), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
		}
		v.WriteByte(s[i])
	}
	return "", "", errors.New("the value does not end with a quote")
}

// parseTime reads YYYYMMDD[HHMM[SS]], with Z or UTC behind it in universal time, otherwise in zone. A day or second too many
// counts on, as in OpenSSH: 20260231 is the third of March. Only times after 1970 began are times here.
func parseTime(s string, zone *time.Location) (int64, bool) {
	for _, suffix := range [...]string{"Z", "UTC"} {
		if n := len(s) - len(suffix); n > 0 && strings.EqualFold(s[n:], suffix) {
			s, zone = s[:n], time.UTC
			break
		}
	}
	if len(s) != 8 && len(s) != 12 && len(s) != 14 {
		return 0, false
	}
	var f [6]int // year to second
	highest := [6]int{9999, 12, 31, 23, 59, 61}
	for i, at := 0, 0; at < len(s); i++ {
		n := 2
		if i == 0 {
			n = 4
		}
		v, err := strconv.ParseUint(s[at:at+n], 10, 16)
		if err != nil || int(v) > highest[i] || v == 0 && (i == 1 || i == 2) {
			return 0, false
		}
		f[i] = int(v)
		at += n
	}
	clock := func(zone *time.Location) time.Time {
		return time.Date(f[0], time.Month(f[1]), f[2], f[3], f[4], f[5], 0, zone)
	}
	t := clock(time.UTC).Unix() - standardOffset(clock(zone))
	return t, t > 0
}

// standardOffset is the zone's offset from universal time in seconds, without the hour that summer adds. OpenSSH hands
// mktime what the file says as no summer time, in summer too, and the file must mean the same to both.
func standardOffset(t time.Time) int64 {
	if start, _ := t.ZoneBounds(); t.IsDST() && !start.IsZero() {
		if before := start.Add(-time.Second); !before.IsDST() {
			t = before
		}
	}
	_, offset := t.Zone()
	return int64(offset)
}
