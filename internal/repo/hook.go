package repo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/sync"
)

// Bounds of programs that look at pushes: who waits for one holds a place at the server, and others' pushes.
const (
	hookTime = time.Minute
	maxSaid  = 64 << 10 // of what one writes; beyond, it is dropped
)

// hooks name the programs that look at pushes, with their arguments.
type hooks struct {
	Before []string `toml:"pre-receive"`  // may refuse: nothing is moved yet
	After  []string `toml:"post-receive"` // told of what was moved
	Time   string   `toml:"time"`

	time time.Duration
}

// before asks the program whether a push may be taken. If not, said is why, in its words. An error is that it did not come to an
// end by itself.
func (r *rules) before(ctx context.Context, repo *Repo, names []*pushedName) (said string, ok bool, err error) {
	out, err := r.Hooks.run(ctx, repo, r.Hooks.Before, names)
	if err == nil {
		return "", true, nil
	}
	if ended := (*exec.ExitError)(nil); !errors.As(err, &ended) || !ended.Exited() {
		return "", false, fmt.Errorf("run %s: %w", r.Hooks.Before[0], err)
	}
	if said = sync.Clean(strings.TrimSpace(out)); said == "" {
		said = "the program that looks at pushes there said no, and not why"
	}
	return said, false, nil
}

// after tells the program what was moved.
func (r *rules) after(ctx context.Context, repo *Repo, names []*pushedName) error {
	if len(r.Hooks.After) == 0 || len(names) == 0 {
		return nil
	}
	if out, err := r.Hooks.run(ctx, repo, r.Hooks.After, names); err != nil {
		return fmt.Errorf("run %s: %w: %s", r.Hooks.After[0], err, sync.Clean(out))
	}
	return nil
}

// run runs a program in the repository's directory, with a line on its input for each name that is or would be moved and after it one
// for each change that the name comes to have or loses. It gives what the program wrote.
func (h *hooks) run(ctx context.Context, repo *Repo, command []string, names []*pushedName) (string, error) {
	limit := h.time
	if limit == 0 {
		limit = hookTime
	}
	// Of a peer that went away meanwhile too: what it pushed is taken, or not, all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var in bytes.Buffer
	for _, m := range names {
		fmt.Fprintf(&in, "%s %s %s %s\n", m.u.Kind, m.u.Name, hex.EncodeToString(m.now.ID[:]), hex.EncodeToString(m.u.State[:]))
		for _, n := range m.plus {
			fmt.Fprintf(&in, "+ %s\n", repo.store.ChangeID(n))
		}
		for _, n := range m.minus {
			fmt.Fprintf(&in, "- %s\n", repo.store.ChangeID(n))
		}
	}
	caller := sync.CallerOf(ctx)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = repo.root
	cmd.Env = append(os.Environ(), "OXY_CALLER="+caller.Name, "OXY_FROM="+caller.From)
	cmd.Stdin = &in
	var out bytes.Buffer
	cmd.Stdout = &limited{w: &out, left: maxSaid}
	cmd.Stderr = cmd.Stdout
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return out.String(), err
}
