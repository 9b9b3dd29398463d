package sync

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The one path that requests go to, beneath a repository's address, and their type.
const (
	httpPath = "/oxy/v1"
	httpType = "application/x-oxy-sync"
)

// Times after which a server gives up on a peer that does nothing, and on one that is too slow in all.
const (
	headerTime = 10 * time.Second
	idleTime   = 60 * time.Second
	stopTime   = 10 * time.Second
)

// HTTPOptions say how a server serves.
type HTTPOptions struct {
	Token    string // that a client must show; "": none
	ReadOnly bool   // told by the handler; here for /healthz
	Limit    int64  // bytes of one request, once decompressed
	Clients  int    // at once; others are told to come back
	Log      *slog.Logger
}

// ServeHTTP answers on a listener until ctx is done, then lets the requests under way end.
func ServeHTTP(ctx context.Context, l net.Listener, h Handler, o HTTPOptions) error {
	if o.Clients <= 0 {
		o.Clients = 64
	}
	slots := make(chan struct{}, o.Clients)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("POST "+httpPath, func(w http.ResponseWriter, r *http.Request) { serveOne(w, r, h, o, slots) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := server.Shutdown(late); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

func serveOne(w http.ResponseWriter, r *http.Request, h Handler, o HTTPOptions, slots chan struct{}) {
	began := time.Now()
	if o.Token != "" && !allowed(r, o.Token) {
		w.Header().Set("WWW-Authenticate", `Basic realm="oxy", charset="UTF-8"`)
		http.Error(w, "a token is needed", http.StatusUnauthorized)
		o.Log.Warn("refused", "from", r.RemoteAddr, "why", "token")
		return
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many at once", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", httpType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	c := http.NewResponseController(w)
	in := &timed{r: r.Body, extend: func() { _ = c.SetReadDeadline(time.Now().Add(idleTime)) }}
	out := &timedWriter{w: w, extend: func() { _ = c.SetWriteDeadline(time.Now().Add(idleTime)) }}
	err := answer(r.Context(), h, in, out, Zstd, o.Limit)
	o.Log.Info("request", "from", r.RemoteAddr, "in", in.n, "out", out.n, "ms", time.Since(began).Milliseconds(), "error", text(err))
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return clean([]byte(err.Error()))
}

// allowed compares the token, which comes as bearer or as the password of basic authentication.
func allowed(r *http.Request, token string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		_, given, _ = r.BasicAuth()
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// timed gives a slow peer some more time whenever something came.
type timed struct {
	r      io.Reader
	n      int64
	extend func()
}

func (t *timed) Read(p []byte) (int, error) {
	t.extend()
	n, err := t.r.Read(p)
	t.n += int64(n)
	return n, err
}

type timedWriter struct {
	w      io.Writer
	n      int64
	extend func()
}

func (t *timedWriter) Write(p []byte) (int, error) {
	t.extend()
	n, err := t.w.Write(p)
	t.n += int64(n)
	return n, err
}

// httpPeer is a server.
type httpPeer struct {
	url    string
	user   *url.Userinfo
	token  string
	client *http.Client
}

// DialHTTP speaks with a server of oxy. The token, if any, is shown to it and never to where it redirects.
func DialHTTP(a Address, token string) Peer {
	return &httpPeer{url: a.URL + httpPath, user: a.User, token: token, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: 10 * idleTime, TLSHandshakeTimeout: headerTime,
			DialContext: (&net.Dialer{Timeout: headerTime}).DialContext, DisableCompression: true, MaxIdleConnsPerHost: 2}}}
}

func (p *httpPeer) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

func (p *httpPeer) Do(ctx context.Context, send func(*Writer) error, receive func(*Reader) error) error {
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
	r.Header.Set("Content-Type", httpType)
	switch {
	case p.token != "":
		r.Header.Set("Authorization", "Bearer "+p.token)
	case p.user != nil:
		password, _ := p.user.Password()
		r.SetBasicAuth(p.user.Username(), password)
	}
	reply, err := p.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var wrapped *url.Error // which names the address again
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(reply.Body, 200))
		return &StatusError{Code: reply.StatusCode, Text: strings.TrimSpace(clean(said))}
	}
	in, err := NewReader(reply.Body, MaxMessage)
	if err != nil {
		return err
	}
	defer in.Close()
	return receive(in)
}

// StatusError is what a server said before it spoke the protocol.
type StatusError struct {
	Code int
	Text string
}

func (e *StatusError) Error() string {
	switch e.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "the server wants a token"
	case http.StatusServiceUnavailable:
		return "the server has too much to do at the moment"
	}
	return fmt.Sprintf("the server says %d %s", e.Code, e.Text)
}
