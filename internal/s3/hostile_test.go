package s3

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	gosync "sync"
	"testing"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(r *http.Request, code int, body string, header http.Header) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: code, Request: r, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), ProtoMajor: 1, ProtoMinor: 1}
}

// endless gives bytes for ever, and counts them.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.n += int64(len(p))
	return len(p), nil
}

func (e *endless) Close() error { return nil }

// way makes a client of which each request is answered by f, and counts them.
func way(t *testing.T, f func(n int, r *http.Request) (*http.Response, error)) (*Client, *int) {
	n := 0
	var mu gosync.Mutex
	return testClient(t, "http://store.example", func(c *Config) {
		c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			n++
			n := n
			mu.Unlock()
			return f(n, r)
		})
	}), &n
}

// TestAgain: what may go well later is asked again, what will not is not.
func TestAgain(t *testing.T) {
	for _, a := range []struct {
		code  int
		body  string
		tries int
	}{
		{500, "", tries}, {502, "", tries}, {503, "<Error><Code>SlowDown</Code></Error>", tries}, {504, "", tries}, {429, "", tries}, {408, "", tries},
		{400, "<Error><Code>RequestTimeout</Code></Error>", tries}, {400, "<Error><Code>InvalidArgument</Code></Error>", 1},
		{401, "", 1}, {403, "", 1}, {404, "", 1}, {501, "<Error><Code>NotImplemented</Code></Error>", 1}, {301, "", 1}, {416, "", 1},
	} {
		c, n := way(t, func(_ int, r *http.Request) (*http.Response, error) {
			return answer(r, a.code, a.body, http.Header{"Location": {"http://elsewhere.example/"}}), nil
		})
		if _, _, err := c.Whole(background, "a", 10); err == nil || *n != a.tries {
			t.Errorf("%d %s: %d tries, %v", a.code, a.body, *n, err)
		}
	}
	c, n := way(t, func(n int, r *http.Request) (*http.Response, error) {
		if n < tries {
			return nil, errors.New("the way failed")
		}
		return answer(r, 200, "good", nil), nil
	})
	if got, _, err := c.Whole(background, "a", 10); err != nil || string(got) != "good" || *n != tries {
		t.Errorf("%q, %d tries, %v", got, *n, err)
	}
}

// TestConditionCodes: stores say in several ways that an object is not the one that was to be replaced.
func TestConditionCodes(t *testing.T) {
	for code, want := range map[string]bool{"404 NoSuchKey": true, "409 ConditionalRequestConflict": true, "412 PreconditionFailed": true, "404 NoSuchBucket": false, "403 AccessDenied": false} {
		c, _ := way(t, func(_ int, r *http.Request) (*http.Response, error) {
			var n int
			var name string
			fmt.Sscan(code, &n, &name)
			return answer(r, n, "<Error><Code>"+name+"</Code></Error>", nil), nil
		})
		if _, err := c.PutIf(background, "root", nil, `"1"`); errors.Is(err, ErrCondition) != want {
			t.Errorf("%s: %v", code, err)
		}
		if _, err := c.Put(background, "root", nil); errors.Is(err, ErrCondition) {
			t.Errorf("%s without a condition: %v", code, err)
		}
	}
}

// TestLyingStore: no answer takes more memory than what was asked for, or passes for what it is not.
func TestLyingStore(t *testing.T) {
	big := &endless{}
	for _, a := range []struct {
		name string
		do   func(r *http.Request) *http.Response
	}{
		{"endless", func(r *http.Request) *http.Response {
			a := answer(r, 206, "", nil)
			a.Body, a.ContentLength = big, -1
			return a
		}},
		{"a large length", func(r *http.Request) *http.Response {
			a := answer(r, 206, "", nil)
			a.Body, a.ContentLength = big, 1<<62
			return a
		}},
		{"too little", func(r *http.Request) *http.Response { return answer(r, 206, "012345678", nil) }},
		{"too much", func(r *http.Request) *http.Response { return answer(r, 206, "0123456789a", nil) }},
		{"all of it", func(r *http.Request) *http.Response { return answer(r, 200, strings.Repeat("0123456789", 10), nil) }},
		{"an endless error", func(r *http.Request) *http.Response {
			a := answer(r, 400, "", nil)
			a.Body, a.ContentLength = big, -1
			return a
		}},
	} {
		c, _ := way(t, func(_ int, r *http.Request) (*http.Response, error) { return a.do(r), nil })
		got, _, err := c.Range(background, "a", 5, 10)
		if err == nil {
			t.Errorf("%s: %q was taken", a.name, got)
		}
	}
	if big.n > 1<<20 {
		t.Errorf("%d bytes were read of what has no end", big.n)
	}
	// A redirect would show elsewhere what is signed for here.
	c, n := way(t, func(_ int, r *http.Request) (*http.Response, error) {
		return answer(r, 307, "", http.Header{"Location": {"http://evil.example/"}, "X-Amz-Bucket-Region": {"eu-west-1\x1b[2J"}}), nil
	})
	_, _, err := c.Whole(background, "a", 10)
	if err == nil || *n != 1 || strings.ContainsRune(err.Error(), '\x1b') || !strings.Contains(err.Error(), "eu-west-1") {
		t.Errorf("%d requests, %v", *n, err)
	}
	// Words are for a terminal.
	c, _ = way(t, func(_ int, r *http.Request) (*http.Response, error) {
		return answer(r, 400, "<Error><Code>Odd</Code><Message>a&#xD;b\u202e"+strings.Repeat("long ", 1000)+"</Message></Error>", nil), nil
	})
	if _, _, err = c.Whole(background, "a", 10); err == nil || strings.ContainsAny(err.Error(), "\r\u202e") || len(err.Error()) > 2*maxText {
		t.Errorf("%q", err)
	}
}

func TestLists(t *testing.T) {
	page := func(more bool, token string) string {
		return fmt.Sprintf("<ListBucketResult><IsTruncated>%v</IsTruncated><NextContinuationToken>%s</NextContinuationToken><Contents><Key>p/1</Key><Size>1</Size><LastModified>2026-11-30T19:38:00.000Z</LastModified></Contents></ListBucketResult>", more, token)
	}
	// Pages that come to no end.
	c, n := way(t, func(_ int, r *http.Request) (*http.Response, error) {
		return answer(r, 200, page(true, "a+b/c="), nil), nil
	})
	if _, err := c.List(background, "p/"); !errors.Is(err, ErrTooLarge) || *n != maxPages {
		t.Errorf("%d pages, %v", *n, err)
	}
	c, n = way(t, func(n int, r *http.Request) (*http.Response, error) {
		if n == 2 && r.URL.Query().Get("continuation-token") != "a+b/c=" {
			t.Errorf("%s", r.URL.RawQuery)
		}
		return answer(r, 200, page(n == 1, "a+b/c="), nil), nil
	})
	if got, err := c.List(background, "p/"); err != nil || len(got) != 2 || *n != 2 {
		t.Errorf("%d objects, %d pages, %v", len(got), *n, err)
	}
	for _, bad := range []string{"", "<", "{}", "<a><b></a>", "<ListBucketResult><Contents><LastModified>yesterday</LastModified></Contents></ListBucketResult>", strings.Repeat("<a>", 100_000)} {
		c, _ := way(t, func(_ int, r *http.Request) (*http.Response, error) { return answer(r, 200, bad, nil), nil })
		if got, err := c.List(background, "p/"); err == nil && len(got) > 0 {
			t.Errorf("%.20s: %v", bad, got)
		}
	}
}

// TestDeletes: where a store does not delete many at once they are deleted one by one; what it did not delete is said.
func TestDeletes(t *testing.T) {
	keys := make([]string, 2500)
	for i := range keys {
		keys[i] = fmt.Sprintf("p/%d", i)
	}
	many, one := 0, 0
	var mu gosync.Mutex
	c, _ := way(t, func(_ int, r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPost {
			many++
			return answer(r, 501, "<Error><Code>NotImplemented</Code></Error>", nil), nil
		}
		one++
		return answer(r, 204, "", nil), nil
	})
	if err := c.Delete(background, keys...); err != nil || many != 3 || one != len(keys) {
		t.Errorf("%d and %d requests, %v", many, one, err)
	}
	for body, good := range map[string]bool{"": true, "<DeleteResult/>": true, "<DeleteResult><Error><Key>p/1</Key><Code>AccessDenied</Code></Error></DeleteResult>": false, "<": false} {
		c, n := way(t, func(_ int, r *http.Request) (*http.Response, error) { return answer(r, 200, body, nil), nil })
		if err := c.Delete(background, keys...); (err == nil) != good || *n != 3 {
			t.Errorf("%s: %d requests, %v", body, *n, err)
		}
	}
}

func FuzzError(f *testing.F) {
	f.Add([]byte("<Error><Code>NoSuchKey</Code><Message>m</Message></Error>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		code, message := readError(page)
		if bytes.ContainsAny([]byte(code+message), "\x00\x1b\r\n") {
			t.Errorf("%q %q", code, message)
		}
	})
}
