// Package s3 speaks with object storage as S3 does: it reads, writes on condition, lists and deletes objects of one bucket, signs what it asks, and
// asks again when the store is busy or the way there is bad. It knows nothing of what the objects hold.
package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Config says which bucket, where, and as whom.
type Config struct {
	Bucket      string
	Endpoint    string // "" for Amazon's of the region
	Region      string // "": us-east-1
	Virtual     bool   // the bucket is part of the host's name, not of the path
	Credentials Credentials
	Roots       []byte                      // certificates in PEM that are trusted beside the system's
	Transport   http.RoundTripper           // nil: the usual one
	Wait        func(try int) time.Duration // before the next try; nil: longer each time
}

// Client speaks with one bucket. It may be used from many goroutines.
type Client struct {
	c    Config
	base *url.URL
	http *http.Client
}

// Info is what the store says of an object, or of a request.
type Info struct {
	ETag string
	Date time.Time // by the store's clock, when it answered
}

const (
	// tries is how often one thing is asked for: with the waits between, a store that is down for ten seconds is outlasted.
	tries = 6
	// maxWait bounds how long a store's Retry-After is believed.
	maxWait = 20 * time.Second
	// headerTime is how long a store may think; slowest the least bytes a second of a way that is still one.
	headerTime = 60 * time.Second
	slowest    = 16 << 10
	maxError   = 64 << 10 // bytes of an error's page that are read
	maxText    = 200      // of what a store says that is shown
)

// New checks a configuration. Nothing is asked yet.
func New(c Config) (*Client, error) {
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Endpoint == "" {
		c.Endpoint = "https://s3." + c.Region + ".amazonaws.com"
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the endpoint is no http or https address")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	if c.Virtual {
		u.Host = c.Bucket + "." + u.Host
	} else {
		u.Path += "/" + c.Bucket
	}
	u.RawPath = ""
	transport := c.Transport
	if transport == nil {
		if transport, err = newTransport(c.Roots); err != nil {
			return nil, err
		}
	}
	return &Client{c, u, &http.Client{Transport: transport,
		// A redirect would have what is signed for one host shown to another.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

func newTransport(roots []byte) (*http.Transport, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: headerTime, TLSHandshakeTimeout: headerTime / 4,
		DialContext: (&net.Dialer{Timeout: headerTime / 4}).DialContext, DisableCompression: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: headerTime}
	if len(roots) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(roots) {
			return nil, errors.New("there is no certificate in the file of certificates to trust")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return t, nil
}

// Close lets go of idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Whole reads an object of at most limit bytes.
func (c *Client) Whole(ctx context.Context, key string, limit int64) ([]byte, Info, error) {
	return c.do(ctx, &request{method: http.MethodGet, key: key, limit: limit})
}

// Range reads exactly n bytes of an object, n > 0.
func (c *Client) Range(ctx context.Context, key string, offset, n int64) ([]byte, Info, error) {
	return c.do(ctx, &request{method: http.MethodGet, key: key, limit: n, exact: true,
		header: [][2]string{{"Range", fmt.Sprintf("bytes=%d-%d", offset, offset+n-1)}}})
}

// Put writes an object.
func (c *Client) Put(ctx context.Context, key string, body []byte) (Info, error) {
	return c.put(ctx, key, body)
}

// PutIf writes an object if it is still the one of that ETag, or is not there if etag is "". ErrCondition tells that it was not so, perhaps because
// of an earlier try of the same call whose answer was lost.
func (c *Client) PutIf(ctx context.Context, key string, body []byte, etag string) (Info, error) {
	if etag == "" {
		return c.put(ctx, key, body, [2]string{"If-None-Match", "*"})
	}
	return c.put(ctx, key, body, [2]string{"If-Match", etag})
}

func (c *Client) put(ctx context.Context, key string, body []byte, header ...[2]string) (Info, error) {
	_, info, err := c.do(ctx, &request{method: http.MethodPut, key: key, body: body, header: header, limit: maxError, conditional: len(header) > 0})
	return info, err
}

// request is what is asked, maybe several times.
type request struct {
	method      string
	key         string
	query       string // sorted and encoded
	header      [][2]string
	body        []byte
	limit       int64 // bytes of the answer
	exact       bool  // the answer has just so many
	conditional bool
}

func (c *Client) do(ctx context.Context, q *request) ([]byte, Info, error) {
	var last error
	for try := range tries {
		if try > 0 {
			if err := c.pause(ctx, try, last); err != nil {
				return nil, Info{}, err
			}
		}
		b, info, err := c.once(ctx, q)
		if err == nil {
			return b, info, nil
		}
		if ctx.Err() != nil {
			return nil, info, ctx.Err()
		}
		last = err
		if said, ok := errors.AsType[*Error](err); ok && !said.again() || errors.Is(err, ErrTooLarge) {
			return nil, info, err
		}
	}
	return nil, Info{}, last
}

// pause waits before the next try: longer each time, and not all clients equally long.
func (c *Client) pause(ctx context.Context, try int, last error) error {
	wait := time.Duration(0)
	switch said, ok := errors.AsType[*Error](last); {
	case c.c.Wait != nil:
		wait = c.c.Wait(try)
	case ok && said.after > 0:
		wait = said.after
	default:
		most := 100 * time.Millisecond << try
		wait = most/2 + rand.N(most/2)
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) once(ctx context.Context, q *request) ([]byte, Info, error) {
	ctx, cancel := context.WithTimeout(ctx, headerTime+time.Duration((q.limit+int64(len(q.body)))/slowest)*time.Second)
	defer cancel()
	r, err := c.request(ctx, q)
	if err != nil {
		return nil, Info{}, err
	}
	reply, err := c.http.Do(r)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok { // which tells the whole address
			err = wrapped.Err
		}
		return nil, Info{}, fmt.Errorf("reach %s: %w", c.base.Host, err)
	}
	defer reply.Body.Close()
	info := Info{ETag: reply.Header.Get("ETag")}
	if info.Date, err = http.ParseTime(reply.Header.Get("Date")); err != nil {
		info.Date = time.Now() // a store without a clock: ours has to do
	}
	if reply.StatusCode/100 != 2 {
		return nil, info, refusal(reply, q)
	}
	if q.exact && reply.StatusCode == http.StatusOK && strings.HasPrefix(q.header[0][1], "bytes=0-") && reply.ContentLength == q.limit {
		return body(reply, q, info) // all of it, which is what was asked for
	}
	if q.exact && reply.StatusCode != http.StatusPartialContent {
		return nil, info, &Error{Status: reply.StatusCode, Code: "NoRanges", Message: "it sends no parts of objects"}
	}
	return body(reply, q, info)
}

func body(reply *http.Response, q *request, info Info) ([]byte, Info, error) {
	if reply.ContentLength > q.limit {
		return nil, info, fmt.Errorf("%w: %d bytes", ErrTooLarge, reply.ContentLength)
	}
	var out bytes.Buffer
	if reply.ContentLength > 0 {
		out.Grow(int(min(reply.ContentLength+bytes.MinRead, 32<<20)))
	}
	n, err := out.ReadFrom(io.LimitReader(reply.Body, q.limit+1))
	switch {
	case err != nil:
		return nil, info, fmt.Errorf("read object: %w", err)
	case n > q.limit:
		return nil, info, fmt.Errorf("%w: over %d bytes", ErrTooLarge, q.limit)
	case q.exact && n < q.limit:
		return nil, info, fmt.Errorf("read object: %w", io.ErrUnexpectedEOF)
	}
	return out.Bytes(), info, nil
}

// request makes one try of what is asked, signed at this moment.
func (c *Client) request(ctx context.Context, q *request) (*http.Request, error) {
	u := *c.base
	if q.key != "" {
		u.Path += "/" + q.key
	}
	u.RawPath, u.RawQuery = escape(u.Path, true), q.query
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), bytes.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	for _, h := range q.header {
		r.Header.Set(h[0], h[1])
	}
	r.Header.Set("User-Agent", "oxy")
	sum := sha256.Sum256(q.body)
	if err := sign(ctx, r, c.c.Credentials, c.c.Region, hex.EncodeToString(sum[:]), time.Now()); err != nil {
		return nil, fmt.Errorf("sign the request: %w", err)
	}
	return r, nil
}

// refusal reads what the store says is wrong.
func refusal(reply *http.Response, q *request) error {
	page, _ := io.ReadAll(io.LimitReader(reply.Body, maxError))
	e := &Error{Status: reply.StatusCode, conditional: q.conditional, region: plain(reply.Header.Get("X-Amz-Bucket-Region"))}
	e.Code, e.Message = readError(page)
	if s, err := strconv.Atoi(reply.Header.Get("Retry-After")); err == nil && s > 0 {
		e.after = min(time.Duration(min(s, 3600))*time.Second, maxWait)
	}
	return e
}
