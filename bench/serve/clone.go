package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

// clone measures a clone over loopback http beside Git's of the same history over its own protocol through http-backend.
func (b *bench) clone(source, imported string, times int) error {
	if source == "" || imported == "" {
		return errors.New("clone takes -git and -oxy")
	}
	s, err := b.serve(imported, "--read-only")
	if err != nil {
		return err
	}
	exec, err := b.git.Output(b.dir, "--exec-path")
	if err != nil {
		return err
	}
	source, err = filepath.Abs(source)
	if err != nil {
		return err
	}
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		(&cgi.Handler{Path: filepath.Join(strings.TrimSpace(exec), "git-http-backend"), Root: "/",
			Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(source), "GIT_HTTP_EXPORT_ALL=1", "HOME=" + b.dir, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}).ServeHTTP(w, r)
	}))
	defer backend.Close()
	var ours, theirs, bare measure.Series
	one := func(s *measure.Series, tool measure.Tool, args ...string) func(int) error {
		return func(turn int) error {
			to := filepath.Join(b.dir, fmt.Sprint(tool.Name, turn))
			run, err := tool.Run(b.dir, append(args, to)...)
			s.Add(run)
			return errors.Join(err, os.RemoveAll(to))
		}
	}
	gitURL := backend.URL + "/" + filepath.Base(source)
	if err := measure.Alternate(times, one(&ours, b.oxy, "clone", s.url), one(&theirs, b.git, "clone", "-q", gitURL)); err != nil {
		return err
	}
	if err := measure.Alternate(times, one(&bare, b.git, "clone", "-q", "--bare", gitURL)); err != nil {
		return err
	}
	t := measure.NewTable("clone over loopback http", "median", "processor time of the client", "peak memory")
	for _, r := range []struct {
		name string
		s    *measure.Series
	}{{"oxy", &ours}, {"git, http-backend", &theirs}, {"git, http-backend, no working files", &bare}} {
		t.Row(r.name, measure.Time(r.s.Median()), measure.Time(measure.Median(r.s.CPUs)), measure.Memory(r.s.Peak))
	}
	t.Print(os.Stdout)
	fmt.Printf("the server's memory %s\n", measure.Bytes(resident(s.cmd.Process.Pid)))
	return s.stop()
}
