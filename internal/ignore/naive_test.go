package ignore

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// naive is the oracle: it takes each pattern for what its text says, against whole paths.
type naive struct {
	pattern, path string
	names         bool            // a star stops at a slash
	known         map[[2]int]bool // by places in pattern and path
}

// at tells whether the pattern from i on matches the path from j on.
func (n *naive) at(i, j int) bool {
	key := [2]int{i, j}
	if v, ok := n.known[key]; ok {
		return v
	}
	v := n.try(i, j)
	n.known[key] = v
	return v
}

func (n *naive) try(i, j int) bool {
	p, s := n.pattern, n.path
	if i == len(p) {
		return j == len(s)
	}
	if p[i] == '*' {
		end := i
		for end < len(p) && p[end] == '*' {
			end++
		}
		bounded := end == len(p) || p[end] == '/' || strings.HasPrefix(p[end:], `\/`)
		deep := n.names && end-i > 1 && (i == 0 || p[i-1] == '/') && bounded
		if deep && end < len(p) && p[end] == '/' && n.at(end+1, j) {
			return true
		}
		for ; ; j++ {
			if n.at(end, j) {
				return true
			}
			if j == len(s) || n.names && !deep && s[j] == '/' {
				return false
			}
		}
	}
	if j == len(s) {
		return false
	}
	switch p[i] {
	case '?':
		return s[j] != '/' && n.at(i+1, j+1)
	case '[':
		set, next, ok := bracket(p, i)
		return ok && set.has(s[j]) && n.at(next, j+1)
	case '\\':
		if i++; i == len(p) {
			return false
		}
	}
	return p[i] == s[j] && n.at(i+1, j+1)
}

func naiveMatch(pattern, path string, isDir bool) bool {
	pattern, dirOnly := strings.CutSuffix(pattern, "/")
	if dirOnly && !isDir || pattern == "" {
		return false
	}
	if !strings.Contains(pattern, "/") {
		_, path = cutLast(path)
		n := naive{pattern: pattern, path: path, known: map[[2]int]bool{}}
		return n.at(0, 0)
	}
	pattern = strings.TrimPrefix(pattern, "/")
	literal := strings.IndexAny(pattern, special)
	if literal < 0 {
		return pattern == path
	}
	if !strings.HasPrefix(path, pattern[:literal]) {
		return false
	}
	n := naive{pattern: pattern[literal:], path: path[literal:], names: true, known: map[[2]int]bool{}}
	return n.at(0, 0)
}

// naiveDecision is what decides of a path when all rules are the root's, in the form of tree.decision.
func naiveDecision(text, path string) string {
	path, isDir := strings.CutSuffix(path, "/")
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		dir := isDir || i < len(path)
		decided, ignored := "-", false
		lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
		for k, line := range lines {
			if strings.HasPrefix(line, "#") {
				continue
			}
			line, _, _ = strings.Cut(strings.TrimSuffix(line, "\r"), "\x00")
			if cut := strings.TrimRight(line, " "); cut != line {
				slashes := len(cut) - len(strings.TrimRight(cut, `\`))
				line = cut + " "[:slashes%2]
			}
			if naiveMatch(strings.TrimPrefix(line, "!"), path[:i], dir) {
				decided = fmt.Sprintf("%s:%d %s", GitFile, k+1, line)
				ignored = line[0] != '!'
			}
		}
		if i == len(path) || ignored {
			return decided
		}
	}
	return "-"
}

func TestRandomRulesAgreeWithNaive(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		text := randomRules(r)
		if r.Intn(3) == 0 { // enough for every table to grow large
			for range 30 {
				text += randomRules(r) + leafNames[r.Intn(len(leafNames))] + "\n"
			}
		}
		tr := newTree(files{GitFile: text})
		for _, path := range randomPaths(r, "") {
			tr.check(t, path, naiveDecision(text, path))
		}
		if t.Failed() {
			t.Fatalf("rules %q", text)
		}
	}
}

// TestOxyFileIsReadAfterGitFile: two files of a directory are as one, Git's first.
func TestOxyFileIsReadAfterGitFile(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 100 {
		first, second := randomRules(r), strings.TrimPrefix(randomRules(r), "\ufeff")
		both := newTree(files{GitFile: first, OxyFile: second, "a/" + OxyFile: first})
		one := newTree(files{GitFile: first + "\n" + second, "a/" + GitFile: first})
		for _, path := range randomPaths(r, "") {
			got, err := both.decision(path)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := one.decision(path)
			_, got, _ = strings.Cut(got, " ")
			_, want, _ = strings.Cut(want, " ")
			if got != want {
				t.Fatalf("%q: decided by %q, in one file %q; rules %q and %q", path, got, want, first, second)
			}
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("*.o\n!a.o\n/b/\n", "a/b/x.o")
	f.Add("a/**/b\n**/c\nd**/e\n\\!x\\ \r\n", "a/x/b/c")
	f.Add("[[:alpha:]a-c\\]!]*[^b]\n[a\n", "]aa/")
	f.Add("*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, text, path string) {
		bare := strings.TrimSuffix(path, "/")
		if len(text) > 200 || len(path) > 100 || strings.Contains("/"+bare+"/", "//") {
			t.Skip()
		}
		newTree(files{GitFile: text}).check(t, path, naiveDecision(text, path))
	})
}
