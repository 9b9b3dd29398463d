package s3

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	testID     = "ada"
	testSecret = "engine/no+1"
	testRegion = "eu-central-1"
)

// server is a store in this process that refuses what is not signed right: the signature is made again from what came over the wire, by code that shares
// nothing with what made it.
func server(t testing.TB, through func(http.Handler) http.Handler) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("team"); err != nil {
		t.Fatal(err)
	}
	h := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	signed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := judge(r); why != "" {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, "<Error><Code>SignatureDoesNotMatch</Code><Message>%s</Message></Error>", why)
			return
		}
		h.ServeHTTP(w, r)
	})
	var all http.Handler = signed
	if through != nil {
		all = through(all)
	}
	s := httptest.NewServer(all)
	t.Cleanup(s.Close)
	return s.URL
}

// judge says what is wrong with a request's signature.
func judge(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	sum := sha256.Sum256(body)
	bodyHash := hex.EncodeToString(sum[:])
	if r.Header.Get("X-Amz-Content-Sha256") != bodyHash {
		return "the body's hash"
	}
	stamp := r.Header.Get("X-Amz-Date")
	if at, err := time.Parse("20060102T150405Z", stamp); err != nil || time.Since(at).Abs() > 15*time.Minute {
		return "the date"
	}
	scope := stamp[:8] + "/" + testRegion + "/s3/aws4_request"
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+testID+"/"+scope+", SignedHeaders=")
	if !ok {
		return "the scope"
	}
	signed, signature, _ := strings.Cut(rest, ", Signature=")
	names := strings.Split(signed, ";")
	for _, must := range []string{"host", "if-match", "if-none-match", "range", "x-amz-content-sha256", "x-amz-date", "x-amz-security-token"} {
		if (must == "host" || r.Header.Get(must) != "") && !slices.Contains(names, must) {
			return "no signed " + must
		}
	}
	query := strings.Split(r.URL.RawQuery, "&")
	slices.Sort(query)
	var b strings.Builder
	b.WriteString(r.Method + "\n" + r.URL.EscapedPath() + "\n" + strings.Join(query, "&") + "\n")
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		b.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	b.WriteString("\n" + signed + "\n" + bodyHash)
	request := sha256.Sum256([]byte(b.String()))
	key := []byte("AWS4" + testSecret)
	for _, part := range []string{stamp[:8], testRegion, "s3", "aws4_request", "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(request[:])} {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(part))
		key = h.Sum(nil)
	}
	if hex.EncodeToString(key) != signature {
		return "the signature"
	}
	return ""
}

func testClient(t testing.TB, endpoint string, change func(*Config)) *Client {
	t.Helper()
	c := Config{Bucket: "team", Endpoint: endpoint, Region: testRegion, Credentials: NewCredentials(testID, testSecret, ""), Wait: func(int) time.Duration { return 0 }}
	if change != nil {
		change(&c)
	}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

var background = context.Background()
