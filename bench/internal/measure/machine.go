package measure

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Machine prints what a reader must know to judge the figures. dir is where the measured repositories are.
func Machine(w io.Writer, oxy, git Tool, dir string) {
	version := func(t Tool, args ...string) string {
		out, err := t.Output(dir, args...)
		if err != nil {
			return "unknown"
		}
		line, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
		return line
	}
	fmt.Fprintf(w, "- date: %s\n", time.Now().UTC().Format("2006-01-02 15:04 MST"))
	fmt.Fprintf(w, "- machine: %s, %d cores, %s, %s %s\n", processor(), runtime.NumCPU(), memory(), runtime.GOOS, kernel())
	fmt.Fprintf(w, "- file system: %s\n", fileSystem(dir))
	fmt.Fprintf(w, "- oxy: %s, commit %s, %s\n", version(oxy, "version"), commit(), runtime.Version())
	fmt.Fprintf(w, "- git: %s\n\n", version(git, "version"))
}

// commit is the commit that the benchmark was built from.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err == nil {
		return strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

func processor() string { return field("/proc/cpuinfo", "model name", runtime.GOARCH) }

func memory() string { return field("/proc/meminfo", "MemTotal", "unknown memory") }

// field finds the value of a "key : value" line.
func field(file, key, otherwise string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return otherwise
	}
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return otherwise
}

func kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// fileSystem is the type of the file system that holds dir: a RAM disk would hide what a sync costs.
func fileSystem(dir string) string {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "unknown"
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	kind, longest := "unknown", 0
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) < 3 || len(f[1]) < longest {
			continue
		}
		if at := strings.TrimSuffix(f[1], "/") + "/"; strings.HasPrefix(dir+"/", at) {
			kind, longest = f[2], len(f[1])
		}
	}
	return kind
}
