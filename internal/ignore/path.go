package ignore

import (
	"fmt"
	"strings"
)

// Loader reads the rules of a directory's ignore files, the one that decides last first. The directory is a path from
// the root with slashes, "" for the root itself.
type Loader func(dir string) ([]*Rules, error)

// MatchPath tells what the rules say of one path from the root, with slashes: what Match would say of the highest of
// its directories that is ignored, else of the entry itself. Stack global holds for the whole tree and lacks the
// root's own files. It reads no directory below one that is ignored.
func MatchPath(global *Stack, load Loader, path string, isDir bool) (Verdict, error) {
	at, name, isDir, err := walk(global, load, path, isDir)
	if err != nil {
		return None, err
	}
	return at.Match(name, isDir), nil
}

// ExplainPath is MatchPath with the pattern that decides, as in Explain.
func ExplainPath(global *Stack, load Loader, path string, isDir bool) (source string, line int, text string, v Verdict, err error) {
	at, name, isDir, err := walk(global, load, path, isDir)
	if err != nil {
		return "", 0, "", None, err
	}
	source, line, text, v = at.Explain(name, isDir)
	return source, line, text, v, nil
}

// walk goes down to the entry whose verdict is that of path.
func walk(at *Stack, load Loader, path string, isDir bool) (*Stack, string, bool, error) {
	dir, dirName := "", ""
	for start := 0; ; {
		rules, err := load(dir)
		if err != nil {
			return nil, "", false, fmt.Errorf("read ignore rules of %q: %w", dir, err)
		}
		at = at.Push(dirName, rules...)
		name, _, more := strings.Cut(path[start:], "/")
		if name == "" {
			return nil, "", false, fmt.Errorf("match path %q: a name in it is empty", path)
		}
		if !more || at.Match(name, true) == Ignored {
			return at, name, isDir || more, nil
		}
		start += len(name) + 1
		dir, dirName = path[:start-1], name
	}
}
