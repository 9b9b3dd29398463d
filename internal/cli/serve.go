package cli

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/serve"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// maxPush bounds what one push may bring to a server, before compression, unless the person says otherwise.
const maxPush = 4 << 30

// serving is what the flags of serve say.
type serving struct {
	stdio, readOnly, all bool
	address, as          string
	tokenFile, access    string
	cert, key, log       string
	o                    serve.Options
}

func serveCommand(a *app) *cobra.Command {
	var s serving
	c := &cobra.Command{
		Use:   "serve (--stdio | --http ADDRESS) [PATH]",
		Short: "Let others clone, pull and push",
		Long: `Serve the repository at PATH, or here; with --all each repository beneath PATH, by its path. With --stdio to the one at the
other end of standard input and output: that is what ssh starts. With --http to everyone who reaches ADDRESS, as :8080 or
localhost:8080, until it is interrupted or gets SIGTERM; with --tls-cert and --tls-key over https.

Who may read and push says --access FILE, whose entries oxy access makes; --token-file lets in only who shows that one token.
These files and the certificate are read anew when they change, or at SIGHUP. What pushes must keep to, and programs that
look at them, stand in .oxy/server.toml of the served repository. See docs/server.md.

/healthz answers ok, /metrics in Prometheus' format. Each request is a line on standard error.`,
		Example: `  oxy serve --stdio /srv/project
  oxy serve --http localhost:8080 --read-only
  oxy serve --http :8443 --tls-cert cert.pem --tls-key key.pem --access /etc/oxy/access.toml --all /srv`,
		Args: atMost(1, "one directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			at := dir
			if len(args) == 1 {
				at = join(dir, args[0])
			}
			// A server lives long: its memory is collected as it goes.
			debug.SetGCPercent(100)
			return a.serve(&s, dir, at)
		},
	}
	f := c.Flags()
	f.BoolVar(&s.stdio, "stdio", false, "serve the other end of standard input and output")
	f.StringVar(&s.as, "as", "", "with --stdio: who is at the other end is `NAME`")
	f.StringVar(&s.address, "http", "", "serve http at `ADDRESS`")
	f.BoolVar(&s.all, "all", false, "serve each repository beneath PATH")
	f.StringVar(&s.cert, "tls-cert", "", "serve https, with the certificate in `FILE`")
	f.StringVar(&s.key, "tls-key", "", "the certificate's key is in `FILE`")
	f.BoolVar(&s.readOnly, "read-only", false, "take no pushes")
	f.StringVar(&s.access, "access", "", "let people do what `FILE` says")
	f.StringVar(&s.tokenFile, "token-file", "", "let in only who shows the token in `FILE`")
	f.IntVar(&s.o.Clients, "clients", serve.Clients, "answer so many at once (`N`)")
	f.Float64Var(&s.o.Rate, "rate", 0, "let one caller ask so often a second (`N`); 0 is as often as they like")
	f.Int64Var(&s.o.Limit, "max-push", maxPush, "take at most `BYTES` in one push, before compression")
	f.DurationVar(&s.o.Idle, "idle", serve.Idle, "drop who sends and takes nothing for `TIME`")
	f.DurationVar(&s.o.MaxTime, "max-time", serve.MaxTime, "drop what takes longer than `TIME` in all")
	f.DurationVar(&s.o.Grace, "grace", serve.Grace, "when stopping, wait `TIME` for what is under way")
	f.StringVar(&s.log, "log", "text", "write the log as text or json (`FORM`)")
	return c
}

func (a *app) serve(s *serving, dir, at string) error {
	switch {
	case s.stdio == (s.address != ""):
		return usage("serve", "serve takes one of --stdio and --http")
	case s.stdio && (s.all || s.cert != "" || s.tokenFile != ""):
		return usage("serve", "--all, --tls-cert and --token-file are for --http")
	case s.as != "" && !s.stdio:
		return usage("serve", "--as is for --stdio: over http people show who they are")
	case (s.cert == "") != (s.key == ""):
		return usage("serve", "--tls-cert and --tls-key go together")
	case s.access != "" && s.tokenFile != "":
		return usage("serve", "serve takes one of --access and --token-file")
	case s.log != "text" && s.log != "json":
		return usage("serve", "--log is text or json, not %q", s.log)
	}
	opt := repo.ServeOptions{Options: repo.Options{FS: a.fs, Command: a.args, Env: a.env.Get}, ReadOnly: s.readOnly, Gather: true, Hooks: true, Messages: a.stdio.Err}
	if s.stdio {
		return a.serveStdio(s, dir, at, opt)
	}
	if err := a.find(s, at, opt); err != nil {
		return err
	}
	for _, name := range []*string{&s.access, &s.cert, &s.key} {
		if *name != "" {
			*name = join(dir, *name)
		}
	}
	s.o.FS, s.o.AccessFile, s.o.Cert, s.o.Key = a.fs, s.access, s.cert, s.key
	if s.tokenFile != "" {
		token, err := a.readToken(join(dir, s.tokenFile))
		if err != nil {
			return err
		}
		s.o.Access = serve.OneToken(token)
	}
	s.o.Log = slog.New(slog.NewTextHandler(a.stdio.Err, nil))
	if s.log == "json" {
		s.o.Log = slog.New(slog.NewJSONHandler(a.stdio.Err, nil))
	}
	return a.serveHTTP(s)
}

// find says what answers for which path.
func (a *app) find(s *serving, at string, opt repo.ServeOptions) error {
	if s.all {
		shelf, err := repo.NewShelf(at, opt)
		if err != nil {
			return err
		}
		s.o.Find = shelf.Find
		return nil
	}
	one, err := repo.NewServer(at, opt)
	if err != nil {
		return err
	}
	if err := one.CheckRules(); err != nil {
		return err
	}
	s.o.Name = filepath.Base(at)
	s.o.Find = func(path string) (sync.Handler, error) {
		if path != "" {
			return nil, &repo.Error{Text: "there is one repository here, at the root"}
		}
		return one, nil
	}
	return nil
}

// serveStdio serves whom ssh let in. With an access file the rights are those of the name that the command says.
func (a *app) serveStdio(s *serving, dir, at string, opt repo.ServeOptions) error {
	ctx := a.interruptible()
	caller := sync.Caller{Name: s.as, From: "ssh", Push: true}
	if s.access != "" {
		name := join(dir, s.access)
		b, err := a.fs.ReadFile(name, serve.MaxAccess)
		if err != nil {
			return &repo.Error{Text: "cannot read the access file: " + err.Error(), Err: err}
		}
		access, err := serve.ParseAccess(b)
		if err != nil {
			return &repo.Error{Text: "the access file " + name + ": " + err.Error(), Err: err}
		}
		p := access.Person(s.as)
		if !access.MayRead(p, filepath.Base(at)) {
			return &repo.Error{Text: "you may not read this repository", Next: "Ask who runs the server."}
		}
		caller = access.Caller(p, filepath.Base(at), "ssh")
	}
	one, err := repo.NewServer(at, opt)
	if err != nil {
		return err
	}
	return sync.ServePipe(sync.WithCaller(ctx, caller), a.stdio.In, a.stdio.Out, one, sync.Zstd, s.o.Limit)
}

func (a *app) readToken(name string) (string, error) {
	b, err := a.fs.ReadFile(name, 4096)
	if err != nil {
		return "", &repo.Error{Text: "cannot read the token: " + err.Error(), Err: err}
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", &repo.Error{Text: "the token's file is empty"}
	}
	return token, nil
}

func (a *app) serveHTTP(s *serving) error {
	ctx, stop := signal.NotifyContext(a.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	reload, hangups := make(chan struct{}), make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	go func() {
		for {
			select {
			case <-hangups:
				select {
				case reload <- struct{}{}:
				case <-ctx.Done():
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	s.o.Reload = reload
	server, err := serve.New(s.o)
	if err != nil {
		return &repo.Error{Text: "cannot serve: " + err.Error(), Err: err}
	}
	l, err := net.Listen("tcp", s.address)
	if err != nil {
		return &repo.Error{Text: "cannot serve at " + s.address + ": " + err.Error(), Err: err}
	}
	scheme := "http"
	if s.cert != "" {
		scheme = "https"
	}
	if err := a.out.printf("Serving at %s://%s\n", scheme, l.Addr()); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	return server.Serve(ctx, l)
}
