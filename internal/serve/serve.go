// Package serve is the side of http that answers: who may come in, how much of it at once, and what is logged and counted. It knows
// no repository: it is told how to find what answers for one. docs/server.md is its page for whoever runs it.
package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Bounds in time. A peer that sends or takes nothing for Idle is dropped; one that does so slowly, after MaxTime.
const (
	headerTime = 10 * time.Second
	Idle       = time.Minute
	MaxTime    = time.Hour
	Grace      = 10 * time.Second
	Clients    = 64
	// A wrong secret costs the server 60 ms; ten may be wrong at once, then one in two seconds.
	wrongEach  = 0.5
	wrongBurst = 10
	maxHeader  = 16 << 10
)

// Options say how to serve. What is zero is as the constants say; a rate of zero is none.
type Options struct {
	// Find gives what answers for the repository at a path of the address, "" for the root. It may be asked anything: what comes is
	// the peer's word. An error is that there is none.
	Find func(path string) (sync.Handler, error)
	// Name is what rights call the repository at the root.
	Name    string
	Access  *Access // nil: everybody may do everything
	Limit   int64   // bytes of one request, once decompressed
	Clients int     // requests at once; others are told to come back
	Rate    float64 // requests a second of one caller, with as many at once as ten seconds bring
	Idle    time.Duration
	MaxTime time.Duration // of one request
	Grace   time.Duration // for what is under way when it ends
	Log     *slog.Logger

	FS         vfs.FS
	AccessFile string          // read anew when it changes; Access is then what it says
	Cert, Key  string          // files of PEM; both or neither
	Reload     <-chan struct{} // reads all files anew; nil: never asked for
}

// Server answers on listeners.
type Server struct {
	o       Options
	slots   chan struct{}
	rate    *rate
	wrong   *rate // secrets, by where they come from
	metrics *metrics
	cert    *certificate
	access  *accessSource
}

// New reads the files that the options name.
func New(o Options) (*Server, error) {
	if o.Clients <= 0 {
		o.Clients = Clients
	}
	if o.Idle <= 0 {
		o.Idle = Idle
	}
	if o.MaxTime <= 0 {
		o.MaxTime = MaxTime
	}
	if o.Grace <= 0 {
		o.Grace = Grace
	}
	s := &Server{o: o, slots: make(chan struct{}, o.Clients), rate: newRate(o.Rate, 10*o.Rate, time.Now),
		wrong: newRate(wrongEach, wrongBurst, time.Now), metrics: newMetrics(time.Now())}
	var err error
	if s.access, err = newAccessSource(&o); err != nil {
		return nil, err
	}
	if o.Cert != "" {
		if s.cert, err = newCertificate(o.FS, o.Cert, o.Key); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Serve answers until ctx is done, then lets what is under way end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: http.HandlerFunc(s.handle), ReadHeaderTimeout: headerTime, IdleTimeout: s.o.Idle, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn)}
	if s.cert != nil {
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			s.reloadCertificate(false)
			return s.cert.get(), nil
		}}
	}
	failed := make(chan error, 1)
	go func() {
		if s.cert != nil {
			failed <- server.ServeTLS(l, "", "")
		} else {
			failed <- server.Serve(l)
		}
	}()
	for {
		select {
		case err := <-failed:
			return fmt.Errorf("serve: %w", err)
		case <-s.o.Reload:
			s.reloadCertificate(true)
			s.access.reload(s, true)
		case <-ctx.Done():
			return s.stop(ctx, server)
		}
	}
}

// stop takes nothing new, and after the grace cuts what is still under way: of a push that is cut nothing is seen.
func (s *Server) stop(ctx context.Context, server *http.Server) error {
	s.o.Log.Info("stopping", "in_flight", s.metrics.inFlight.Load())
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.Grace)
	defer cancel()
	err := server.Shutdown(late)
	if errors.Is(err, context.DeadlineExceeded) {
		s.o.Log.Warn("cut", "in_flight", s.metrics.inFlight.Load())
		err = server.Close()
	}
	s.o.Log.Info("stopped")
	return err
}

func (s *Server) reloadCertificate(force bool) {
	if s.cert == nil {
		return
	}
	changed, err := s.cert.files.fresh(force)
	if changed || err != nil {
		s.reloaded("certificate", err)
	}
}

// reloaded tells of files that were read anew, or could not be.
func (s *Server) reloaded(what string, err error) {
	s.metrics.reload(what, err)
	if err != nil {
		s.o.Log.Error("read anew", "what", what, "error", err, "still", "the one from before")
		return
	}
	s.o.Log.Info("read anew", "what", what)
}

// accessSource is the access in force.
type accessSource struct {
	files *watched // nil: it does not change
	now   atomic.Pointer[Access]
}

func newAccessSource(o *Options) (*accessSource, error) {
	a := &accessSource{}
	switch {
	case o.AccessFile != "":
		a.files = &watched{fs: o.FS, names: []string{o.AccessFile}, limit: MaxAccess, load: func(b [][]byte) error {
			next, err := ParseAccess(b[0])
			if err != nil {
				return fmt.Errorf("the access file %s: %w", o.AccessFile, err)
			}
			a.now.Store(next)
			return nil
		}}
		if _, err := a.files.fresh(true); err != nil {
			return nil, err
		}
	case o.Access != nil:
		a.now.Store(o.Access)
	default:
		a.now.Store(Everybody())
	}
	return a, nil
}

// get gives the access in force, read anew if its file changed.
func (a *accessSource) get(s *Server) *Access {
	a.reload(s, false)
	return a.now.Load()

}

func (a *accessSource) reload(s *Server, force bool) {
	if a.files == nil {
		return
	}
	if changed, err := a.files.fresh(force); changed || err != nil {
		s.reloaded("access", err)
	}
}
