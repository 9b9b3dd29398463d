package lint

import (
	"slices"
	"strings"
	"testing"
)

// below says for each room which rooms of the module it may import: imports point down only. The rooms that compute,
// change, diff and weave, stand above nothing that does input or output. A new room gets its line here and its place
// in docs/architecture.md.
var below = map[string][]string{
	"internal/vfs":       {},
	"internal/timings":   {},
	"internal/safepath":  {"internal/vfs"},
	"internal/change":    {"internal/safepath"},
	"internal/sign":      {"internal/change", "internal/vfs"},
	"internal/gitbridge": {"internal/safepath", "internal/vfs"},
	// The one of the Git bridge's packages that knows repositories.
	"internal/gitbridge/bridge": {"internal/gitbridge", "internal/repo", "internal/state", "internal/change", "internal/safepath", "internal/vfs"},
	"internal/diff":             {"internal/change", "internal/safepath"},
	"internal/weave":            {"internal/change", "internal/diff", "internal/oracle"},
	"internal/store":            {"internal/change", "internal/safepath", "internal/vfs"},
	"internal/state":            {"internal/weave", "internal/change", "internal/diff", "internal/store", "internal/safepath", "internal/vfs"},
	"internal/ignore":           {"internal/safepath", "internal/vfs"},
	"internal/worktree": {"internal/state", "internal/ignore", "internal/weave", "internal/change", "internal/diff",
		"internal/store", "internal/safepath", "internal/vfs"},
	"internal/sync":   {"internal/sign", "internal/change", "internal/safepath"},
	"internal/serve":  {"internal/sync", "internal/safepath", "internal/vfs"},
	"internal/s3":     {},
	"internal/bucket": {"internal/s3", "internal/sync", "internal/change", "internal/safepath"},
	"internal/repo": {"internal/bucket", "internal/s3", "internal/serve", "internal/sync", "internal/worktree", "internal/state", "internal/ignore", "internal/weave", "internal/change",
		"internal/diff", "internal/store", "internal/sign", "internal/safepath", "internal/vfs", "internal/timings", "internal/oracle"},
	"internal/ui": {"internal/repo", "internal/worktree", "internal/state", "internal/ignore", "internal/weave",
		"internal/change", "internal/diff", "internal/store", "internal/safepath", "internal/vfs"},
	"internal/cli": {"internal/gitbridge/bridge", "internal/hgbridge/bridge", "revlog", "internal/ui", "internal/repo", "internal/serve", "internal/sync", "internal/worktree", "internal/state", "internal/ignore",
		"internal/weave", "internal/change", "internal/diff", "internal/store", "internal/safepath", "internal/vfs",
		"internal/sign", "internal/timings"},
	"cmd/oxy": {"internal/cli"},
	// Public, and on its own.
	"revlog": {},
	// The bridges are leaves.
	"internal/hgbridge": {"revlog", "internal/vfs"},
	// The one of the Mercurial bridge's packages that knows repositories.
	"internal/hgbridge/bridge": {"internal/hgbridge", "revlog", "internal/repo", "internal/state", "internal/change", "internal/safepath", "internal/vfs"},
	// Not the product: the benchmarks know it as a binary only, these tests as text.
	"bench": {"revlog"},
	// But of a network that no machine has: that has to be modelled beneath the product's own code.
	"bench/serve":   {"bench", "internal/repo", "internal/change"}, // two hundred clients in one process, beside a server that is the binary
	"bench/bucket":  {"internal/bucket", "internal/s3", "internal/sync", "internal/change"},
	"internal/lint": {},
	// The definition that tests hold weave and repo to.
	"internal/oracle": {"internal/change"},
}

func TestImportsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.file == "tools.go" {
			continue
		}
		room := s.room()
		allowed, known := below[room]
		if !known {
			t.Errorf("%s: %s has no layer yet: give it one in internal/lint/layers_test.go and docs/architecture.md", s.file, room)
			continue
		}
		for _, imported := range s.imports() {
			dir, ours := strings.CutPrefix(imported, module+"/")
			if !ours {
				continue
			}
			other := roomOf(dir)
			if other != room && !slices.Contains(allowed, other) {
				t.Errorf("%s: %s may not import %s: imports point down only", s.file, room, other)
			}
			if room == "internal/repo" && other == "internal/serve" && !s.isTest() {
				t.Errorf("%s imports %s: only tests of %s do", s.file, other, room)
			}
			if other == "internal/oracle" && other != room && !s.isTest() {
				t.Errorf("%s imports %s: only tests do", s.file, other)
			}
		}
	}
}

// The table itself points down: no room is below itself by any way round.
func TestLayersHaveNoCycle(t *testing.T) {
	var visit func(room string, path []string)
	visit = func(room string, path []string) {
		if slices.Contains(path, room) {
			t.Fatalf("cycle: %s", strings.Join(append(path, room), " > "))
		}
		for _, next := range below[room] {
			if _, known := below[next]; !known {
				t.Fatalf("%s may import %s, which has no layer", room, next)
			}
			visit(next, append(path, room))
		}
	}
	for room := range below {
		visit(room, nil)
	}
}
