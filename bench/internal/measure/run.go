// Package measure runs a command as a person would, one process at a time, and says what it took. It knows nothing of
// version control.
package measure

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Sample is what one run took.
type Sample struct {
	Wall   time.Duration // from before the fork to after the wait
	CPU    time.Duration // of the process, its own and the system's for it
	Peak   int64         // peak resident memory in bytes; 0 where the system does not say
	Output int64         // bytes printed to standard output
}

// Tool is a program and the environment that it is run in.
type Tool struct {
	Name string // how tables call it
	Path string
	Env  []string // the whole environment
}

// Run runs the tool in dir and drains its output through a pipe, as a pager would. An exit code other than 0 is an
// error that quotes the last of what the tool said.
func (t Tool) Run(dir string, args ...string) (Sample, error) {
	var out counter
	s, err := t.run(dir, &out, nil, args)
	s.Output = int64(out)
	return s, err
}

// Output runs the tool and returns what it printed.
func (t Tool) Output(dir string, args ...string) (string, error) {
	var out bytes.Buffer
	_, err := t.run(dir, &out, nil, args)
	return out.String(), err
}

// Say runs the tool and returns what it printed with what that took.
func (t Tool) Say(dir string, args ...string) (string, Sample, error) {
	var out bytes.Buffer
	s, err := t.run(dir, &out, nil, args)
	s.Output = int64(out.Len())
	return out.String(), s, err
}

// Feed runs the tool with in as its standard input.
func (t Tool) Feed(dir string, in io.Reader, args ...string) (Sample, error) {
	return t.run(dir, io.Discard, in, args)
}

// Sequence runs several command lines as one operation: times and output add up, of peaks the highest counts.
func (t Tool) Sequence(dir string, lines ...[]string) (Sample, error) {
	var sum Sample
	for _, args := range lines {
		s, err := t.Run(dir, args...)
		if err != nil {
			return sum, err
		}
		sum.Wall += s.Wall
		sum.CPU += s.CPU
		sum.Output += s.Output
		sum.Peak = max(sum.Peak, s.Peak)
	}
	return sum, nil
}

func (t Tool) run(dir string, out io.Writer, in io.Reader, args []string) (Sample, error) {
	var said tail
	cmd := exec.Command(t.Path, args...)
	cmd.Dir, cmd.Env = dir, t.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &said
	begin := time.Now()
	err := cmd.Run()
	s := Sample{Wall: time.Since(begin)}
	if cmd.ProcessState != nil {
		s.Peak = peak(cmd.ProcessState)
		s.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		return s, fmt.Errorf("%s %s: %w: %s", t.Name, strings.Join(args, " "), err, bytes.TrimSpace(said))
	}
	return s, nil
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// tail keeps the end of what is written to it: an error's text, however much came before.
type tail []byte

const tailLen = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if extra := len(*t) - tailLen; extra > 0 {
		*t = (*t)[extra:]
	}
	return len(p), nil
}

// Environment is what both tools are run in: nobody's configuration, a fixed identity, plain output, and no garbage
// collection by either behind the measurement's back. home is an empty directory.
func Environment(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + home,
		"LC_ALL=C.UTF-8",
		"TZ=UTC",
		"OXY_GC_AUTO=off",
		"OXY_NAME=Bench", "OXY_EMAIL=bench@example.com",
		"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@example.com",
		"GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@example.com",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=gc.auto", "GIT_CONFIG_VALUE_0=0",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main",
	}
}
