package sync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// DialSSH starts the person's own ssh, with their keys, agent and settings, and oxy at its other end. command is "" or what
// OXY_SSH says: a program and its arguments, divided by spaces. What ssh says goes to messages.
func DialSSH(ctx context.Context, a Address, command string, messages io.Writer) (Peer, error) {
	words := strings.Fields(command)
	if len(words) == 0 {
		words = []string{"ssh"}
	}
	args := words[1:]
	if a.Port != "" {
		args = append(args, "-p", a.Port)
	}
	// What follows "--" is no option, whatever it is called.
	args = append(args, "--", a.Host, "oxy serve --stdio -- "+shellQuote(a.Path))
	cmd := exec.CommandContext(ctx, words[0], args...)
	cmd.Stderr = messages
	out, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", words[0], err)
	}
	closed := false
	return NewPipe(in, out, Zstd, func() error {
		if closed {
			return nil
		}
		closed = true
		err := out.Close()
		// It ends by itself once nobody asks; what it still has to say nobody reads.
		_, _ = io.Copy(io.Discard, in)
		return errors.Join(err, cmd.Wait())
	}), nil
}
