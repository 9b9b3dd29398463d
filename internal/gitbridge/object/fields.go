package object

import (
	"bytes"
	"errors"
	"fmt"
)

// Native is what a change holds itself of a commit: its author, when, and the message without the line feed at its end.
type Native struct {
	Person
	Message string
}

// Field is an extra field of a change.
type Field struct {
	Key   string
	Value string
}

// The keys of the bridge's fields, ascending. A commit whose committer is its author and that has no further headers
// has none.
const (
	// FieldAuthor is the author's line without its key, where it is not as Git writes it.
	FieldAuthor = "git.author"
	// FieldCommitter is the committer as it differs from the author.
	FieldCommitter = "git.committer"
	// FieldCommitterLine is the committer's line without its key, where it is not as Git writes it.
	FieldCommitterLine = "git.committer-line"
	// FieldHeaders is all headers after the committer, as they are: encoding, gpgsig, mergetag and unknown ones.
	FieldHeaders = "git.headers"
	// FieldMessage is there, and empty, where the message is exact: it has no line feed at its end, or is that alone.
	FieldMessage = "git.message"
	// FieldRest is all after the parents as it is, where it has another form than the other fields tell.
	FieldRest = "git.rest"
)

// ErrField is a field of the bridge that it never wrote.
var ErrField = errors.New("malformed field of the Git bridge")

// split serves commits and tags; second is empty for tags, which have one person.
func split(rest []byte, first, second string) (Native, []Field) {
	var fields []Field
	add := func(key string, value []byte) { fields = append(fields, Field{key, string(value)}) }

	line, after, ok := headerLine(rest, first)
	author, exact := parsePerson(line)
	n := Native{Person: author}
	if !ok {
		return splitRest(n, rest)
	}
	if !exact {
		add(FieldAuthor, line)
	}
	if second != "" {
		if line, after, ok = headerLine(after, second); !ok {
			return splitRest(n, rest)
		}
		other, exact := parsePerson(line)
		switch value, fits := appendOther(nil, author, other); {
		case exact && other == author:
		case exact && fits:
			add(FieldCommitter, value)
		default:
			add(FieldCommitterLine, line)
		}
	}
	headers, message := []byte(nil), []byte(nil)
	switch end := bytes.Index(after, []byte("\n\n")); {
	case len(after) > 0 && after[0] == '\n':
		message = after[1:]
	case end >= 0:
		headers, message = after[:end+1], after[end+2:]
	default:
		return splitRest(n, rest)
	}
	if len(headers) > 0 {
		add(FieldHeaders, headers)
	}
	n.Message = string(message)
	if cut, found := bytes.CutSuffix(message, []byte{'\n'}); found && len(cut) > 0 {
		n.Message = string(cut)
	} else if len(message) > 0 {
		add(FieldMessage, nil)
	}
	return n, fields
}

// splitRest keeps everything as it is; the person and the message are for people to look at.
func splitRest(n Native, rest []byte) (Native, []Field) {
	if _, message, found := bytes.Cut(rest, []byte("\n\n")); found {
		n.Message = string(bytes.TrimSuffix(message, []byte{'\n'}))
	} else if len(rest) > 0 && rest[0] == '\n' {
		n.Message = string(bytes.TrimSuffix(rest[1:], []byte{'\n'}))
	}
	if len(n.Message)+len(rest) > MaxHistory { // told twice it would not fit in a change
		n.Message = ""
	}
	return n, []Field{{FieldRest, string(rest)}}
}

func join(n Native, fields []Field, first, second string) ([]byte, error) {
	values := map[string]string{}
	for _, f := range fields {
		values[f.Key] = f.Value
	}
	if rest, found := values[FieldRest]; found {
		return []byte(rest), nil
	}
	var b []byte
	b = append(append(b, first...), ' ')
	if line, found := values[FieldAuthor]; found {
		b = append(b, line...)
	} else {
		b = appendPerson(b, n.Person)
	}
	b = append(b, '\n')
	if second != "" {
		b = append(append(b, second...), ' ')
		value, differs := values[FieldCommitter]
		other, valid := n.Person, true
		if differs {
			other, valid = parseOther(n.Person, []byte(value))
		}
		if !valid {
			return nil, fmt.Errorf("%w: %s %.80q", ErrField, FieldCommitter, value)
		}
		if line, found := values[FieldCommitterLine]; found {
			b = append(b, line...)
		} else {
			b = appendPerson(b, other)
		}
		b = append(b, '\n')
	}
	b = append(b, values[FieldHeaders]...)
	b = append(b, '\n')
	b = append(b, n.Message...)
	if _, exact := values[FieldMessage]; !exact && n.Message != "" {
		b = append(b, '\n')
	}
	return b, nil
}
