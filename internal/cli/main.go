// Package cli is the command line: a file for each verb with its flags, its text and its JSON, and the exit codes. What
// is done is done in package repo.
package cli

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/timings"
	"github.com/oxy-vcs/oxy/internal/ui"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Stdio is where a command reads and writes.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer
}

// Env is what a command knows of the process that it runs in.
type Env struct {
	Get     func(string) string
	Dir     func() (string, error) // the working directory
	Version string                 // "" of a build that was given none
	// Exits says that the process ends when Main returns. What is mapped and open goes with it then: to let go of it
	// one by one before cost a log of 100 changes a tenth of its time.
	Exits bool
}

// memoryLimit is where garbage collection begins. Most commands end long before, and collecting for them costs twice
// the time that it saves. A first commit of a large tree does reach it, and shall stay under 1 GB.
const memoryLimit = 768 << 20

// Main runs a command and gives its exit code: 0 done, 1 the honest answer is no, 2 an error, 130 interrupted.
func Main(args []string, stdio Stdio, env Env) int {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	a := newApp(args, stdio, env)
	defer a.cancel()
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(a.ctx)
	err = a.finish(err)
	code := a.report(err)
	if a.timings != nil {
		a.timings.WriteTo(stdio.Err)
	}
	return code
}

// app is one run of a command.
type app struct {
	stdio   Stdio
	env     Env
	args    []string
	ctx     context.Context
	cancel  context.CancelFunc
	timings *timings.Log
	fs      vfs.FS
	now     func() time.Time

	// The flags that every verb has.
	dir     string
	json    bool
	colour  string
	noPager bool

	repo     *repo.Repo
	progress *ui.Progress
	in       *bufio.Reader // lazily, by input
	out      *output
	shown    *paths // lazily, by show
	palette  *ui.Palette
	noMarks  bool // signatures cannot be judged, which was said
}

func newApp(args []string, stdio Stdio, env Env) *app {
	a := &app{stdio: stdio, env: env, args: args, fs: vfs.OS(), now: time.Now, cancel: func() {}}
	a.ctx = context.Background()
	a.out = newOutput(stdio.Out)
	if env.Get("OXY_TIMINGS") != "" && env.Get("OXY_TIMINGS") != "0" {
		a.timings = timings.New()
	}
	return a
}

// input is standard input; one reader, so that no answer is lost in the buffer of another.
func (a *app) input() *bufio.Reader {
	if a.in == nil {
		a.in = bufio.NewReader(a.stdio.In)
	}
	return a.in
}

// cwd is the directory that the command works in.
func (a *app) cwd() (string, error) {
	dir, err := a.env.Dir()
	switch {
	case err != nil:
		return "", &repo.Error{Text: "the working directory is gone", Next: "Change to one that exists.", Err: err}
	case a.dir == "":
		return dir, nil
	}
	return join(dir, a.dir), nil
}

// join is path as seen from dir.
func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func (a *app) options() repo.Options {
	opt := repo.Options{FS: a.fs, Timings: a.timings, Command: a.args, Env: a.env.Get, Passphrase: a.askPassphrase, Err: a.stdio.Err, Interrupt: a.interruptible}
	if ui.IsTerminal(a.stdio.Err) {
		a.progress = ui.NewProgress(a.stdio.Err)
		opt.Progress = a.progress
	}
	return opt
}

// open opens the repository that the working directory lies in. It stays open until the command ends.
func (a *app) open() (*repo.Repo, error) { return a.openBy(repo.Open) }

func (a *app) openBy(open func(string, repo.Options) (*repo.Repo, error)) (*repo.Repo, error) {
	dir, err := a.cwd()
	if err != nil {
		return nil, err
	}
	done := a.timings.Phase("open")
	a.repo, err = open(dir, a.options())
	done(0)
	return a.repo, err
}

// interruptible makes Ctrl-C cancel the context that it gives, so that what runs can leave the repository as it was.
// A second Ctrl-C ends the process at once, which is safe too.
func (a *app) interruptible() context.Context {
	ctx, stop := signal.NotifyContext(a.ctx, os.Interrupt)
	context.AfterFunc(ctx, stop)
	a.ctx, a.cancel = ctx, stop
	return ctx
}

// finish releases what the command held and writes what is left to write.
func (a *app) finish(err error) error {
	if a.progress != nil {
		a.progress.End()
	}
	if flushed := a.out.Close(); err == nil {
		err = flushed
	}
	a.packLater()
	if a.repo != nil && !a.env.Exits {
		if closed := a.repo.Close(); err == nil {
			err = closed
		}
	}
	return err
}

// terminalOut reports whether a person reads the output as it comes.
func (a *app) terminalOut() bool { return ui.IsTerminal(a.stdio.Out) }

// page sends the output through the person's pager, when there is a person.
func (a *app) page() error {
	if a.noPager || a.json || !a.terminalOut() {
		return nil
	}
	line := ui.PagerLine(a.env.Get, a.setting("ui.pager"))
	if line == "" {
		return nil
	}
	a.colours() // decided by the terminal, not by the pipe
	pager, err := ui.StartPager(line, a.stdio.Out, a.stdio.Err, a.env.Get)
	if err != nil {
		return nil // without a pager the text is still right
	}
	a.out.redirect(pager)
	return nil
}

// setting is the value of a setting, "" also where it cannot be read: what asks for one here is about looks.
func (a *app) setting(key string) string {
	if a.repo == nil {
		return ""
	}
	value, _, _ := a.repo.ConfigGet(key)
	return strings.TrimSpace(value)
}

// colours is the palette of the output.
func (a *app) colours() *ui.Palette {
	if a.palette == nil {
		flag, _ := ui.ParseWhen(a.colour) // checked when flags were
		setting := ui.Auto
		if flag == ui.Auto && a.terminalOut() {
			setting, _ = ui.ParseWhen(a.setting("ui.color"))
		}
		a.palette = new(ui.Palette)
		if !a.json && ui.Coloured(flag, setting, a.env.Get, a.terminalOut()) {
			*a.palette = ui.Colours()
		}
	}
	return a.palette
}
