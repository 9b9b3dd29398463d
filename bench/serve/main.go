// Serve measures a server of oxy, the real binary in a process of its own: many clients at once, a repository of a million changes, and
// a clone beside Git's.
//
//	serve load    clones, pulls and pushes to one bookmark by many clients; what each was told is held to what is there at the end
//	serve long    what a push of one change, and having nothing to pull, cost beside a million changes
//	serve clone   a clone over loopback http, beside git clone from git daemon and git http-backend
//
//	OXY_BENCH_OXY  the binary to measure (bin/oxy)
//	OXY_BENCH_DIR  where to work (the system's place for temporary files)
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/serve:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) < 2 {
		return errors.New("say which: load, long or clone")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	b := &bench{ctx: context.Background()}
	clients := flags.Int("clients", 200, "of load: how many at once")
	lasts := flags.Duration("time", 5*time.Minute, "of load: how long")
	changes := flags.Int("changes", 1_000_000, "of long: how many")
	times := flags.Int("n", 5, "how often to measure")
	source := flags.String("git", "", "of clone: a Git repository, bare; and with -oxy the same imported")
	imported := flags.String("oxy", "", "of clone: the repository of oxy; of long: one that was kept")
	keep := flags.Bool("keep", false, "leave the directories")
	if err := flags.Parse(os.Args[2:]); err != nil {
		return err
	}
	oxy := os.Getenv("OXY_BENCH_OXY")
	if oxy == "" {
		oxy = filepath.Join("bin", "oxy")
	}
	var err error
	if oxy, err = filepath.Abs(oxy); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp(os.Getenv("OXY_BENCH_DIR"), "oxy-serve"); err != nil {
		return err
	}
	if !*keep {
		defer os.RemoveAll(b.dir)
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	b.env = measure.Environment(b.dir)
	b.oxy, b.git = measure.Tool{Name: "oxy", Path: oxy, Env: b.env}, measure.Tool{Name: "git", Path: git, Env: b.env}
	measure.Machine(os.Stdout, b.oxy, b.git, b.dir)
	switch os.Args[1] {
	case "load":
		return b.load(*clients, *lasts)
	case "long":
		return b.long(*changes, *times, *imported)
	case "clone":
		return b.clone(*source, *imported, *times)
	}
	return fmt.Errorf("there is no %s", os.Args[1])
}

type bench struct {
	ctx      context.Context
	dir      string
	env      []string
	oxy, git measure.Tool
}

// server is a process of `oxy serve`.
type server struct {
	cmd *exec.Cmd
	url string
	log *os.File
}

// serve starts a server of a repository.
func (b *bench) serve(root string, args ...string) (*server, error) {
	s := &server{cmd: exec.Command(b.oxy.Path, append(append([]string{"serve", "--http", "127.0.0.1:0"}, args...), root)...)}
	s.cmd.Env = b.env
	var err error
	if s.log, err = os.Create(filepath.Join(b.dir, "server.log")); err != nil {
		return nil, err
	}
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server said nothing: %w", err)
	}
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "Serving at "))
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return s, nil
}

func (s *server) stop() error {
	err := s.cmd.Process.Signal(os.Interrupt)
	return errors.Join(err, s.cmd.Wait(), s.log.Close())
}

// figures reads /metrics.
func (s *server) figures() (map[string]float64, error) {
	reply, err := http.Get(s.url + "/metrics")
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	out := map[string]float64{}
	in := bufio.NewScanner(reply.Body)
	for in.Scan() {
		if i := strings.LastIndexByte(in.Text(), ' '); i > 0 && !strings.HasPrefix(in.Text(), "#") {
			if v, err := strconv.ParseFloat(in.Text()[i+1:], 64); err == nil {
				out[in.Text()[:i]] = v
			}
		}
	}
	return out, in.Err()
}

// resident is what a process holds in memory at the moment, in bytes; 0 where the system does not tell.
func resident(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}
