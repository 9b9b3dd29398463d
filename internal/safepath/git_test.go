package safepath

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// TestReservedAsGit compares Reserved with what "git fsck" says of trees with such names. Left out is where the two
// differ by intent: names of ".oxy", broken UTF-8, and ignorable code points that HFS+ does not ignore.
func TestReservedAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git to ask")
	}
	dir := t.TempDir()
	git := func(stdin []byte, args ...string) []byte {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Stdin = bytes.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return out
	}
	git(nil, "init", "-q")
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{
		".git", ".GiT", "git~1", "GIT~1", "git~2", ".gi", ".", "..", "g", "G", "i", "t", "T", " ", ":", "::$DATA", "\\", "\\.git",
		"\u200c", "\u200f", "\u202e", "\u206a", "\ufeff", "é", "a", "~1", "modules", "\u200b", "\u0131", "\u0130",
	}
	var names []string
	var stdin bytes.Buffer
	for range 1500 {
		var name string
		for range 1 + rng.IntN(4) {
			name += parts[rng.IntN(len(parts))]
		}
		if strings.Contains(name, "\u200b") && Reserved(name) || name == "." || name == ".." {
			continue
		}
		names = append(names, name)
		fmt.Fprintf(&stdin, "100644 blob %s\t%s\x00\x00", strings.Repeat("1", 40), name)
	}
	ids := strings.Fields(string(git(stdin.Bytes(), "mktree", "--missing", "--batch", "-z")))
	if len(ids) != len(names) {
		t.Fatalf("%d trees of %d names", len(ids), len(names))
	}
	refused := map[string]bool{}
	report, _ := exec.Command("git", "-C", dir, "fsck", "--no-dangling").CombinedOutput() // fails, for the blobs are missing
	for line := range strings.SplitSeq(string(report), "\n") {
		if head, _, found := strings.Cut(line, ": hasDotgit"); found {
			refused[head[strings.LastIndexByte(head, ' ')+1:]] = true
		}
	}
	if len(refused) < 50 {
		t.Fatalf("fsck names %d trees:\n%s", len(refused), report)
	}
	for i, name := range names {
		if got, want := Reserved(name), refused[ids[i]]; got != want {
			t.Errorf("Reserved(%q) = %v, git says %v", name, got, want)
		}
	}
}
