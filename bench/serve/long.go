package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// long measures small transfers to and from a long history. The repository is made anew, or taken from where it was kept.
func (b *bench) long(changes, times int, kept string) error {
	root := kept
	if root == "" {
		root = filepath.Join(b.dir, "server")
		if err := b.history(root, changes); err != nil {
			return err
		}
	}
	other, client := filepath.Join(b.dir, "other"), filepath.Join(b.dir, "client")
	// Copies of the directory: a clone has no log of single steps, and everybody's work would have to be.
	for _, to := range []string{other, client} {
		if err := os.CopyFS(to, os.DirFS(root)); err != nil {
			return err
		}
	}
	s, err := b.serve(other)
	if err != nil {
		return err
	}
	if _, err := b.oxy.Run(other, "config", "receive.current", "detach"); err != nil {
		return err
	}
	if _, err := b.oxy.Run(client, "checkout", "main"); err != nil {
		return err
	}
	if _, err := b.oxy.Run(client, "remote", "add", "origin", s.url); err != nil {
		return err
	}
	var none, idle, push measure.Series
	var asked float64
	for i := range times {
		if err := os.WriteFile(filepath.Join(client, "d00", "f00"), fmt.Appendf(nil, "mine %d\n", i), 0o666); err != nil {
			return err
		}
		if _, err := b.oxy.Run(client, "commit", "-m", "mine"); err != nil {
			return err
		}
		before, err := s.figures()
		if err != nil {
			return err
		}
		for _, m := range []struct {
			s    *measure.Series
			args []string
		}{{&push, []string{"push"}}, {&idle, []string{"pull"}}, {&none, []string{"version"}}} {
			run, err := b.oxy.Run(client, m.args...)
			if err != nil {
				return err
			}
			m.s.Add(run)
		}
		after, err := s.figures()
		if err != nil {
			return err
		}
		asked = after["oxy_request_seconds_count"] - before["oxy_request_seconds_count"]
		fmt.Printf("push %s, pull %s; the server's part of both %s\n", push.Walls[i], idle.Walls[i],
			time.Duration((after["oxy_request_seconds_sum"]-before["oxy_request_seconds_sum"])*1e9).Round(10*time.Microsecond))
	}
	t := measure.NewTable(fmt.Sprintf("%d changes, over loopback", changes), "median")
	t.Row("push of one change", measure.Time(push.Median()))
	t.Row("pull: up to date", measure.Time(idle.Median()))
	t.Row("oxy version, for the start of a process", measure.Time(none.Median()))
	t.Print(os.Stdout)
	fmt.Printf("requests for both: %.0f; the server's memory %s\n", asked, measure.Bytes(resident(s.cmd.Process.Pid)))
	return s.stop()
}

// history records so many changes, one after the other.
func (b *bench) history(root string, changes int) (err error) {
	env := map[string]string{"OXY_CONFIG_DIR": filepath.Join(b.dir, "config")}
	r, err := repo.Init(root, repo.Options{Env: func(k string) string { return env[k] }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	im, err := r.NewImporter(b.ctx)
	if err != nil {
		return err
	}
	at := uint32(repo.NoState)
	for i := range changes {
		c := &repo.Imported{Author: change.Person{Name: "Ada", Email: "ada@example.org"}, Time: change.Time{Sec: int64(i)}, Message: fmt.Sprint("change ", i),
			Files: []repo.ImportedFile{{Path: fmt.Sprintf("d%02d/f%02d", i%100, i/100%100), Data: fmt.Appendf(nil, "%d\n", i)}}}
		if at != repo.NoState {
			c.Parents = []uint32{at}
		}
		next, err := im.Put(c)
		if err != nil {
			return errors.Join(err, im.Close())
		}
		im.Forget(at)
		at = next
		im.View().Bookmarks["main"] = at
		if im.Full() || i == changes-1 {
			if err := im.Commit("commit"); err != nil {
				return errors.Join(err, im.Close())
			}
		}
	}
	return im.Close()
}
