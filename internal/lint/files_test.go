package lint

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// Only vfs touches the file system, so that every write path also runs under the model that loses unsynced data and
// injects errors. What reads no file and writes none, os.Getenv or os.Stderr, is free to all but the computing rooms.

// fileCalls are the functions and types of the standard library that touch files.
var fileCalls = map[string][]string{
	"os": {
		"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "DirFS", "Lchown", "Link", "Lstat", "Mkdir",
		"MkdirAll", "MkdirTemp", "NewFile", "Open", "OpenFile", "OpenInRoot", "OpenRoot", "ReadDir", "ReadFile",
		"Readlink", "Remove", "RemoveAll", "Rename", "Stat", "Symlink", "Truncate", "WriteFile",
	},
	"path/filepath": {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
}

// fileModules are packages that exist to touch files.
var fileModules = []string{
	"io/ioutil", "golang.org/x/sys/unix", "golang.org/x/sys/windows", "github.com/google/renameio/v2", "github.com/gofrs/flock",
}

// computing are the rooms that do no input or output at all.
var computing = []string{"internal/change", "internal/diff", "internal/weave"}

// outward are packages that a computing room has no use for.
var outward = []string{"os", "os/exec", "net", "net/http", "syscall", "path/filepath"}

func TestOnlyVfsTouchesFiles(t *testing.T) {
	for _, s := range sources(t) {
		// revlog is a public package on its own: it opens Mercurial's files itself where its caller gives it no others, in
		// osfs_*.go alone. The rest of the module hands it vfs, through revlog.FS.
		opensItself := s.room() == "revlog" && strings.HasPrefix(s.file, "revlog/osfs_")
		if s.isTest() || slices.Contains([]string{"internal/vfs", "internal/lint", "bench", "bench/serve", "tools.go"}, s.room()) || s.file == "tools.go" || opensItself {
			continue
		}
		for _, imported := range s.imports() {
			if slices.Contains(fileModules, imported) {
				t.Errorf("%s imports %s: only internal/vfs touches files", s.file, imported)
			}
			if slices.Contains(computing, s.room()) && slices.Contains(outward, imported) {
				t.Errorf("%s imports %s: %s does no input or output", s.file, imported, s.room())
			}
		}
		names := importNames(s.ast)
		ast.Inspect(s.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := sel.X.(*ast.Ident)
			if !ok {
				return true
			}
			imported := names[pkg.Name]
			if slices.Contains(fileCalls[imported], sel.Sel.Name) {
				t.Errorf("%s: %s.%s: only internal/vfs touches files", s.position(sel), pkg.Name, sel.Sel.Name)
			}
			// Of syscall the signals and error numbers are free.
			if imported == "syscall" && !strings.HasPrefix(sel.Sel.Name, "SIG") && !strings.HasPrefix(sel.Sel.Name, "E") {
				t.Errorf("%s: syscall.%s: only internal/vfs makes system calls", s.position(sel), sel.Sel.Name)
			}
			return true
		})
	}
}

// importNames are the names by which a file calls the packages that this rule knows.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if _, known := fileCalls[imported]; !known && imported != "syscall" {
			continue
		}
		name := imported[strings.LastIndex(imported, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}
