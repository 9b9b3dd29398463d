package lint

import (
	"go/ast"
	"strings"
	"testing"
)

// A comment above a function or type begins with its name: one that does not was left behind when something was moved or renamed.
func TestCommentsNameWhatTheyStandAbove(t *testing.T) {
	checked := 0
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		check := func(n ast.Node, name string, doc *ast.CommentGroup) {
			if doc == nil || strings.TrimSpace(doc.Text()) == "" {
				return
			}
			checked++
			said := strings.TrimPrefix(strings.TrimPrefix(doc.Text(), "A "), "An ")
			if rest, ok := strings.CutPrefix(said, name); !ok || rest != "" && !strings.ContainsAny(rest[:1], " ,:'\n") {
				t.Errorf("%s: the comment above %s does not begin with its name", s.position(n), name)
			}
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d, d.Name.Name, d.Doc)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && !d.Lparen.IsValid() {
						check(d, spec.Name.Name, d.Doc)
					}
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("only %d comments were looked at", checked)
	}
}
