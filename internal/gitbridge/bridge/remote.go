package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Remote is a Git repository elsewhere, reached by the git that is installed through a bare repository of oxy's own.
type Remote struct {
	r   *repo.Repo
	fs  vfs.FS
	dir string
	err io.Writer // where git says how far it is
}

// NewRemote names the remote of a repository, whether there is one or not.
func NewRemote(r *repo.Repo, fsys vfs.FS, stderr io.Writer) *Remote {
	return &Remote{r: r, fs: fsys, dir: filepath.Join(r.Root(), repo.DirName, repo.GitDir), err: stderr}
}

// run runs git on the bare repository.
func (m *Remote) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir", m.dir}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = io.MultiWriter(&said, m.err)
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return &repo.Error{Text: "git is not installed, and oxy reaches other Git repositories by it", Err: err}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &repo.Error{Text: fmt.Sprintf("git %s failed: %s", args[0], lastLine(said.String())), Err: err}
	}
	return nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// Set makes url what is fetched from and pushed to.
func (m *Remote) Set(ctx context.Context, url string) error {
	if strings.HasPrefix(url, "-") { // git would take it for an option
		return &repo.Error{Text: fmt.Sprintf("%q is no address", url)}
	}
	if err := m.run(ctx, "init", "--quiet", "--bare"); err != nil {
		return err
	}
	for _, kv := range [][2]string{{"remote.origin.url", url}, {"gc.auto", "0"}} {
		if err := m.run(ctx, "config", kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

// exists refuses a repository that has no remote.
func (m *Remote) exists() error {
	var st vfs.Stat
	if err := m.fs.Lstat(filepath.Join(m.dir, "config"), &st); err != nil {
		return &repo.Error{Text: "this repository was not cloned from Git", Next: "Say where from with: oxy git fetch URL", Err: err}
	}
	return nil
}

// Fetch brings branches and tags, and imports them.
func (m *Remote) Fetch(ctx context.Context, opt Options) (*Report, error) {
	if err := m.exists(); err != nil {
		return nil, err
	}
	if err := m.run(ctx, "fetch", "--prune", "--no-auto-gc", "origin", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"); err != nil {
		return nil, err
	}
	return Import(ctx, m.r, m.dir, opt)
}

// Head is the branch that the remote names first, or "".
func (m *Remote) Head(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "git", "--git-dir", m.dir, "ls-remote", "--symref", "origin", "HEAD")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(out), "\n")
	name, ok := strings.CutPrefix(line, "ref: refs/heads/")
	name, _, tab := strings.Cut(name, "\t")
	if !ok || !tab {
		return ""
	}
	return name
}

// Push gives bookmarks, and has git bring them to the remote.
func (m *Remote) Push(ctx context.Context, opt ExportOptions) (*Exported, error) {
	if err := m.exists(); err != nil {
		return nil, err
	}
	out, err := Export(ctx, m.r, m.dir, opt)
	if err != nil || len(out.Left) > 0 {
		return out, err
	}
	args := []string{"push", "origin"}
	if opt.Force {
		args = []string{"push", "--force", "origin"}
	}
	if len(opt.Bookmarks) == 0 {
		args = append(args, "refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*")
	}
	for _, b := range opt.Bookmarks {
		args = append(args, "refs/heads/"+b+":refs/heads/"+b)
	}
	return out, m.run(ctx, args...)
}
