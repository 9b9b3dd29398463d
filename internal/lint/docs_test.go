package lint

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)`")
	namedStories = regexp.MustCompile("stor(?:y|ies) (`[a-z_]+`(?:(?:,| and) `[a-z_]+`)*)")
	inTicks      = regexp.MustCompile("`([a-z_]+)`")
)

// A page that says what holds a promise names tests that exist.
func TestDocsNameTestsThatExist(t *testing.T) {
	tests := map[string]bool{}
	for _, s := range sources(t) {
		if !s.isTest() {
			continue
		}
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = true
			}
		}
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names, stories := 0, 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedTest.FindAllSubmatch(text, -1) {
			if names++; !tests[string(m[1])] {
				t.Errorf("%s names %s, which there is not", filepath.Base(page), m[1])
			}
		}
		for _, list := range namedStories.FindAllSubmatch(text, -1) {
			for _, m := range inTicks.FindAllSubmatch(list[1], -1) {
				stories++
				if _, err := os.Stat(filepath.Join(root, "internal/cli/testdata/script", string(m[1])+".txtar")); err != nil {
					t.Errorf("%s names the story %s, which there is not", filepath.Base(page), m[1])
				}
			}
		}
	}
	if names < 100 || stories < 10 {
		t.Errorf("only %d tests and %d stories were found to be named", names, stories)
	}
}
