package ui

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

// Pager sends what is written to it to the person's pager.
type Pager struct {
	pipe io.WriteCloser
	cmd  *exec.Cmd
}

// PagerLine chooses the pager: OXY_PAGER, the setting, PAGER, less. It is "" when there shall be none.
func PagerLine(env func(string) string, setting string) string {
	for _, line := range []string{env("OXY_PAGER"), setting, env("PAGER")} {
		if line = strings.TrimSpace(line); line != "" {
			if line == "cat" {
				return ""
			}
			return line
		}
	}
	return "less"
}

// StartPager runs line with its output on out. The pager of a person who set no LESS shows colours, and ends by itself
// when all fits on the screen.
func StartPager(line string, out, errs io.Writer, env func(string) string) (*Pager, error) {
	cmd := person(line)
	cmd.Stdout, cmd.Stderr = out, errs
	if env("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRX")
	}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// Ctrl-C belongs to the pager now: an end of this process would take the terminal from under it.
	signal.Ignore(os.Interrupt)
	return &Pager{pipe, cmd}, nil
}

// Write fails with EPIPE once the person has left the pager.
func (p *Pager) Write(b []byte) (int, error) { return p.pipe.Write(b) }

// Close waits until the person has read.
func (p *Pager) Close() error {
	p.pipe.Close()
	err := p.cmd.Wait()
	signal.Reset(os.Interrupt)
	if _, ended := err.(*exec.ExitError); ended {
		return nil // how a pager ends says nothing about what it was given
	}
	return err
}
