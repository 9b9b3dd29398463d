package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// refusal is why a request does not get as far as the protocol.
type refusal struct {
	code int
	why  string // a word, for figures
	text string // for the person at the other end
	wait time.Duration
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch {
	case r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		_, _ = io.WriteString(w, "ok\n")
	case r.URL.Path == "/metrics" && r.Method == http.MethodGet:
		s.serveMetrics(w, r)
	default:
		s.serveRequest(w, r)
	}
}

func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	access := s.access.get(s)
	p, no := s.who(access, r)
	if no == nil && p == nil && access.anyone == nil {
		no = &refusal{code: http.StatusUnauthorized, why: "login", text: "a token is needed"}
	}
	if no != nil {
		s.refuse(w, r, "", no)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.metrics.write(w)
}

// serveRequest answers one message of the protocol.
func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	h, caller, no := s.admit(r)
	if no != nil {
		s.refuse(w, r, caller.Name, no)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		s.refuse(w, r, caller.Name, &refusal{http.StatusServiceUnavailable, "busy", "too many at once", time.Second})
		return
	}
	s.metrics.inFlight.Add(1)
	defer s.metrics.inFlight.Add(-1)
	w.Header().Set("Content-Type", sync.HTTPType)
	ctx, cancel := context.WithDeadline(sync.WithCaller(r.Context(), caller), began.Add(s.o.MaxTime))
	defer cancel()
	in, out := s.inTime(http.NewResponseController(w), began, r.Body, w)
	verb, err := sync.Respond(ctx, h, in, out, sync.Zstd, s.o.Limit)
	took := time.Since(began)
	s.metrics.request(verb.String(), result(err), took, in.n, out.n)
	s.o.Log.Info("request", "from", caller.From, "who", caller.Name, "repository", repositoryOf(r), "verb", verb.String(), "result", result(err),
		"in", in.n, "out", out.n, "ms", took.Milliseconds(), "error", said(err))
}

// deadlines are those of a connection.
type deadlines interface {
	SetReadDeadline(time.Time) error
	SetWriteDeadline(time.Time) error
}

// inTime gives the peer a while for each piece that it sends or takes, and so much in all. Once its request is read, nothing more is awaited
// of it: with the deadline of the last piece a reply that takes longer than that would be cut off, whatever the peer takes of it.
func (s *Server) inTime(c deadlines, began time.Time, r io.Reader, w io.Writer) (*timed, *timedWriter) {
	end := began.Add(s.o.MaxTime)
	until := func() time.Time {
		if at := time.Now().Add(s.o.Idle); at.Before(end) {
			return at
		}
		return end
	}
	return &timed{r: r, extend: func() { _ = c.SetReadDeadline(until()) }, ended: func() { _ = c.SetReadDeadline(end) }},
		&timedWriter{w: w, extend: func() { _ = c.SetWriteDeadline(until()) }}
}

// result says in a word how a request ended.
func result(err error) string {
	var refused *sync.RefusedError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &refused), errors.Is(err, sync.ErrMalformed), errors.Is(err, sync.ErrTooMuch):
		return "refused"
	}
	return "failed"
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return sync.Clean(err.Error())
}

// admit finds out who asks, whether they may, and what answers.
func (s *Server) admit(r *http.Request) (h sync.Handler, caller sync.Caller, no *refusal) {
	access := s.access.get(s)
	from := fromOf(r)
	caller.From = from
	p, no := s.who(access, r)
	if no != nil {
		return nil, caller, no
	}
	who := "@" + from
	if p != nil {
		who, caller.Name = p.Name, p.Name
	}
	if wait, ok := s.rate.take(who); !ok {
		return nil, caller, &refusal{http.StatusTooManyRequests, "rate", "too many requests", wait}
	}
	path, ok := strings.CutSuffix(r.URL.Path, sync.HTTPPath)
	if !ok || r.Method != http.MethodPost {
		return nil, caller, &refusal{http.StatusNotFound, "path", "there is nothing here: this is a server of oxy, for oxy clone", 0}
	}
	path = strings.TrimPrefix(path, "/")
	name := path
	if path == "" {
		name = s.o.Name
	} else if safepath.Check(path) != nil || safepath.CheckPortable(path) != nil {
		return nil, caller, noRepository()
	}
	// Before it is looked for: who may not read it shall not learn whether it is there.
	if !access.MayRead(p, name) {
		if p == nil {
			return nil, caller, &refusal{http.StatusUnauthorized, "login", "a token is needed", 0}
		}
		return nil, caller, &refusal{http.StatusForbidden, "rights", fmt.Sprintf("%s may not read this", safepath.Quote(p.Name)), 0}
	}
	h, err := s.o.Find(path)
	if err != nil {
		return nil, caller, noRepository()
	}
	return h, access.Caller(p, name, from), nil
}

func noRepository() *refusal {
	return &refusal{http.StatusNotFound, "path", "there is no repository here", 0}
}

// who finds whose secret was shown; nil, nil is that none was.
func (s *Server) who(access *Access, r *http.Request) (*Person, *refusal) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return nil, nil
	}
	from := fromOf(r)
	if s.wrong.empty(from) {
		return nil, &refusal{http.StatusTooManyRequests, "login", "too many wrong tokens", 2 * time.Second}
	}
	var p *Person
	if token, ok := strings.CutPrefix(header, "Bearer "); ok {
		p = access.Token(token)
	} else if name, secret, ok := r.BasicAuth(); ok {
		// A token may stand where a password does: most programs know no other way to show one.
		if p = access.Token(secret); p == nil {
			p = access.Token(name)
		}
		if p == nil && access.hasPasswords() {
			p = access.Password(name, secret)
		}
	}
	if p == nil {
		s.wrong.take(from)
		return nil, &refusal{http.StatusUnauthorized, "login", "the token or password is not one that is known here", 0}
	}
	return p, nil
}

func (s *Server) refuse(w http.ResponseWriter, r *http.Request, who string, no *refusal) {
	if no.code == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="oxy", charset="UTF-8"`)
	}
	if no.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(no.wait.Seconds()))))
	}
	http.Error(w, no.text, no.code)
	s.metrics.refuse(no.why)
	s.o.Log.Warn("refused", "from", fromOf(r), "who", who, "repository", repositoryOf(r), "code", no.code, "why", no.why)
}

// fromOf is the address that a request comes from, without its port. What a header says of it is not believed.
func fromOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// repositoryOf is the path of a request as a log may hold it: it is the peer's word.
func repositoryOf(r *http.Request) string {
	path := strings.TrimSuffix(r.URL.Path, sync.HTTPPath)
	return sync.Clean(path[:min(len(path), 200)])
}

// timed gives a slow peer some more time whenever something came.
type timed struct {
	r      io.Reader
	n      int64
	extend func()
	ended  func()
}

func (t *timed) Read(p []byte) (int, error) {
	t.extend()
	n, err := t.r.Read(p)
	if t.n += int64(n); err != nil {
		t.ended()
	}
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
