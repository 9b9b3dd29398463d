package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/serve"
)

// network is a wire between clients and a server, with one fault on it at most. What passes is counted for each way over all
// connections; a burst is what passes one way until something passes the other: a message, or its beginning and its answer.
type network struct {
	t      *testing.T
	target string
	url    string

	mu     gosync.Mutex
	seen   [2]int64 // to the server, and back
	last   int      // the way that something passed last
	bursts []burst
	bytes  [2][]byte // all that passed, of a network that remembers
	rec    bool
	fault  wireFault
	conns  map[net.Conn]bool
}

type burst struct {
	way      int
	from, to int64
}

// wireFault is what happens to the byte at a place.
type wireFault struct {
	how  string // cut, spoil, hold; "" nothing
	way  int
	at   int64
	held chan struct{} // closed when it got there
	go_  chan struct{} // closed to let it pass
}

// wire puts a network before a server.
func wire(t *testing.T, url string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{t: t, target: strings.TrimPrefix(url, "http://"), url: "http://" + l.Addr().String(), last: -1, conns: map[net.Conn]bool{}}
	var wg gosync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { n.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		n.mu.Lock()
		for c := range n.conns {
			c.Close()
		}
		n.mu.Unlock()
		wg.Wait()
	})
	return n
}

// begin counts anew, with another fault.
func (n *network) begin(f wireFault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.seen, n.last, n.bursts, n.fault, n.bytes = [2]int64{}, -1, nil, f, [2][]byte{}
}

func (n *network) carry(c net.Conn) {
	s, err := net.Dial("tcp", n.target)
	if err != nil {
		c.Close()
		return
	}
	n.mu.Lock()
	n.conns[c], n.conns[s] = true, true
	n.mu.Unlock()
	end := func() {
		c.Close()
		s.Close()
		n.mu.Lock()
		delete(n.conns, c)
		delete(n.conns, s)
		n.mu.Unlock()
	}
	var wg gosync.WaitGroup
	for way, ends := range [2][2]net.Conn{{c, s}, {s, c}} {
		wg.Go(func() {
			defer end()
			buf := make([]byte, 4096)
			for {
				k, err := ends[0].Read(buf)
				b, cut := n.pass(way, buf[:k])
				if _, failed := ends[1].Write(b); failed != nil || cut || err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
}

// pass counts bytes, and does to them what the fault says.
func (n *network) pass(way int, b []byte) (out []byte, cut bool) {
	if len(b) == 0 {
		return nil, false
	}
	n.mu.Lock()
	from := n.seen[way]
	n.seen[way] += int64(len(b))
	if n.last != way {
		n.last = way
		n.bursts = append(n.bursts, burst{way: way, from: from})
	}
	n.bursts[len(n.bursts)-1].to = n.seen[way]
	if n.rec {
		n.bytes[way] = append(n.bytes[way], b...)
	}
	f := n.fault
	n.mu.Unlock()
	if f.how == "" || f.way != way || f.at < from || f.at >= from+int64(len(b)) {
		return b, false
	}
	switch f.how {
	case "cut":
		return b[:f.at-from], true
	case "spoil":
		b[f.at-from] ^= 0x20
	case "hold":
		close(f.held)
		<-f.go_
	}
	return b, false
}

// session is a server, the network before it, and a client.
type session struct {
	*network
	server, client *site
}

func (s *session) check(name string, was, is [2][32]byte) {
	s.t.Helper()
	for i, x := range []*site{s.server, s.client} {
		if id := x.mainID(); id != was[i] && id != is[i] {
			s.t.Errorf("%s: %s is something else", name, [2]string{"the server", "the client"}[i])
		}
	}
}

// TestNetworkFaults puts a fault into every message of a clone, a pull and a push over http: it is cut at its beginning, in the middle
// and before its end; a byte of its head and one of its middle are altered. Each side is as it was or has all, both are sound, and
// the same command once more does it.
func TestNetworkFaults(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.put("code", "1\n2\n3\n4\n5\n")
	a.put("large", strings.Repeat("all work and no play\n", 3000))
	a.record("Begin")
	b := a.clone(opt)
	a.put("code", "1\n2\n3\n4\nfive\n")
	a.put("large", strings.Repeat("no play and all work\n", 3000))
	a.record("Five")
	b.put("code", "one\n2\n3\n4\n5\n")
	b.record("One")
	p := a.clone(opt)
	p.put("code", "one\n2\n3\n4\nfive\n")
	p.put("other", strings.Repeat("neither\n", 2000))
	p.record("Both")

	ctx := context.Background()
	for _, act := range []struct {
		name   string
		client *site
		do     func(s *session) error
	}{
		{"clone", nil, func(s *session) error {
			dir := filepath.Join(t.TempDir(), "clone")
			r, _, err := Clone(ctx, s.url, dir, opt, SyncOptions{})
			if err != nil {
				if _, there := os.Lstat(dir); there == nil {
					if _, err := os.Lstat(filepath.Join(dir, DirName, string(unfinishedClone))); err != nil {
						return fmt.Errorf("half a clone was left: %w", err)
					}
				}
				return err
			}
			s.client = &site{t, r}
			t.Cleanup(func() { r.Close() })
			return nil
		}},
		{"pull", b, func(s *session) error {
			_, err := s.client.Pull(ctx, SyncOptions{})
			return err
		}},
		{"push", p, func(s *session) error {
			res, err := s.client.Push(ctx, SyncOptions{})
			if err == nil && res.Refs[0].Refused != "" {
				err = errors.New(res.Refs[0].Refused)
			}
			return err
		}},
	} {
		begin := func() *session {
			s := &session{server: copyRepo(t, a.root, opt)}
			s.network = wire(t, served(t, s.server, opt, serve.Options{Idle: time.Second}))
			if act.client != nil {
				s.client = copyRepo(t, act.client.root, opt)
				s.client.settings = nil
				if err := s.client.ConfigSet("remote.origin.url", s.url, false); err != nil {
					t.Fatal(err)
				}
			}
			return s
		}
		plain := begin()
		was := [2][32]byte{plain.server.mainID()}
		if act.client != nil {
			was[1] = plain.client.mainID()
		}
		if err := act.do(plain); err != nil {
			t.Fatalf("%s: %v", act.name, err)
		}
		is := [2][32]byte{plain.server.mainID(), plain.client.mainID()}
		bursts := plain.bursts
		if len(bursts) < 4 {
			t.Fatalf("%s: only %d messages", act.name, len(bursts))
		}
		faults := 0
		for i, m := range bursts {
			size := m.to - m.from
			for k, f := range []wireFault{{how: "cut", at: m.from}, {how: "cut", at: m.from + size/2}, {how: "cut", at: m.to - 1},
				{how: "spoil", at: m.from + 1}, {how: "spoil", at: m.from + 9*size/10}} {
				f.way = m.way
				name := fmt.Sprintf("%s/message%d/%s%d", act.name, i, f.how, k)
				s := begin()
				s.network.begin(f)
				err := act.do(s)
				if s.client != nil {
					s.check(name, was, is)
				}
				if err != nil && strings.Contains(err.Error(), "half a clone") {
					t.Errorf("%s: %v", name, err)
				}
				s.network.begin(wireFault{})
				if again := act.do(s); again != nil {
					t.Errorf("%s: %v, and again: %v", name, err, again)
					continue
				}
				if s.server.mainID() != is[0] || s.client.mainID() != is[1] {
					t.Errorf("%s: again: it is something else", name)
				}
				if k == i%5 {
					s.server.sound()
					s.client.sound()
				}
				faults++
			}
		}
		t.Logf("%s: %d messages, %d faults", act.name, len(bursts), faults)
	}
}

// TestDelayedMessages holds each message of a push back until another client's push is through, which so overtakes it: the server
// waits for nobody on the wire while it serves others, one of both is told to pull, and nothing is lost. Then the whole of the first
// push is sent again as it went over the wire, which changes nothing.
func TestDelayedMessages(t *testing.T) {
	opt := syncEnv(t)
	a := newSite(t, "a", opt)
	a.record2("Begin")
	ctx := context.Background()
	var plainBursts []burst // of a push without a fault
	for i := 0; ; i++ {
		server := copyRepo(t, a.root, opt)
		url := served(t, server, opt, serve.Options{})
		clone := func(url, who string) *site {
			t.Helper()
			r, _, err := Clone(ctx, url, filepath.Join(t.TempDir(), who), opt, SyncOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close() })
			s := &site{t, r}
			s.record2(who)
			return s
		}
		n := wire(t, url)
		slow, fast := clone(n.url, "Slow"), clone(url, "Fast")
		n.rec = true
		n.begin(wireFault{})
		if i > 0 {
			// Where the messages lie is as in the push before: the ids are others, and their sizes the same or nearly.
			f := wireFault{how: "hold", held: make(chan struct{}), go_: make(chan struct{})}
			f.way, f.at = plainBursts[i-1].way, plainBursts[i-1].from
			n.begin(f)
			done := make(chan string, 1)
			go func() { done <- slow.refusedPush(SyncOptions{}) }()
			<-f.held
			why := fast.refusedPush(SyncOptions{})
			close(f.go_)
			late := <-done
			if (why == "") == (late == "") {
				t.Errorf("message %d: fast %q, slow %q", i-1, why, late)
			}
		} else {
			if why := slow.refusedPush(SyncOptions{}); why != "" {
				t.Fatal(why)
			}
			plainBursts = n.bursts
			if why := fast.refusedPush(SyncOptions{}); why == "" {
				t.Fatal("both got through")
			}
		}
		sent := n.bytes[0]
		for _, s := range []*site{slow, fast} {
			if why := s.refusedPush(SyncOptions{}); why != "" {
				s.pull()
				if why := s.refusedPush(SyncOptions{}); why != "" {
					t.Error(why)
				}
			}
		}
		id := server.mainID()
		if ref := must(server.ResolveState("main"))(t); ref.Len != 3 {
			t.Errorf("message %d: main has %d changes", i-1, ref.Len)
		}
		replay(t, n.target, sent)
		if server.mainID() != id {
			t.Errorf("message %d: a replayed push did something", i-1)
		}
		server.sound()
		if i == len(plainBursts) {
			break
		}
	}
}

// replay sends bytes to a server, and waits until it has answered all of it.
func replay(t *testing.T, target string, b []byte) {
	t.Helper()
	c, err := net.Dial("tcp", target)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Log(err) // it may well be tired of it
	}
}
