package repo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/serve"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// served serves a repository over http until the test ends.
func served(t *testing.T, r *site, opt Options, o serve.Options) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(r.root, ServeOptions{Options: opt, Gather: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	if o.Limit == 0 {
		o.Limit = 1 << 30
	}
	o.Find = func(path string) (sync.Handler, error) {
		if path != "" {
			return nil, fs.ErrNotExist
		}
		return s, nil
	}
	server, err := serve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// TestManyPushers: clients push to one bookmark side by side until each has its changes in. Losers are told to pull; at the end
// the bookmark has every change once.
func TestManyPushers(t *testing.T) {
	const clients, changes = 6, 4
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.put("begin", "begin\n")
	a.record("Begin")
	url := served(t, a, opt, serve.Options{})
	var all []*site
	for i := range clients {
		r, _, err := Clone(context.Background(), url, fmt.Sprintf("%s/c%d", t.TempDir(), i), opt, SyncOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		all = append(all, &site{t, r})
	}
	var wg gosync.WaitGroup
	var mu gosync.Mutex
	lost := 0
	for i, c := range all {
		wg.Go(func() {
			for k := range changes {
				c.put(fmt.Sprintf("file%d", i), fmt.Sprintf("%d\n", k))
				if _, err := c.Commit(context.Background(), CommitOptions{Message: fmt.Sprintf("%d %d", i, k)}); err != nil {
					t.Error(err)
					return
				}
				for try := 0; ; try++ {
					res, err := c.push()
					if err != nil || try > 200 {
						t.Errorf("client %d: %v after %d tries", i, err, try)
						return
					}
					if res.Refs[0].Refused == "" {
						break
					}
					if !res.Refs[0].Pull {
						t.Errorf("client %d: %s", i, res.Refs[0].Refused)
						return
					}
					mu.Lock()
					lost++
					mu.Unlock()
					if _, err := c.Pull(context.Background(), SyncOptions{}); err != nil {
						t.Errorf("client %d: %v", i, err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d pushes lost a race", lost)
	if err := a.store.Refresh(); err != nil {
		t.Fatal(err)
	}
	s, err := a.ResolveState("main")
	if err != nil || s.Len != 1+clients*changes {
		t.Errorf("main has %d changes, %v", s.Len, err)
	}
	for _, c := range all {
		c.pull()
		c.same(a)
	}
}

func TestServerRefuses(t *testing.T) {
	opt := syncEnv(t)
	ctx := context.Background()
	a := newSite(t, "a", opt)
	a.put("f", "f\n")
	a.record("Begin")
	url := served(t, a, opt, serve.Options{Access: serve.OneToken("sesame"), Limit: 20_000, Clients: 2})
	if _, _, err := Clone(ctx, url, t.TempDir()+"/x", opt, SyncOptions{}); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("%v", err)
	}
	opt.Env = withToken(opt.Env, "sesame")
	r, _, err := Clone(ctx, strings.Replace(url, "http://", "http://ada:sesame@", 1), t.TempDir()+"/y", opt, SyncOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := &site{t, r}
	for _, m := range must(b.Remotes())(t) {
		if strings.Contains(m.Address, "sesame") {
			t.Errorf("%s", m.Address)
		}
	}
	big := make([]byte, 100_000)
	for i := range big {
		big[i] = byte(i * i >> 5)
	}
	b.put("big", string(big))
	b.record("Big")
	if _, err := b.push(); err == nil || !strings.Contains(err.Error(), "more than is taken at once") {
		t.Errorf("%v", err)
	}
	a.sound()
	if names, err := a.fs.ReadDir(a.dir + "/incoming"); err == nil && len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
	// What is no request is answered, and the server goes on.
	for _, body := range []string{"", "GET / HTTP/1.0", "oxysync1\x01 and then nothing", strings.Repeat("x", 50_000)} {
		req, _ := http.NewRequest(http.MethodPost, url+"/oxy/v1", bytes.NewReader([]byte(body)))
		req.Header.Set("Authorization", "Bearer sesame")
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Errorf("%q: %v", body[:min(len(body), 20)], err)
			continue
		}
		_, _ = io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
	}
	// A client that says nothing more holds a place, not the server.
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /oxy/v1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sesame\r\nContent-Length: 1000\r\n\r\noxysync1")
	if res := b.pull(); res == nil {
		t.Error("no answer beside a slow client")
	}
}

func withToken(env func(string) string, token string) func(string) string {
	return func(k string) string {
		if k == "OXY_TOKEN" {
			return token
		}
		return env(k)
	}
}
