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
func (b *bench) clone(source, imported string, times int, files bool) error {
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
	var ours, theirs, bare, fetch measure.Series
	in := func(s *measure.Series, name string, run func(to string) (measure.Sample, error)) func(int) error {
		return func(turn int) error {
			to := filepath.Join(b.dir, fmt.Sprint(name, turn))
			sample, err := run(to)
			s.Add(sample)
			return errors.Join(err, os.RemoveAll(to))
		}
	}
	gitURL := backend.URL + "/" + filepath.Base(source)
	sides := []func(int) error{
		in(&fetch, "fetch", func(to string) (measure.Sample, error) {
			if err := os.Mkdir(to, 0o777); err != nil {
				return measure.Sample{}, err
			}
			return b.oxy.Sequence(to, []string{"init"}, []string{"remote", "add", "origin", s.url}, []string{"fetch"})
		}),
		in(&bare, "bare", func(to string) (measure.Sample, error) {
			return b.git.Run(b.dir, "clone", "-q", "--bare", gitURL, to)
		}),
	}
	if files {
		sides = append(sides,
			in(&ours, "oxy", func(to string) (measure.Sample, error) { return b.oxy.Run(b.dir, "clone", s.url, to) }),
			in(&theirs, "git", func(to string) (measure.Sample, error) { return b.git.Run(b.dir, "clone", "-q", gitURL, to) }))
	}
	if err := measure.Alternate(times, sides...); err != nil {
		return err
	}
	t := measure.NewTable("clone over loopback http", "median", "processor time of the client", "peak memory")
	for _, r := range []struct {
		name string
		s    *measure.Series
	}{{"oxy", &ours}, {"git, http-backend", &theirs}, {"oxy fetch into nothing", &fetch}, {"git clone --bare, http-backend", &bare}} {
		if len(r.s.Walls) == 0 {
			continue
		}
		t.Row(r.name, measure.Time(r.s.Median()), measure.Time(measure.Median(r.s.CPUs)), measure.Memory(r.s.Peak))
	}
	t.Print(os.Stdout)
	fmt.Printf("the server's memory %s\n", measure.Bytes(resident(s.cmd.Process.Pid)))
	return s.stop()
}
