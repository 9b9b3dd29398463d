package object

import (
	"bytes"
	"math"
	"strconv"
)

// Person is who did something, and when. Names are bytes as Git has them, UTF-8 or not.
type Person struct {
	Name  string
	Email string
	Sec   int64 // since 1970
	Zone  int16 // minutes east of UTC
}

// maxPersonName is what a change allows for a name and for an address.
const maxPersonName = 4096

// maxZone is the furthest zone that four digits tell, 99:59.
const maxZone = 99*60 + 59

// parsePerson reads "name <email> seconds zone". Where the line is not what appendPerson writes, exact is false and the
// person is a guess for people to look at: the line itself must be kept.
func parsePerson(line []byte) (p Person, exact bool) {
	name, rest, found := bytes.Cut(line, []byte{'<'})
	if !found {
		p.Name = string(clip(bytes.TrimSpace(line)))
		return p, false
	}
	email, when, _ := bytes.Cut(rest, []byte{'>'})
	p.Name = string(clip(bytes.TrimSuffix(name, []byte{' '})))
	p.Email = string(clip(email))
	sec, zone, _ := bytes.Cut(bytes.TrimPrefix(when, []byte{' '}), []byte{' '})
	if n, err := strconv.ParseInt(string(sec), 10, 64); err == nil {
		p.Sec = n
	}
	if n, err := strconv.ParseInt(string(zone), 10, 16); err == nil && n%100 < 60 && n%100 > -60 && n >= -9959 && n <= 9959 {
		p.Zone = int16(n/100*60 + n%100)
	}
	var room [256]byte
	return p, bytes.Equal(appendPerson(room[:0], p), line)
}

func clip(b []byte) []byte {
	if len(b) > maxPersonName {
		return b[:maxPersonName]
	}
	return b
}

// appendPerson writes a person as Git does. Bytes that would end the name or the address are left out, as Git does too;
// a zone beyond what four digits tell becomes the furthest that they do.
func appendPerson(b []byte, p Person) []byte {
	b = appendWithoutCrud(b, p.Name)
	b = append(b, " <"...)
	b = appendWithoutCrud(b, p.Email)
	b = append(b, "> "...)
	b = strconv.AppendInt(b, p.Sec, 10)
	b = append(b, ' ')
	return appendZone(b, p.Zone)
}

func appendWithoutCrud(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c != '<' && c != '>' && c != '\n' && c != 0 {
			b = append(b, c)
		}
	}
	return b
}

func appendZone(b []byte, zone int16) []byte {
	sign := byte('+')
	z := int(zone)
	if z < 0 {
		sign, z = '-', -z
	}
	z = min(z, maxZone)
	h, m := z/60, z%60
	return append(b, sign, byte('0'+h/10), byte('0'+h%10), byte('0'+m/10), byte('0'+m%10))
}

// appendOther tells a committer from the author: nothing of the person when it is the same, the seconds between the two,
// and the zone when it is another. It is false where the seconds do not fit.
func appendOther(b []byte, author, other Person) ([]byte, bool) {
	delta := other.Sec - author.Sec
	if (delta > 0) != (other.Sec > author.Sec) {
		return nil, false
	}
	if other.Name != author.Name || other.Email != author.Email {
		b = append(append(b, other.Name...), " <"...)
		b = append(append(b, other.Email...), '>')
	}
	b = strconv.AppendInt(append(b, ' '), delta, 10)
	if other.Zone != author.Zone {
		b = appendZone(append(b, ' '), other.Zone)
	}
	return b, true
}

// parseOther reads what appendOther wrote.
func parseOther(author Person, s []byte) (Person, bool) {
	p := author
	when := s
	if end := bytes.IndexByte(s, '>'); end >= 0 {
		name, email, found := bytes.Cut(s[:end], []byte(" <"))
		if !found {
			return p, false
		}
		p.Name, p.Email, when = string(name), string(email), s[end+1:]
	}
	when, found := bytes.CutPrefix(when, []byte{' '})
	if !found {
		return p, false
	}
	sec, zone, hasZone := bytes.Cut(when, []byte{' '})
	delta, err := strconv.ParseInt(string(sec), 10, 64)
	if err != nil || delta > 0 && author.Sec > math.MaxInt64-delta || delta < 0 && author.Sec < math.MinInt64-delta {
		return p, false
	}
	p.Sec += delta
	if hasZone {
		n, err := strconv.ParseInt(string(zone), 10, 16)
		if err != nil || n < -9959 || n > 9959 {
			return p, false
		}
		p.Zone = int16(n/100*60 + n%100)
	}
	again, _ := appendOther(nil, author, p)
	return p, bytes.Equal(again, s)
}
