package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/sync"
)

func get(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(header) > 0 {
		r.Header.Set("Authorization", header[0])
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	b, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(b)
}

// TestWhoComesIn: what is shown decides, and the answer to a wrong secret tells nothing of what there is.
func TestWhoComesIn(t *testing.T) {
	token, kept := NewToken()
	password, _ := KeptPassword("correct horse")
	file := filepath.Join(t.TempDir(), "access.toml")
	text := fmt.Sprintf("[people.ada]\ntokens=[%q]\nread=[\"*\"]\n[people.bob]\npassword=%q\nread=[\"team/*\"]\n", kept, password)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at, log := start(t, Options{AccessFile: file, Name: "root"})
	url := "http://" + at
	for _, c := range []struct {
		path   string
		secret sync.Secret
		code   int
	}{
		{"", sync.Secret{Token: token}, 0},
		{"", sync.Secret{User: "ada", Password: token}, 0},
		{"", sync.Secret{User: token}, 0},
		{"", sync.Secret{}, 401},
		{"", sync.Secret{Token: "oxy_wrong"}, 401},
		{"/team/project", sync.Secret{User: "bob", Password: "correct horse"}, 0},
		{"", sync.Secret{User: "bob", Password: "correct horse"}, 403},
		{"/not/there", sync.Secret{User: "bob", Password: "correct horse"}, 403},
		{"/team/other", sync.Secret{User: "bob", Password: "correct horse"}, 404},
		{"/team/project", sync.Secret{User: "bob", Password: "wrong horse"}, 401},
		{"/not/there", sync.Secret{}, 401},
	} {
		err := list(t, url+c.path, sync.HTTPClient{Secret: c.secret})
		status, _ := errors.AsType[*sync.StatusError](err)
		if got := codeOf(status); got != c.code || (err == nil) != (c.code == 0) {
			t.Errorf("%s with %+v: %v", c.path, c.secret, err)
		}
	}
	if code, _ := get(t, url+"/metrics"); code != 401 {
		t.Errorf("figures for everybody: %d", code)
	}
	code, figures := get(t, url+"/metrics", "Bearer "+token)
	for _, want := range []string{`oxy_requests_total{verb="list",result="ok"} 4`, `oxy_refused_total{why="login"}`, `oxy_refused_total{why="path"} 1`, `oxy_refused_total{why="rights"} 2`,
		"oxy_request_seconds_count 4", "oxy_heap_bytes "} {
		if !strings.Contains(figures, want) {
			t.Errorf("%d: no %s in\n%s", code, want, figures)
		}
	}
	// Whoever tries secrets is slowed down, whatever they show then.
	slowed := false
	for i := range 2 * wrongBurst {
		code, _ := get(t, url+"/metrics", fmt.Sprint("Bearer guess", i))
		slowed = slowed || code == http.StatusTooManyRequests
	}
	if code, _ := get(t, url+"/metrics", "Bearer "+token); !slowed || code != http.StatusTooManyRequests {
		t.Errorf("guessing goes on: %d", code)
	}
	for _, secret := range []string{token, "correct", "horse", "oxy_wrong", "guess1", password, strings.TrimPrefix(kept, hashPrefix)} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	for _, want := range []string{"who=ada", "who=bob", "repository=/team/project", "verb=list", "why=login"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in the log:\n%s", want, log)
		}
	}
}

func codeOf(e *sync.StatusError) int {
	if e == nil {
		return 0
	}
	return e.Code
}

// TestAccessIsReadAnew: who is taken out of the file is out with the next request; a file that cannot be used changes nothing.
func TestAccessIsReadAnew(t *testing.T) {
	token, kept := NewToken()
	other, keptOther := NewToken()
	file := filepath.Join(t.TempDir(), "access.toml")
	write := func(kept string) {
		t.Helper()
		// Beside, and moved there, as an editor does: the file's number tells what a clock may not.
		if err := errors.Join(os.WriteFile(file+".new", []byte("[people.ada]\ntokens=[\""+kept+"\"]\nread=[\"*\"]\n"), 0o600), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
	}
	write(kept)
	at, log := start(t, Options{AccessFile: file})
	try := func(token string) bool {
		return list(t, "http://"+at, sync.HTTPClient{Secret: sync.Secret{Token: token}}) == nil
	}
	if !try(token) || try(other) {
		t.Error("before")
	}
	write(keptOther)
	if try(token) || !try(other) {
		t.Error("after")
	}
	write("nonsense")
	if !try(other) || try(token) {
		t.Error("what cannot be used")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if !try(other) {
		t.Error("without the file")
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 2 {
		t.Errorf("%d errors were told:\n%s", n, log)
	}
}

// TestPathChosenByThePeer: whatever path is asked for, nothing that was not found by its plain name answers.
func TestPathChosenByThePeer(t *testing.T) {
	var asked []string
	at, _ := start(t, Options{Find: func(path string) (sync.Handler, error) {
		asked = append(asked, path)
		return answering{}, nil
	}})
	for _, path := range []string{"/../x", "/a/../../x", "/%2e%2e/x", "/a/%2e%2e%2fx", "//x", "/a//b", "/.oxy", "/a/.oxy/x", "/.OXY", "/oxy~1", "/a\\b", "/C:/x", "/a/./b", "/x%00", "/x%0a", "/CON\x00", "/.git"} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s/oxy/v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", path)
		reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && reply.StatusCode == http.StatusOK {
			t.Errorf("%q: %s", path, reply.Status)
		}
		conn.Close()
	}
	if len(asked) > 0 {
		t.Errorf("asked for: %q", asked)
	}
}

// TestSlowPeer: one that stops sending is dropped after a while, one that never ends after a longer one, and both leave their place.
func TestSlowPeer(t *testing.T) {
	at, log := start(t, Options{Idle: 30 * time.Millisecond, MaxTime: 150 * time.Millisecond, Clients: 1})
	for _, drip := range []bool{false, true} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /oxy/v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\noxysync1")
		stop := make(chan struct{})
		go func() {
			for drip {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := conn.Write([]byte{0}); err != nil {
					return
				}
			}
		}()
		if !drip {
			_, _ = io.Copy(io.Discard, conn) // until the server lets go
		}
		if err := list(t, "http://"+at, sync.HTTPClient{}); err != nil { // it waits for its place
			t.Errorf("%v", err)
		}
		close(stop)
		conn.Close()
	}
	if strings.Count(log.String(), "verb=list") != 2 {
		t.Errorf("%s", log)
	}
}

// TestEndlessStream: a request that does not end is refused at the bound, with words, whatever it is compressed to.
func TestEndlessStream(t *testing.T) {
	at, _ := start(t, Options{Limit: 100_000})
	a, err := sync.ParseAddress("http://" + at)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sync.DialHTTP(a, sync.HTTPClient{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	err = p.Do(context.Background(), func(w *sync.Writer) error {
		q := &sync.Request{Verb: sync.Fetch}
		for range 1 << 16 {
			q.Haves = append(q.Haves, [32]byte{1})
		}
		return w.Request(q)
	}, func(in *sync.Reader) error { return in.Reply() })
	if err == nil || !strings.Contains(err.Error(), "more than is taken at once") {
		t.Errorf("%v", err)
	}
}

// TestBusy: who comes while all places are taken is told so and comes again by itself; so is who asks too often.
func TestBusy(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	at, log := start(t, Options{Clients: 1, Find: func(string) (sync.Handler, error) {
		return answering{func(context.Context, *sync.Request) error {
			select {
			case held <- struct{}{}:
				<-hold
			default:
			}
			return nil
		}}, nil
	}})
	first := make(chan error, 1)
	go func() { first <- list(t, "http://"+at, sync.HTTPClient{}) }()
	<-held
	second := make(chan error, 1)
	go func() { second <- list(t, "http://"+at, sync.HTTPClient{}) }()
	for !strings.Contains(log.String(), "why=busy") {
		time.Sleep(time.Millisecond)
	}
	close(hold)
	if err := errors.Join(<-first, <-second); err != nil {
		t.Error(err)
	}
	// One request at once, and another in a thousand seconds.
	at, log = start(t, Options{Rate: 0.001})
	for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		reply, err := http.Post("http://"+at+sync.HTTPPath, sync.HTTPType, strings.NewReader("no request, but one all the same"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if reply.StatusCode != want || i == 1 && reply.Header.Get("Retry-After") == "" {
			t.Errorf("%d: %d, to come again after %q", i, reply.StatusCode, reply.Header.Get("Retry-After"))
		}
	}
	if !strings.Contains(log.String(), "why=rate") {
		t.Error("nobody was told to wait")
	}
}

// TestRedirects: a server may move within its host; what is secret goes to no other.
func TestRedirects(t *testing.T) {
	shown := ""
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { shown += r.Header.Get("Authorization") + "?" }))
	defer other.Close()
	at, _ := start(t, Options{})
	to := ""
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/new") {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	secret := sync.HTTPClient{Secret: sync.Secret{Token: "sesame"}}
	for _, to = range []string{other.URL + "/oxy/v1", "http://" + at + "/oxy/v1", "//" + strings.TrimPrefix(other.URL, "http://") + "/oxy/v1", "https://" + strings.TrimPrefix(first.URL, "http://") + "/oxy/v1", "http://ada@127.0.0.1:1/", "file:///etc/passwd", ":"} {
		err := list(t, first.URL, secret)
		if err == nil {
			t.Errorf("%s was followed", to)
		}
		if moved, ok := errors.AsType[*sync.MovedError](err); ok && strings.Contains(moved.To, "@") {
			t.Errorf("%v", moved)
		}
	}
	if shown != "" {
		t.Errorf("another host was asked, and shown %q", shown)
	}
	to = "/new/oxy/v1"
	if status, _ := errors.AsType[*sync.StatusError](list(t, first.URL, secret)); codeOf(status) != http.StatusTeapot {
		t.Error("within the host it was not followed")
	}
	to = "/oxy/v1" // to itself, for ever
	if status, _ := errors.AsType[*sync.StatusError](list(t, first.URL, secret)); codeOf(status) != http.StatusTemporaryRedirect {
		t.Error("a ring of redirects")
	}
}

// TestCertificates: what is wrong with one is told clearly, and one that is replaced is used at once.
func TestCertificates(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		names       []string
		from, until time.Time
		trust       bool
		why         string
	}{
		{[]string{"127.0.0.1"}, now.Add(-time.Hour), now.Add(time.Hour), true, ""},
		{[]string{"127.0.0.1"}, now.Add(-time.Hour), now.Add(time.Hour), false, "nobody whom this machine trusts"},
		{[]string{"example.org"}, now.Add(-time.Hour), now.Add(time.Hour), true, "is for example.org, not for 127.0.0.1"},
		{[]string{"127.0.0.1"}, now.Add(-48 * time.Hour), now.Add(-24 * time.Hour), true, "its certificate ended on"},
		{[]string{"127.0.0.1"}, now.Add(24 * time.Hour), now.Add(48 * time.Hour), true, "begins on"},
	} {
		cert, key := certify(t, t.TempDir(), c.names, c.from, c.until)
		at, _ := start(t, Options{Cert: cert, Key: key})
		var o sync.HTTPClient
		if c.trust {
			o.Roots, _ = os.ReadFile(cert)
		}
		err := list(t, "https://"+at, o)
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v: %v", c, err)
		}
		if bad, ok := errors.AsType[*sync.CertificateError](err); c.why != "" && (!ok || bad.Next == "") {
			t.Errorf("%v: no word on what to do", err)
		}
	}
	plain, _ := start(t, Options{})
	if err := list(t, "https://"+plain, sync.HTTPClient{}); err == nil || !strings.Contains(err.Error(), "speaks http there") {
		t.Errorf("%v", err)
	}

	dir := t.TempDir()
	cert, key := certify(t, dir, []string{"127.0.0.1"}, now.Add(-time.Hour), now.Add(time.Hour))
	old, _ := os.ReadFile(cert)
	at, log := start(t, Options{Cert: cert, Key: key})
	if err := list(t, "https://"+at, sync.HTTPClient{Roots: old}); err != nil {
		t.Fatal(err)
	}
	certify(t, dir, []string{"127.0.0.1"}, now.Add(-time.Hour), now.Add(2*time.Hour))
	next, _ := os.ReadFile(cert)
	if err := list(t, "https://"+at, sync.HTTPClient{Roots: next}); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	if err := list(t, "https://"+at, sync.HTTPClient{Roots: old}); err == nil {
		t.Error("the old certificate is still shown")
	}
	if err := os.WriteFile(cert, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := list(t, "https://"+at, sync.HTTPClient{Roots: next}); err != nil {
		t.Error("a certificate half written ended the service")
	}
}

// TestStopsGently: what is under way when the server ends comes to its end, and nothing new is taken.
func TestStopsGently(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	s, err := New(Options{Log: quiet(), Limit: 1 << 20, Find: func(string) (sync.Handler, error) {
		return answering{func(context.Context, *sync.Request) error {
			close(held)
			<-hold
			return nil
		}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done, asked := make(chan error, 1), make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	go func() { asked <- list(t, "http://"+l.Addr().String(), sync.HTTPClient{}) }()
	<-held
	stop()
	for { // until it listens no more
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	close(hold)
	if err := <-asked; err != nil {
		t.Errorf("what was under way: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
