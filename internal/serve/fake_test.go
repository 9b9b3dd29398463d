package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	gosync "sync"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// answering is a handler that lists one name, or does what a test says.
type answering struct {
	do func(ctx context.Context, q *sync.Request) error
}

func (h answering) Handle(ctx context.Context, in *sync.Reader, out *sync.Writer) error {
	q, err := in.Request()
	if err != nil {
		return err
	}
	if h.do != nil {
		if err := h.do(ctx, q); err != nil {
			return err
		}
	}
	if err := out.Reply(); err != nil {
		return err
	}
	return out.Ref(sync.Ref{Kind: sync.Bookmark, Name: "main"})
}

// lines is a log that a test reads.
type lines struct {
	mu gosync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start serves until the test ends, and gives where.
func start(t *testing.T, o Options) (address string, log *lines) {
	t.Helper()
	log = &lines{}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	if o.Find == nil {
		o.Find = func(path string) (sync.Handler, error) {
			if path != "" && path != "team/project" {
				return nil, errors.New("none")
			}
			return answering{}, nil
		}
	}
	if o.Limit == 0 {
		o.Limit = 1 << 20
	}
	o.FS = vfs.OS()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), log
}

// list asks a server for its names.
func list(t *testing.T, address string, o sync.HTTPClient) error {
	t.Helper()
	a, err := sync.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	p, err := sync.DialHTTP(a, o)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Do(context.Background(), func(w *sync.Writer) error { return w.Request(&sync.Request{Verb: sync.List}) }, func(in *sync.Reader) error {
		if err := in.Reply(); err != nil {
			return err
		}
		refs, err := in.Refs()
		if err == nil && len(refs) != 1 {
			err = errors.New("another list")
		}
		return err
	})
}

// certify writes a certificate that vouches for itself, and its key.
func certify(t *testing.T, dir string, names []string, from, until time.Time) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tpl := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			tpl.IPAddresses = append(tpl.IPAddresses, ip)
		} else {
			tpl.DNSNames = append(tpl.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, tpl, tpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	der8, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: der8}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
