package ignore

import (
	"flag"
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

var (
	gitRounds = flag.Int("git.rounds", 1, "batches of random rules to compare with Git, 60 sets of rules each")
	gitSeed   = flag.Int64("git.seed", 1, "seed of the first batch")
)

var (
	atoms = []string{
		"*", "*", "**", "***", "/", "/", "/", "**/", "/**", "/**/", "?", "[ab]", "[!a]", "[^b]", "[[:alpha:]]", "[a-c]", "[[:bad:]]",
		"[]a]", "[a/]", "[\\]a]", `\`, `\a`, `\/`, `\ `, " ", " ", "!", "#", "[", "]", "-", "a", "a", "a", "b", "b", "c", ".", "\r", "\t", "é",
	}
	dirNames  = []string{"a", "b", "ab", "a b", "!a", "[a"}
	leafNames = []string{"a", "b", "c", "aa", "ba", "abc", "a ", " ", "#a", "!a", `a\`, "[a]", "]", "-", "*", ".a", "a.b", "a\r", "a\t", "é"}
)

// randomRules returns the text of a few patterns.
func randomRules(r *rand.Rand) string {
	var text strings.Builder
	for range 1 + r.Intn(4) {
		if r.Intn(4) == 0 {
			text.WriteByte('!')
		}
		for range 1 + r.Intn(5) {
			text.WriteString(atoms[r.Intn(len(atoms))])
		}
		text.WriteString([]string{"\n", "\n", "\n", "\n", "\r\n", "/\n", " \n", "\n\n#\n"}[r.Intn(8)])
	}
	if r.Intn(8) == 0 {
		return "\ufeff" + strings.TrimSuffix(text.String(), "\n")
	}
	if r.Intn(20) == 0 { // enough for every table to grow large
		for range 40 {
			text.WriteString(leafNames[r.Intn(len(leafNames))] + "\n!*" + leafNames[r.Intn(len(leafNames))] + "\n")
		}
	}
	return text.String()
}

// randomPaths returns some of the paths of three levels beneath dir, which is "" or ends with a slash.
func randomPaths(r *rand.Rand, dir string) []string {
	var paths []string
	add := func(dir string) {
		for _, name := range leafNames {
			if r.Intn(3) == 0 {
				paths = append(paths, dir+name)
			}
		}
	}
	for _, one := range dirNames {
		one = dir + one + "/"
		paths = append(paths, one)
		for _, two := range dirNames {
			if two = one + two + "/"; r.Intn(3) == 0 {
				paths = append(paths, two)
				add(two)
			}
		}
		add(one)
	}
	// What is a directory must not be asked for as a file.
	isDir := map[string]bool{}
	for _, p := range paths {
		if dir, ok := strings.CutSuffix(p, "/"); ok {
			isDir[dir] = true
		}
	}
	for _, name := range dirNames {
		isDir[dir+name] = true
		for _, two := range dirNames {
			isDir[dir+name+"/"+two] = true
		}
	}
	add(dir)
	kept := paths[:0]
	for _, p := range paths {
		if !isDir[p] {
			kept = append(kept, p)
		}
	}
	return kept
}

// TestRandomRulesAgreeWithGit makes, in each round, many directories with rules of their own and asks Git once.
func TestRandomRulesAgreeWithGit(t *testing.T) {
	total := 0
	for seed := *gitSeed; seed < *gitSeed+int64(*gitRounds) && !t.Failed(); seed++ {
		r := rand.New(rand.NewSource(seed))
		g := newGitTree(t)
		for range 5 {
			fs := files{}
			if r.Intn(2) == 0 {
				for _, name := range []string{userFile, excludeFile, GitFile} {
					if r.Intn(2) == 0 {
						fs[name] = randomRules(r)
					}
				}
			}
			paths := randomPaths(r, "")
			for set := range 12 {
				dir := fmt.Sprintf("d%d/", set)
				fs[dir+GitFile] = randomRules(r)
				if r.Intn(3) == 0 {
					fs[dir+dirNames[r.Intn(len(dirNames))]+"/"+GitFile] = randomRules(r)
				}
				paths = append(paths, randomPaths(r, dir)...)
			}
			total += g.compare(t, fs, paths)
		}
	}
	t.Logf("%d rounds from seed %d: %d paths compared", *gitRounds, *gitSeed, total)
}

// TestClassesAgreeWithGit compares each class and a few odd brackets for each byte a name may hold.
func TestClassesAgreeWithGit(t *testing.T) {
	g := newGitTree(t)
	fs := files{}
	var paths []string
	for i, set := range []string{
		"[[:alnum:]]", "[[:alpha:]]", "[[:blank:]]", "[[:cntrl:]]", "[[:digit:]]", "[[:graph:]]", "[[:lower:]]", "[[:print:]]",
		"[[:punct:]]", "[[:space:]]", "[[:upper:]]", "[[:xdigit:]]", "[![:alnum:]x-z]", "[^[:punct:]]", "[[:Alpha:]]", "[[:alpha]]",
		"[[:]", "[[:]]", "[[::]]", "[[:alpha:]-z]", "[a-[:digit:]]", "[]]", "[!]]", "[^^]", "[]-a]", "[--0]", "[a-]", "[-a]", "[a-c-e]",
		"[z-a]", `[\]]`, `[a-\]]`, `[\a-\c]`, `[a\]`, `[a-\`, "[", "[]", "[!]", "[!", "[a-", "[[:alpha:", "[[:alpha:]", "[/]", "[.-0]",
		"[!/]", "[\x80-\xff]", "[é]", "[!é]", "?", `\?`, "[[.a.]]", "[[=a=]]", "[a!]", "[a^]", "[[]", "[[a]", "[]", "[\\\\]", "[\t-\r]",
	} {
		dir := fmt.Sprintf("d%d/", i)
		fs[dir+GitFile] = "x" + set + "\n/y" + set + "\n"
		for c := 1; c < 256; c++ {
			if c != '/' {
				paths = append(paths, dir+"x"+string([]byte{byte(c)}), dir+"y"+string([]byte{byte(c)}))
			}
		}
	}
	g.compare(t, fs, paths)
}
