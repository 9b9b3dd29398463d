package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A command that prints ten lines must not pay for the parts that it does not use, so no package may work in its
// init.
const initLimit = 200 * time.Microsecond

// initAllowed are the packages that may, with the reason.
var initAllowed = map[string]string{
	"runtime":                       "is not ours to change",
	"github.com/klauspost/cpuid/v2": "asks the processor what it can; a virtual machine traps each question: 0.26 ms there, next to nothing on bare metal",
}

// initRuns is how often the start is looked at: of each package the best counts, since a busy machine only adds.
const initRuns = 10

func TestStartUpDoesNoWork(t *testing.T) {
	if found, _ := filepath.Glob(filepath.Join(root, "cmd", "oxy", "*.go")); len(found) == 0 {
		t.Skip("cmd/oxy has no Go files yet")
	}
	binary := filepath.Join(t.TempDir(), "oxy")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-o", binary, "./cmd/oxy")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build cmd/oxy: %v\n%s", err, out)
	}
	best := map[string]time.Duration{}
	for range initRuns {
		for name, took := range traceInit(t, binary) {
			if had, seen := best[name]; !seen || took < had {
				best[name] = took
			}
		}
	}
	if len(best) == 0 {
		t.Fatal("the runtime traced no init: has the format of GODEBUG=inittrace changed?")
	}
	for name, took := range best {
		if took > initLimit && initAllowed[name] == "" {
			t.Errorf("package %s spends %v in init, over %v: do it when it is first used", name, took, initLimit)
		}
	}
}

// traceInit runs the binary's cheapest command and reads the runtime's lines, which look like
// "init internal/godebug @0.41 ms, 0.012 ms clock, 1184 bytes, 14 allocs".
func traceInit(t *testing.T, binary string) map[string]time.Duration {
	t.Helper()
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("oxy version: %v\n%s", err, &stderr)
	}
	took := map[string]time.Duration{}
	for line := range strings.Lines(stderr.String()) {
		f := strings.Fields(line)
		if len(f) < 7 || f[0] != "init" || f[6] != "clock," {
			continue
		}
		d, err := time.ParseDuration(f[4] + "ms")
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		took[f[1]] = d
	}
	return took
}
