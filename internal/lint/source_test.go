package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/oxy-vcs/oxy"

// root is the module's directory, seen from this package's.
const root = "../.."

// source is one parsed Go file of the module.
type source struct {
	file string // from the module's root, with slashes
	ast  *ast.File
	fset *token.FileSet
}

// dir is the package's directory from the module's root.
func (s source) dir() string { return path.Dir(s.file) }

func (s source) isTest() bool { return strings.HasSuffix(s.file, "_test.go") }

// room is the package as the architecture page names it: internal/store also for internal/store/pack.
func (s source) room() string { return roomOf(s.dir()) }

func roomOf(dir string) string {
	if _, own := below[dir]; own {
		return dir
	}
	parts := strings.Split(dir, "/")
	if len(parts) > 1 && (parts[0] == "internal" || parts[0] == "cmd") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// imports are the paths that a file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

func (s source) position(n ast.Node) string {
	return s.file + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// sources parses every Go file of the module, for all systems alike: a rule that holds on Linux only is none.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != root && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		all = append(all, source{filepath.ToSlash(rel), parsed, fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no Go files found: the rules check nothing")
	}
	return all
}
