package cli

import (
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// maxPush bounds what one push may bring to a server, before compression, unless the person says otherwise.
const maxPush = 4 << 30

func serveCommand(a *app) *cobra.Command {
	stdio, address, readOnly, tokenFile, clients, limit := false, "", false, "", 0, int64(0)
	c := &cobra.Command{
		Use:   "serve (--stdio | --http ADDRESS) [PATH]",
		Short: "Let others clone, pull and push",
		Long: `Serve the repository at PATH, or here. With --stdio to the one at the other end of standard input and output: that is
what ssh starts. With --http to everyone who reaches ADDRESS, as :8080 or localhost:8080, until it is interrupted; with
--token-file only to who shows that token. See docs/server.md.`,
		Example: `  oxy serve --stdio /srv/project
  oxy serve --http localhost:8080 --read-only
  oxy serve --http :8080 --token-file /etc/oxy/token /srv/project`,
		Args: atMost(1, "one directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			if stdio == (address != "") {
				return usage("serve", "serve takes one of --stdio and --http")
			}
			dir, err := a.cwd()
			if err != nil {
				return err
			}
			at := dir
			if len(args) == 1 {
				at = join(dir, args[0])
			}
			s, err := repo.NewServer(at, repo.ServeOptions{Options: repo.Options{FS: a.fs, Command: a.args, Env: a.env.Get}, ReadOnly: readOnly, Gather: true})
			if err != nil {
				return err
			}
			if stdio {
				return sync.ServePipe(a.interruptible(), a.stdio.In, a.stdio.Out, s, sync.Zstd, limit)
			}
			o := sync.HTTPOptions{Limit: limit, Clients: clients, Log: slog.New(slog.NewTextHandler(a.stdio.Err, nil))}
			if tokenFile != "" {
				b, err := a.fs.ReadFile(join(dir, tokenFile), 4096)
				if err != nil {
					return &repo.Error{Text: "cannot read the token: " + err.Error(), Err: err}
				}
				if o.Token = strings.TrimSpace(string(b)); o.Token == "" {
					return &repo.Error{Text: "the token's file is empty"}
				}
			}
			return a.serveHTTP(s, address, o)
		},
	}
	c.Flags().BoolVar(&stdio, "stdio", false, "serve the other end of standard input and output")
	c.Flags().StringVar(&address, "http", "", "serve http at `ADDRESS`")
	c.Flags().BoolVar(&readOnly, "read-only", false, "take no pushes")
	c.Flags().StringVar(&tokenFile, "token-file", "", "let in only who shows the token in `FILE`")
	c.Flags().IntVar(&clients, "clients", 64, "answer so many at once (`N`)")
	c.Flags().Int64Var(&limit, "max-push", maxPush, "take at most `BYTES` in one push, before compression")
	return c
}

func (a *app) serveHTTP(s *repo.Server, address string, o sync.HTTPOptions) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return &repo.Error{Text: "cannot serve at " + address + ": " + err.Error(), Err: err}
	}
	ctx, stop := signal.NotifyContext(a.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := a.out.printf("Serving at http://%s\n", l.Addr()); err != nil {
		return err
	}
	if err := a.out.Flush(); err != nil {
		return err
	}
	return sync.ServeHTTP(ctx, l, s, o)
}
