package lint

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A command that prints ten lines must not pay for the parts that it does not use, so no package may work in its
// init. Work is counted in what it allocates: how long it takes depends on the machine, and on what the pages that it touches first cost
// there. Our own packages have no excuse; of the libraries, crypto/ssh lists its algorithms in 218 allocations.
const (
	initAllocs, initBytes       = 256, 64 << 10
	ownInitAllocs, ownInitBytes = 32, 16 << 10
)

type initCost struct{ bytes, allocs int }

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
	costs := traceInit(t, binary)
	if len(costs) == 0 {
		t.Fatal("the runtime traced no init: has the format of GODEBUG=inittrace changed?")
	}
	for name, c := range costs {
		most := initCost{initBytes, initAllocs}
		if strings.HasPrefix(name, "github.com/oxy-vcs/oxy/") {
			most = initCost{ownInitBytes, ownInitAllocs}
		}
		if c.bytes > most.bytes || c.allocs > most.allocs {
			t.Errorf("package %s allocates %d bytes at %d places in init, over %d or %d: do it when it is first used", name, c.bytes, c.allocs, most.bytes, most.allocs)
		}
	}
}

// traceInit runs the binary's cheapest command and reads the runtime's lines, which look like
// "init internal/godebug @0.41 ms, 0.012 ms clock, 1184 bytes, 14 allocs".
func traceInit(t *testing.T, binary string) map[string]initCost {
	t.Helper()
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("oxy version: %v\n%s", err, &stderr)
	}
	costs := map[string]initCost{}
	for line := range strings.Lines(stderr.String()) {
		f := strings.Fields(line)
		if len(f) < 11 || f[0] != "init" || f[8] != "bytes," || f[10] != "allocs" {
			continue
		}
		var c initCost
		var errs [2]error
		c.bytes, errs[0] = strconv.Atoi(f[7])
		c.allocs, errs[1] = strconv.Atoi(f[9])
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		costs[f[1]] = c
	}
	return costs
}
