package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// run runs oxy as a process of its own.
func run(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("oxy", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "OXY_NAME=Ada", "OXY_EMAIL=ada@example.org", "TZ=UTC", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errs.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), 0
}

func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, errs, code := run(t, dir, args...)
	if code != 0 {
		t.Fatalf("oxy %s: exit %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestTwoWriters lets processes commit at once, each its own files. Every commit that says that it was done is in the
// log; one that was not done says why in a line.
func TestTwoWriters(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "init")
	const writers, rounds = 3, 8
	var group sync.WaitGroup
	done := make([][]string, writers)
	for w := range writers {
		group.Go(func() {
			for i := range rounds {
				name := fmt.Sprintf("w%d/f%d", w, i)
				message := fmt.Sprintf("writer %d round %d", w, i)
				write(t, dir, name, message+"\n")
				_, errs, code := run(t, dir, "commit", "-m", message, name)
				switch {
				case code == 0:
					done[w] = append(done[w], message)
				case code == 2 && strings.HasPrefix(errs, "oxy: ") && strings.Count(errs, "\n") <= 2:
				default:
					t.Errorf("%s: exit %d: %s", message, code, errs)
				}
			}
		})
	}
	group.Wait()
	log := must(t, dir, "log", "--oneline")
	lines := strings.Count(log, "\n")
	want := 0
	for _, messages := range done {
		want += len(messages)
		for _, m := range messages {
			if strings.Count(log, m+"\n") != 1 {
				t.Errorf("%q was done, but is not once in the log:\n%s", m, log)
			}
		}
	}
	if lines != want || want == 0 {
		t.Errorf("%d changes in the log, %d were done", lines, want)
	}
	run(t, dir, "commit", "-m", "the rest")
	if out := must(t, dir, "status"); !strings.Contains(out, "Nothing changed since.") {
		t.Errorf("afterwards:\n%s", out)
	}
}

// TestDamage breaks every file of a repository in turn: cut short, a byte turned, gone. Whatever a command then
// answers, it does not crash, says in a line what is wrong if it fails, and never calls edits recorded that are not.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	must(t, dir, "init")
	for i := range 4 {
		write(t, dir, "a", strings.Repeat(fmt.Sprintf("line of round %d\n", i), 40))
		write(t, dir, fmt.Sprintf("d/%d", i), strings.Repeat("x", 5000*i))
		must(t, dir, "commit", "-m", fmt.Sprintf("round %d", i))
	}
	must(t, dir, "tag", "v1")
	want := must(t, dir, "log", "-p")
	var files []string
	err := filepath.WalkDir(filepath.Join(dir, ".oxy"), func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	commands := [][]string{{"status"}, {"log", "-p"}, {"blame", "a"}, {"cat", "-r", "main~2", "a"}, {"op", "log"}, {"tag"}}
	for _, name := range files {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, damage := range []struct {
			what string
			make func() error
		}{
			{"gone", func() error { return os.Remove(name) }},
			{"empty", func() error { return os.WriteFile(name, nil, 0o666) }},
			{"cut short", func() error { return os.WriteFile(name, whole[:len(whole)/2], 0o666) }},
			{"a byte turned", func() error {
				b := slices.Clone(whole)
				if len(b) > 0 {
					b[len(b)/2] ^= 0x41
				}
				return os.WriteFile(name, b, 0o666)
			}},
		} {
			if err := damage.make(); err != nil {
				t.Fatal(err)
			}
			for _, c := range commands {
				_, errs, code := run(t, dir, c...)
				if code != 0 && code != 2 || code == 2 && !strings.HasPrefix(errs, "oxy: ") || strings.Contains(errs, "goroutine") {
					t.Errorf("%s %s, oxy %v: exit %d: %s", filepath.Base(name), damage.what, c, code, errs)
				}
			}
			// Derived files may have been made anew, and are as good then.
			if err := os.WriteFile(name, whole, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := must(t, dir, "log", "-p"); got != want {
		t.Error("the log is another one after all was put back")
	}
}
