package object

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	treeHex   = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	parentHex = "0123456789abcdef0123456789abcdef01234567"
)

// rebuild parses a commit, splits it and joins it again.
func rebuild(t interface{ Fatalf(string, ...any) }, f Format, raw []byte) []byte {
	c, err := ParseCommit(f, raw, nil)
	if err != nil {
		t.Fatalf("parse %q: %v", raw, err)
	}
	n, fields := c.Split()
	for i := 1; i < len(fields); i++ {
		if fields[i-1].Key >= fields[i].Key {
			t.Fatalf("fields of %q are not in order: %v", raw, fields)
		}
	}
	again, err := JoinCommit(f, c.Tree, c.Parents, n, fields)
	if err != nil {
		t.Fatalf("join %q: %v", raw, err)
	}
	return again
}

func TestSplit(t *testing.T) {
	const author = "Ada <ada@example.com> 1700000000 +0100"
	tests := []struct {
		name, rest, message string
		fields              []Field
	}{
		{"committer is the author", "author " + author + "\ncommitter " + author + "\n\nsubject\n\nbody\n", "subject\n\nbody", nil},
		{"committed later", "author " + author + "\ncommitter Ada <ada@example.com> 1700000060 +0100\n\nm\n", "m",
			[]Field{{FieldCommitter, " 60"}}},
		{"committed elsewhere", "author " + author + "\ncommitter Ada <ada@example.com> 1699999999 -0930\n\nm\n", "m",
			[]Field{{FieldCommitter, " -1 -0930"}}},
		{"another committer", "author " + author + "\ncommitter GitHub <noreply@github.com> 1700000000 +0100\n\nm\n", "m",
			[]Field{{FieldCommitter, "GitHub <noreply@github.com> 0"}}},
		{"committer without a name", "author " + author + "\ncommitter  <> 1700000000 +0100\n\nm\n", "m",
			[]Field{{FieldCommitter, " <> 0"}}},
		{"no message", "author " + author + "\ncommitter " + author + "\n\n", "", nil},
		{"a line feed for a message", "author " + author + "\ncommitter " + author + "\n\n\n", "\n", []Field{{FieldMessage, ""}}},
		{"no line feed at the end", "author " + author + "\ncommitter " + author + "\n\nm", "m", []Field{{FieldMessage, ""}}},
		{"headers", "author " + author + "\ncommitter " + author + "\nencoding latin1\ngpgsig -----\n a\n \n b\nHG:extra x\n\nm\n", "m",
			[]Field{{FieldHeaders, "encoding latin1\ngpgsig -----\n a\n \n b\nHG:extra x\n"}}},
		{"odd zone", "author Ada <ada@example.com> 1700000000 -0000\ncommitter " + author + "\n\nm\n", "m",
			[]Field{{FieldAuthor, "Ada <ada@example.com> 1700000000 -0000"}, {FieldCommitter, " 0 +0100"}}},
		{"zone of seconds", "author " + author + "\ncommitter Ada <ada@example.com> 1700000000 +051800\n\nm\n", "m",
			[]Field{{FieldCommitterLine, "Ada <ada@example.com> 1700000000 +051800"}}},
		{"no committer", "author " + author + "\n\nm\n", "m", []Field{{FieldRest, "author " + author + "\n\nm\n"}}},
		{"no empty line", "author " + author + "\ncommitter " + author + "\n", "",
			[]Field{{FieldRest, "author " + author + "\ncommitter " + author + "\n"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Commit{Rest: []byte(test.rest)}
			n, fields := c.Split()
			if n.Message != test.message || fmt.Sprint(fields) != fmt.Sprint(test.fields) {
				t.Errorf("message %q, fields %q", n.Message, fields)
			}
			raw := []byte("tree " + treeHex + "\nparent " + parentHex + "\n" + test.rest)
			if again := rebuild(t, SHA1, raw); !bytes.Equal(again, raw) {
				t.Errorf("becomes %q", again)
			}
		})
	}
}

func TestParseCommitRefuses(t *testing.T) {
	for raw, want := range map[string]error{
		"":                                  ErrMissingTree,
		"author x\n":                        ErrMissingTree,
		"tree 1234\n":                       ErrBadTreeID,
		"tree " + treeHex:                   ErrBadTreeID,
		"tree " + treeHex + " \n":           ErrBadTreeID,
		"tree " + strings.ToUpper(treeHex):  ErrBadTreeID,
		"tree " + treeHex + "\nparent 12\n": ErrBadParentID,
		"tree " + treeHex + "\n" + strings.Repeat("parent "+parentHex+"\n", MaxParents+1): ErrManyParents,
		strings.Repeat("x", MaxHistory+1):                                                 ErrLong,
	} {
		if _, err := ParseCommit(SHA1, []byte(raw), nil); !is(err, want) {
			t.Errorf("%.60q: %v, want %v", raw, err, want)
		}
	}
}

// commits draws commits of which most are nearly well-formed.
func commits(t *rapid.T) []byte {
	part := rapid.SampledFrom([]string{
		"author ", "committer ", "Ada ", "Ada", "<", "<ada@example.com>", "> ", " ", "\n", "\n\n", "0", "1700000000", "-5",
		"+0100", "-0930", "-0000", "+2400", "encoding x\n", "gpgsig a\n b\n", "m", "\x00", "9223372036854775807", "-9223372036854775808",
		"author Ada <a@b> 1 +0000\n", "committer Ada <a@b> 2 +0000\n", "author  <> -9223372036854775808 +0100\n", "é", "\xff",
	})
	return []byte("tree " + treeHex + "\n" + strings.Join(rapid.SliceOfN(part, 0, 14).Draw(t, "parts"), ""))
}

func TestEveryCommitComesOutAsItWentIn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := commits(t)
		if again := rebuild(t, SHA1, raw); !bytes.Equal(again, raw) {
			t.Fatalf("%q becomes %q", raw, again)
		}
	})
}

// A change that never was a commit becomes one that comes back with the same fields: only then does a second import
// find nothing new.
func TestNewCommitIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Native{Person: Person{
			Name: rapid.String().Draw(t, "name"), Email: rapid.String().Draw(t, "email"),
			Sec: rapid.Int64().Draw(t, "sec"), Zone: int16(rapid.IntRange(math.MinInt16, math.MaxInt16).Draw(t, "zone")),
		}, Message: rapid.String().Draw(t, "message")}
		raw, err := JoinCommit(SHA1, ID{1}, []ID{{2}}, n, []Field{{"other", "x"}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseCommit(SHA1, raw, nil)
		if err != nil {
			t.Fatal(err)
		}
		back, fields := c.Split()
		if back.Message != n.Message || back.Sec != n.Sec {
			t.Fatalf("%+v comes back as %+v %q", n, back, fields)
		}
		again, err := JoinCommit(SHA1, c.Tree, c.Parents, back, fields)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%q becomes %q: %v", raw, again, err)
		}
	})
}

func TestJoinRefusesFields(t *testing.T) {
	for _, value := range []string{"", "x", " x", " 1 2 3", "a> 1", " +1", " 01", " 9223372036854775807", " 1 +01"} {
		_, err := JoinCommit(SHA1, ID{}, nil, Native{Person: Person{Sec: 1}}, []Field{{FieldCommitter, value}})
		if !is(err, ErrField) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree " + treeHex + "\nparent " + parentHex + "\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 2 +0100\ngpgsig x\n y\n\nm\n"))
	f.Add([]byte("tree " + treeHex + "\nauthor A <a@b> 1 +0000\n"))
	f.Add([]byte("tree " + treeHex + "\nauthor <a> b> 01 +9999\ncommitter \n\n\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := ParseCommit(SHA1, raw, nil); err != nil {
			return
		}
		if again := rebuild(t, SHA1, raw); !bytes.Equal(again, raw) {
			t.Fatalf("%q becomes %q", raw, again)
		}
		c, _ := ParseCommit(SHA1, raw, nil)
		c.Header("gpgsig")
		c.CommitTime()
	})
}

func FuzzJoinCommitter(f *testing.F) {
	f.Add(" 60", int64(1))
	f.Add("GitHub <noreply@github.com> -5 +0100", int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, value string, sec int64) {
		n := Native{Person: Person{Name: "A", Email: "a", Sec: sec}}
		raw, err := JoinCommit(SHA1, ID{1}, nil, n, []Field{{FieldCommitter, value}})
		if err != nil {
			return
		}
		c, err := ParseCommit(SHA1, raw, nil)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		rebuild(t, SHA1, AppendCommit(nil, SHA1, &c))
	})
}
