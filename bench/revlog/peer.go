package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed peers/perf.py
var peerSource string

//go:embed peers/reader.c
var readerSource []byte

// peer is a Python that has Mercurial and does as it is asked.
type peer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	current string // the revlog that it has open
}

// startPeer starts the interpreter that hg itself names in its first line.
func startPeer(python string) (*peer, error) {
	if python == "" {
		hg, err := exec.LookPath("hg")
		if err != nil {
			return nil, errors.New("it is not installed (apt-get install mercurial)")
		}
		text, err := os.ReadFile(hg)
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		fields := strings.Fields(strings.TrimPrefix(first, "#!"))
		if !strings.HasPrefix(first, "#!") || len(fields) == 0 {
			return nil, fmt.Errorf("%s is no script: name an interpreter by -python", hg)
		}
		python = fields[0]
		if filepath.Base(python) == "env" && len(fields) > 1 {
			python = fields[1]
		}
	}
	p := &peer{cmd: exec.Command(python, "-c", peerSource)}
	p.cmd.Env = append(os.Environ(), "HGRCPATH=", "HGMODULEPOLICY="+*policy)
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	return p, p.cmd.Start()
}

func (p *peer) close() {
	p.in.Close()
	p.cmd.Wait()
}

type answer struct {
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error"`
}

func (p *peer) ask(question any) (answer, error) {
	var a answer
	b, err := json.Marshal(question)
	if err != nil {
		return a, err
	}
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return a, err
	}
	if !p.out.Scan() {
		return a, errors.Join(io.ErrUnexpectedEOF, p.out.Err())
	}
	if err := json.Unmarshal(p.out.Bytes(), &a); err != nil {
		return a, err
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// open tells which revlog is next.
func (p *peer) open(s *subject, mapped bool) error {
	if p.current == s.file {
		return nil
	}
	p.current = s.file
	_, err := p.ask(map[string]any{
		"dir": filepath.Dir(s.file), "radix": strings.TrimSuffix(filepath.Base(s.file), ".i"), "kind": s.kind, "map": mapped,
		"revs": s.revs, "nodemap": s.own && s.kind == "changelog" && s.n > 100_000,
	})
	return err
}

func (p *peer) run(task string, budget time.Duration) (time.Duration, error) {
	a, err := p.ask(map[string]any{"task": task, "budget": budget.Seconds()})
	return time.Duration(a.Seconds * 1e9), err
}

// inC has the reader in C do a task; ok is false for one that it does not have.
func inC(program, task string, s *subject, budget time.Duration) (took time.Duration, ok bool, err error) {
	switch task {
	case "everything":
		task = "inflate"
	case "lookups":
		return 0, false, nil
	}
	args := []string{strings.TrimSuffix(s.file, ".i"), task, fmt.Sprint(budget.Seconds())}
	for _, rev := range s.revs {
		args = append(args, strconv.Itoa(int(rev)))
	}
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w", program, err)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	return time.Duration(ns), true, err
}
