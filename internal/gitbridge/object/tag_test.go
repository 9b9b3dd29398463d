package object

import (
	"bytes"
	"errors"
	"testing"
)

func is(err, want error) bool { return errors.Is(err, want) }

func TestTagComesOutAsItWentIn(t *testing.T) {
	const head = "object " + parentHex + "\ntype commit\ntag v1\n"
	for _, rest := range []string{
		"tagger Ada <ada@example.com> 1700000000 +0100\n\nv1\n-----BEGIN PGP SIGNATURE-----\n\nx\n",
		"tagger Ada <ada@example.com> 1700000000 +0100\nfoo bar\n\nv1\n",
		"tagger nobody\n\n",
		"\nan old tag\n",
		"",
		"tagger Ada <a@b> 1 +0000\ngpgsig x\n cut",
	} {
		raw := []byte(head + rest)
		tag, err := ParseTag(SHA1, raw)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		n, fields := tag.Split()
		again, err := JoinTag(SHA1, tag.Object, tag.Kind, tag.Name, n, fields)
		if err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%q becomes %q: %v", raw, again, err)
		}
	}
}

func TestParseTagRefuses(t *testing.T) {
	for raw, want := range map[string]error{
		"":                                      ErrTagObject,
		"object 12\n":                           ErrTagObject,
		"object " + parentHex + "\n":            ErrTagType,
		"object " + parentHex + "\ntype commit": ErrTagType,
		"object " + parentHex + "\ntype x\ntag a\n":  ErrKind,
		"object " + parentHex + "\ntype blob\n":      ErrTagName,
		"object " + parentHex + "\ntype blob\ntag a": ErrTagName,
	} {
		if _, err := ParseTag(SHA1, []byte(raw)); !is(err, want) {
			t.Errorf("%q: %v, want %v", raw, err, want)
		}
	}
	if _, err := JoinTag(SHA1, ID{}, BlobKind, "a\nb", Native{}, nil); !is(err, ErrTagName) {
		t.Error(err)
	}
}

func FuzzParseTag(f *testing.F) {
	f.Add([]byte("object " + parentHex + "\ntype commit\ntag v1\ntagger A <a@b> 1 +0000\n\nm\n"))
	f.Add([]byte("object " + parentHex + "\ntype tree\ntag \n\nold\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		tag, err := ParseTag(SHA1, raw)
		if err != nil {
			return
		}
		n, fields := tag.Split()
		again, err := JoinTag(SHA1, tag.Object, tag.Kind, tag.Name, n, fields)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%q becomes %q: %v", raw, again, err)
		}
		tag.Header("gpgsig")
	})
}
