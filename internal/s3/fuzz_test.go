package s3

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzFiles: a person's files for S3 and what a program says of keys are read or refused, and no secret is shown.
func FuzzFiles(f *testing.F) {
	f.Add("[default]\naws_access_key_id = a\naws_secret_access_key = b\nregion=x\n[profile other]\ncredential_process = \"a b\" c\n")
	f.Add(`{"Version":1,"AccessKeyId":"a","SecretAccessKey":"topsecret"}`)
	f.Fuzz(func(t *testing.T, s string) {
		set, err := Load(func(name string) string {
			if name == "HOME" {
				return "/home"
			}
			return ""
		}, func(string) ([]byte, error) { return []byte(s), nil })
		if c := set.Credentials; err == nil && len(c.secret) > 8 && !strings.Contains(c.ID, c.secret) && strings.Contains(c.String(), c.secret) {
			t.Error("the secret is shown")
		}
		_, _ = ParseProcess([]byte(s))
	})
}

// FuzzList: a list of objects that a store sends is read or refused, and ends.
func FuzzList(f *testing.F) {
	f.Add([]byte("<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>3</Size></Contents></ListBucketResult>"))
	f.Add([]byte("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked > 3 {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			_, _ = w.Write(page)
		}))
		defer server.Close()
		c, err := New(Config{Bucket: "team", Endpoint: server.URL, Region: "x", Credentials: NewCredentials("a", "b", "")})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = c.List(context.Background(), "p/")
	})
}
