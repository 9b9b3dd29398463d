package sync

import (
	"errors"
	"strings"
	"testing"
)

func TestBucketAddresses(t *testing.T) {
	for in, want := range map[string]Address{
		"s3://team":             {Scheme: S3, Host: "team"},
		"s3://team/":            {Scheme: S3, Host: "team"},
		"s3://te-am.1/a/b c/":   {Scheme: S3, Host: "te-am.1", Path: "a/b c"},
		"s3://team/p?region=eu": {Scheme: S3, Host: "team", Path: "p", Bucket: Place{Region: "eu"}},
		"s3://team/p?endpoint=https://store.example:9000/&style=path": {Scheme: S3, Host: "team", Path: "p", Bucket: Place{Endpoint: "https://store.example:9000", Style: "path"}},
		"s3://team?endpoint=http%3A%2F%2Flocalhost":                   {Scheme: S3, Host: "team", Bucket: Place{Endpoint: "http://localhost"}},
	} {
		got, err := ParseAddress(in)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
			continue
		}
		if again, err := ParseAddress(got.String()); err != nil || again != want {
			t.Errorf("%s is told as %s: %+v, %v", in, got, again, err)
		}
	}
	for _, in := range []string{"s3:///p", "s3://", "s3://ada:secret@team/p", "s3://ada:sec/ret@team/p", "s3://ada:sec?ret@team/p", "s3://ada:secret", "s3://-team/p", "s3://.team", "s3://te/../am", "s3://team/../x", "s3://team/./x",
		"s3://team//x", "s3://team/a%2e%2e", "s3://team/a#secret", `s3://team/a\b`, "s3://team/p?region=a b", "s3://team/p?region=", "s3://team/p?key=secret", "s3://team/p?style=other",
		"s3://team/p?endpoint=ftp://store", "s3://team/p?endpoint=store", "s3://team/p?endpoint=http://ada:secret@store", "s3://team/p?endpoint=http://s/?a=secret", "s3://team/p?region=a&region=b",
		"s3://team/p?%zz", "s3://tëam/p", "s3://team/" + strings.Repeat("a", 600), "s3://" + strings.Repeat("a", 300), "s3://team/\x1b"} {
		a, err := ParseAddress(in)
		if !errors.Is(err, ErrAddress) {
			t.Errorf("%q: %+v, %v", in, a, err)
		}
		for _, secret := range []string{"secret", "sec/", "sec?", "/ret", "?ret"} {
			if strings.Contains(in, "@") && (strings.Contains(Hidden(in), secret) || err != nil && strings.Contains(err.Error(), secret)) {
				t.Errorf("%q is shown as %q, %v", in, Hidden(in), err)
			}
		}
	}
}
