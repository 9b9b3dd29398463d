package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/bucket"
	"github.com/oxy-vcs/oxy/internal/s3"
)

// wayFault is what can happen to a request.
type wayFault int

const (
	wayNone   wayFault = iota
	wayBefore          // it never gets there
	wayAfter           // it is done, and the answer is lost
	wayBusy            // the store says to slow down
	wayBroken          // it is done, and the store says that something went wrong within
	wayCut             // it is done, and half of the answer's body is lost
	wayFaults
)

var errFault = errors.New("the way failed")

// shaky is a way to a store that fails where choose says so. choose is told which request it is, from 0.
type shaky struct {
	choose func(n int) wayFault

	mu   gosync.Mutex
	n    int
	seen []string
}

func (s *shaky) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	n := s.n
	s.n++
	s.seen = append(s.seen, r.Method+" "+r.URL.Path)
	f := s.choose(n)
	s.mu.Unlock()
	switch f {
	case wayBefore:
		return nil, errFault
	case wayBusy:
		return said(r, http.StatusServiceUnavailable, "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"), nil
	}
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || f == wayNone {
		return reply, err
	}
	body, err := io.ReadAll(reply.Body)
	if err := errors.Join(err, reply.Body.Close()); err != nil {
		return nil, err
	}
	switch f {
	case wayAfter:
		return nil, errFault
	case wayBroken:
		return said(r, http.StatusInternalServerError, ""), nil
	}
	reply.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:len(body)/2]), lostWay{}))
	return reply, nil
}

type lostWay struct{}

func (lostWay) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func said(r *http.Request, code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), ProtoMajor: 1, ProtoMinor: 1}
}

func bucketClient(t testing.TB, endpoint string, way http.RoundTripper) *s3.Client {
	t.Helper()
	c, err := s3.New(s3.Config{Bucket: "team", Endpoint: endpoint, Credentials: s3.NewCredentials("ada", "engine/no1", ""), Transport: way,
		Wait: func(int) time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// through gives a link to the bucket over a way.
func (s *site) through(endpoint string, way http.RoundTripper) *link {
	c := bucketClient(s.t, endpoint, way)
	remote := bucket.New(c, "project", localStates{s.Repo})
	return &link{Peer: remote.Dial(context.Background(), func() error { return nil }), name: Origin, shown: bucketAddress}
}

func (s *site) pushThrough(l *link, name string) (*PushResult, error) {
	refs, err := l.list(context.Background())
	if err != nil {
		return nil, err
	}
	p := &pushing{ctx: context.Background(), r: s.Repo, l: l, opt: SyncOptions{Bookmark: name}, refs: refs, res: &PushResult{}}
	if err := p.plan(); err != nil {
		return nil, err
	}
	if len(p.updates) > 0 {
		if err := p.send(); err != nil {
			return nil, err
		}
	}
	return p.res, p.settle()
}

func (s *site) pullThrough(l *link) error {
	if _, _, err := s.fetch(context.Background(), l, false, nil); err != nil {
		return err
	}
	return s.pullInto(context.Background(), &PullResult{Bookmark: "main"}, Origin)
}

// copyBucket makes a store with what another has.
func copyBucket(t *testing.T, from string) string {
	t.Helper()
	to := bucketServer(t, nil)
	ctx := context.Background()
	a, b := bucketClient(t, from, nil), bucketClient(t, to, nil)
	list, err := a.List(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		data, _, err := a.Whole(ctx, o.Key, 1<<20)
		if err == nil {
			_, err = b.Put(ctx, o.Key, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestBucketFaults has every request of a push, that merges packs too, of a pull and of a clone fail in every way: once, which is to be overcome, and
// from there on, which leaves both sides as they were, or done, and ready for another try.
func TestBucketFaults(t *testing.T) {
	url := bucketServer(t, nil)
	opt := bucketEnv(t, url)
	a := newSite(t, "a", opt)
	if err := a.AddRemote(Origin, bucketAddress, a.root); err != nil {
		t.Fatal(err)
	}
	a.put("code", "1\n2\n3\n")
	a.put("large", string(make([]byte, 20_000)))
	a.record("Begin")
	must(a.push())(t)
	b := cloneBucket(t, opt, "b")
	old := b.mainID()
	for i := range 6 {
		a.put("code", fmt.Sprintf("%d\n2\n3\n", i))
		a.record(fmt.Sprint("Change ", i))
		must(a.push())(t)
	}
	a.put("code", "1\n2\nthree\n")
	a.record("Three")

	for _, act := range []struct {
		name string
		do   func(s *site, l *link) error
		from *site
	}{
		{"push", func(s *site, l *link) error {
			res, err := s.pushThrough(l, "main")
			if err == nil && res.Refs[0].Refused != "" {
				return errors.New(res.Refs[0].Refused)
			}
			return err
		}, a},
		{"pull", func(s *site, l *link) error { return s.pullThrough(l) }, b},
	} {
		run := func(choose func(int) wayFault) (*site, string, *shaky, error) {
			way := &shaky{choose: choose}
			url, s := copyBucket(t, url), copyRepo(t, act.from.root, opt)
			l := s.through(url, way)
			err := act.do(s, l)
			return s, url, way, errors.Join(err, l.Close())
		}
		check := func(what string, s *site, url string, way *shaky) {
			t.Helper()
			// The other side sees all of it, or nothing; another try does it.
			seen := copyRepo(t, b.root, opt)
			l := seen.through(url, http.DefaultTransport)
			if err := errors.Join(seen.pullThrough(l), l.Close()); err != nil {
				t.Fatalf("%s: another reader: %v\n%s", what, err, strings.Join(way.seen, "\n"))
			}
			if id := seen.mainID(); act.name == "push" && id == old {
				t.Errorf("%s: the bookmark went back", what)
			}
			l = s.through(url, http.DefaultTransport)
			if err := errors.Join(act.do(s, l), l.Close()); err != nil {
				t.Fatalf("%s: another try: %v\n%s", what, err, strings.Join(way.seen, "\n"))
			}
			l = seen.through(url, http.DefaultTransport)
			if err := errors.Join(seen.pullThrough(l), l.Close()); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if act.name == "push" && seen.mainID() != a.mainID() || act.name == "pull" && s.mainID() != seen.mainID() {
				t.Errorf("%s: they do not agree", what)
			}
		}
		_, _, way, err := run(func(int) wayFault { return wayNone })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d requests:\n%s", act.name, way.n, strings.Join(way.seen, "\n"))
		for n := range way.n {
			for f := wayBefore; f < wayFaults; f++ {
				what := fmt.Sprintf("%s, fault %d at request %d", act.name, f, n)
				s, url, way, err := run(func(i int) wayFault {
					if i == n {
						return f
					}
					return wayNone
				})
				if err != nil {
					t.Errorf("%s: %v\n%s", what, err, strings.Join(way.seen, "\n"))
				}
				if f != wayBefore {
					continue
				}
				check(what, s, url, way)
			}
			for _, f := range []wayFault{wayBefore, wayAfter} {
				s, url, way, err := run(func(i int) wayFault {
					if i >= n {
						return f
					}
					return wayNone
				})
				what := fmt.Sprintf("%s, fault %d from request %d on (%v)", act.name, f, n, err)
				check(what, s, url, way)
			}
		}
	}
}

// TestManyBucketPushers: sixteen push to one bookmark, and each to one of its own, over ways that fail now and then in every manner. At the end each change is
// there once.
func TestManyBucketPushers(t *testing.T) {
	const clients, changes = 16, 2
	url := bucketServer(t, nil)
	opt := bucketEnv(t, url)
	a := newSite(t, "a", opt)
	if err := a.AddRemote(Origin, bucketAddress, a.root); err != nil {
		t.Fatal(err)
	}
	a.put("begin", "begin\n")
	a.record("Begin")
	must(a.push())(t)
	dir := t.TempDir()
	var all []*site
	for i := range clients {
		r, _, err := Clone(context.Background(), bucketAddress, filepath.Join(dir, fmt.Sprint(i)), opt, SyncOptions{})
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
			rnd := rand.New(rand.NewPCG(7, uint64(i)))
			way := &shaky{choose: func(int) wayFault {
				if rnd.IntN(8) > 0 {
					return wayNone
				}
				return wayFault(rnd.IntN(int(wayFaults)))
			}}
			push := func(name string) error {
				for try := 0; try < 300; try++ {
					l := c.through(url, way)
					res, err := c.pushThrough(l, name)
					if err := errors.Join(err, l.Close()); err != nil {
						return err
					}
					if res.Refs[0].Refused == "" {
						return nil
					}
					if !res.Refs[0].Pull {
						return errors.New(res.Refs[0].Refused)
					}
					mu.Lock()
					lost++
					mu.Unlock()
					l = c.through(url, way)
					if err := errors.Join(c.pullThrough(l), l.Close()); err != nil {
						return err
					}
				}
				return errors.New("300 tries")
			}
			for k := range changes {
				c.put(fmt.Sprintf("file%d", i), fmt.Sprintf("%d\n", k))
				if _, err := c.Commit(context.Background(), CommitOptions{Message: fmt.Sprintf("%d %d", i, k)}); err != nil {
					t.Error(err)
					return
				}
				if err := push("main"); err != nil {
					t.Errorf("client %d: %v", i, err)
					return
				}
			}
			own := fmt.Sprintf("own/%d", i)
			if err := c.SetBookmark(own, must(c.ResolveState("main"))(t), false); err != nil {
				t.Error(err)
				return
			}
			if err := push(own); err != nil {
				t.Errorf("client %d, its own: %v", i, err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d pushes lost a race", lost)
	last := cloneBucket(t, opt, "last")
	if s := must(last.ResolveState("main"))(t); s.Len != 1+clients*changes {
		t.Errorf("main has %d changes", s.Len)
	}
	for i, c := range all {
		for k := range changes {
			want := fmt.Sprintf("%d\n", k)
			if k == changes-1 && last.read(fmt.Sprintf("file%d", i)) != want {
				t.Errorf("file%d is not what was pushed last", i)
			}
		}
		if _, err := last.ResolveState(fmt.Sprintf("origin/own/%d", i)); err != nil {
			t.Error(err)
		}
		c.pull()
		c.same(last)
	}
	last.sound()
}
