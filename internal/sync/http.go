package sync

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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

// The one path that requests go to, beneath a repository's address, and their type.
const (
	HTTPPath = "/oxy/v1"
	HTTPType = "application/x-oxy-sync"
)

// Times after which a client gives up on a server.
const (
	headerTime = 10 * time.Second
	replyTime  = 10 * time.Minute
)

// How often a server that has too much to do is asked again, and how long at most between.
const (
	busyTries = 10
	busyWait  = 10 * time.Second
	maxMoves  = 3 // that one request follows, within a host
)

// Secret is what is shown to a server: a token, or a name and a password.
type Secret struct {
	Token    string
	User     string
	Password string
}

// IsZero tells whether there is nothing to show.
func (s Secret) IsZero() bool { return s == Secret{} }

// HTTPClient says how to speak with a server.
type HTTPClient struct {
	Secret Secret // shown from the beginning
	// Ask is called once, when the server wants a secret and there is none; a zero one is that there is none to be had. nil: never.
	Ask   func(ctx context.Context) (Secret, error)
	Roots []byte // certificates in PEM that are trusted beside the system's
	// Idle is after how long a server that says nothing is given up; 0: ten minutes.
	Idle time.Duration
}

// httpPeer is a server.
type httpPeer struct {
	url    string
	secret Secret
	ask    func(ctx context.Context) (Secret, error)
	client *http.Client
	idle   time.Duration
}

// DialHTTP speaks with a server of oxy. No secret is shown to any other host than the address names: where that says that it moved
// elsewhere, a person has to say that they mean it.
func DialHTTP(a Address, o HTTPClient) (Peer, error) {
	if o.Idle <= 0 {
		o.Idle = replyTime
	}
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: o.Idle, TLSHandshakeTimeout: headerTime,
		DialContext: (&net.Dialer{Timeout: headerTime}).DialContext, DisableCompression: true, MaxIdleConnsPerHost: 2}
	if len(o.Roots) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(o.Roots) {
			return nil, errors.New("there is no certificate in what http.ca names")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	p := &httpPeer{url: a.URL + HTTPPath, secret: o.Secret, ask: o.Ask, idle: o.Idle, client: &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if a.User != nil {
		password, _ := a.User.Password()
		p.secret = Secret{User: a.User.Username(), Password: password}
	}
	return p, nil
}

func (p *httpPeer) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// Do asks, and asks again where the server did not look at the request yet: it wants a secret, is busy, or moved within its host.
func (p *httpPeer) Do(ctx context.Context, send func(*Writer) error, receive func(*Reader) error) error {
	for busy, moves := 0, 0; ; {
		err := p.once(ctx, send, receive)
		status, ok := errors.AsType[*StatusError](err)
		if !ok {
			return err
		}
		switch {
		case status.Code == http.StatusUnauthorized && p.secret.IsZero() && p.ask != nil:
			ask := p.ask
			p.ask = nil
			if p.secret, err = ask(ctx); err != nil {
				return err
			}
			if p.secret.IsZero() {
				return status
			}
		case (status.Code == http.StatusServiceUnavailable || status.Code == http.StatusTooManyRequests) && busy < busyTries:
			busy++
			if err := pause(ctx, status.wait, busy); err != nil {
				return err
			}
		case status.to != "" && moves < maxMoves:
			moves++
			if err := p.move(status.to); err != nil {
				return err
			}
		default:
			return status
		}
	}
}

// pause waits as long as the server said, or a while that grows; not all clients for the same time.
func pause(ctx context.Context, wait time.Duration, tries int) error {
	if wait <= 0 {
		wait = 100 * time.Millisecond << tries
	}
	wait = min(wait, busyWait)
	return Sleep(ctx, wait/2+rand.N(wait))
}

// Sleep waits, and ends early with the context's error when that is done.
func Sleep(ctx context.Context, wait time.Duration) error {
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// move follows a server to another path of its own. To another host it does not go.
func (p *httpPeer) move(to string) error {
	old, err := url.Parse(p.url)
	if err != nil {
		return err
	}
	next, err := old.Parse(to)
	if err != nil {
		return malformed("it moved to what is no address")
	}
	next.User = nil
	if next.Scheme != old.Scheme || next.Host != old.Host {
		shown := strings.TrimSuffix(next.Scheme+"://"+next.Host+next.Path, HTTPPath)
		return &MovedError{To: Clean(shown)}
	}
	p.url = next.String()
	return nil
}

// MovedError is a server that says it is elsewhere now.
type MovedError struct{ To string }

func (e *MovedError) Error() string { return "it says that it is at " + e.To + " now" }

func (p *httpPeer) once(ctx context.Context, send func(*Writer) error, receive func(*Reader) error) error {
	in, out := io.Pipe()
	defer in.Close()
	sent := make(chan error, 1)
	go func() {
		err := func() error {
			w, err := NewWriter(out, Zstd)
			if err != nil {
				return err
			}
			if err := send(w); err != nil {
				return err
			}
			return w.Close()
		}()
		_ = out.CloseWithError(err)
		sent <- err
	}()
	err := p.post(ctx, in, receive)
	_ = in.CloseWithError(io.ErrClosedPipe) // an answer before the end of the request ends the request
	if failed := <-sent; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return failed
	}
	return err
}

func (p *httpPeer) post(ctx context.Context, body io.Reader, receive func(*Reader) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", HTTPType)
	switch {
	case p.secret.Token != "":
		r.Header.Set("Authorization", "Bearer "+p.secret.Token)
	case !p.secret.IsZero():
		r.SetBasicAuth(p.secret.User, p.secret.Password)
	}
	reply, err := p.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if wrapped, ok := errors.AsType[*url.Error](err); ok { // which names the address again
			err = wrapped.Err
		}
		return certificateError(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return statusOf(reply)
	}
	from := newImpatient(reply.Body, p.idle)
	defer from.timer.Stop()
	in, err := NewReader(from, MaxMessage)
	if err != nil {
		return err
	}
	defer in.Close()
	return receive(in)
}

// impatient closes what it reads from when nothing comes for a while.
type impatient struct {
	r     io.ReadCloser
	idle  time.Duration
	timer *time.Timer
}

func newImpatient(r io.ReadCloser, idle time.Duration) *impatient {
	i := &impatient{r: r, idle: idle}
	i.timer = time.AfterFunc(idle, func() { _ = r.Close() })
	return i
}

func (i *impatient) Read(p []byte) (int, error) {
	i.timer.Reset(i.idle)
	n, err := i.r.Read(p)
	i.timer.Stop() // what is done with it may take longer
	return n, err
}

// StatusError is what a server said before it spoke the protocol.
type StatusError struct {
	Code int
	Text string

	wait time.Duration // after which to ask again; 0: it did not say
	to   string        // where it moved
}

func statusOf(reply *http.Response) *StatusError {
	said, _ := io.ReadAll(io.LimitReader(reply.Body, 200))
	e := &StatusError{Code: reply.StatusCode, Text: strings.TrimSpace(clean(said))}
	if n, err := strconv.Atoi(reply.Header.Get("Retry-After")); err == nil && n > 0 && n < 1<<20 {
		e.wait = time.Duration(n) * time.Second
	}
	if e.Code >= 300 && e.Code < 400 {
		e.to = reply.Header.Get("Location")
	}
	return e
}

func (e *StatusError) Error() string {
	switch e.Code {
	case http.StatusUnauthorized:
		return "the server wants a token: it says: " + e.Text
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return "the server has too much to do at the moment"
	}
	return fmt.Sprintf("the server says %d %s", e.Code, e.Text)
}

// CertificateError is a server that cannot prove who it is.
type CertificateError struct {
	Text, Next string
	Err        error
}

func (e *CertificateError) Error() string { return e.Text }
func (e *CertificateError) Unwrap() error { return e.Err }

// certificateError puts what is wrong with a certificate in words for a person.
func certificateError(err error) error {
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		names := strings.Join(name.Certificate.DNSNames, ", ")
		for _, ip := range name.Certificate.IPAddresses {
			names = strings.TrimPrefix(names+", "+ip.String(), ", ")
		}
		return &CertificateError{Text: "its certificate is for " + Clean(names) + ", not for " + Clean(name.Host), Next: "Somebody may stand between you and the server. If not, use an address with a name that the certificate has.", Err: err}
	}
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		text := "its certificate ended on " + bad.Cert.NotAfter.UTC().Format(time.DateOnly)
		if time.Now().Before(bad.Cert.NotBefore) {
			text = "its certificate begins on " + bad.Cert.NotBefore.UTC().Format(time.DateOnly) + " only"
		}
		return &CertificateError{Text: text, Next: "Check this machine's clock; if that is right, who runs the server has to renew the certificate.", Err: err}
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return &CertificateError{Text: "nobody whom this machine trusts vouches for its certificate",
			Next: "If the server is your own, get its authority's certificate in a file and trust that: oxy config --user http.ca FILE", Err: err}
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &CertificateError{Text: "its certificate is not good: " + Clean(bad.Err.Error()), Next: "Who runs the server has to mend that.", Err: err}
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return &CertificateError{Text: "it speaks http there, not https", Next: "Check the address. Over http a token can be read on its way.", Err: err}
	}
	return err
}
