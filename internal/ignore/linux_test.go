package ignore

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entry is a name in a directory of the Linux tree; a directory has its entries and its rules.
type entry struct {
	name    string
	isDir   bool
	text    []byte // of the directory's .gitignore
	rules   *Rules
	entries []entry
}

// Debian's packagers end the root's file so; with it nothing but one directory is left to match.
const packagersPatterns = "/*\n!/debian/\n"

// linuxTree reads the tree that OXY_LINUX_DIR names, a source tree of Linux, without the packagers' patterns.
func linuxTree(tb testing.TB) (root entry, ignoreFiles files, paths []string) {
	tb.Helper()
	base := os.Getenv("OXY_LINUX_DIR")
	if base == "" {
		tb.Skip("OXY_LINUX_DIR names no Linux tree")
	}
	ignoreFiles = files{}
	var read func(dir string, in *entry)
	read = func(dir string, in *entry) {
		list, err := os.ReadDir(filepath.Join(base, dir))
		if err != nil {
			tb.Fatal(err)
		}
		for _, de := range list {
			e := entry{name: de.Name(), isDir: de.IsDir()}
			path := dir + e.name
			switch {
			case e.isDir:
				path += "/"
				read(path, &e)
			case e.name == GitFile && de.Type() == fs.FileMode(0):
				if in.text, err = os.ReadFile(filepath.Join(base, path)); err != nil {
					tb.Fatal(err)
				}
				in.text = bytes.TrimSuffix(in.text, []byte(packagersPatterns))
				in.rules = Parse(in.text)
				ignoreFiles[path] = string(in.text)
			}
			paths = append(paths, path)
			in.entries = append(in.entries, e)
		}
	}
	root.isDir = true
	read("", &root)
	return root, ignoreFiles, paths
}

// TestLinuxAgreesWithGit compares all paths of the tree, and in each directory names that a build leaves there.
func TestLinuxAgreesWithGit(t *testing.T) {
	_, ignoreFiles, paths := linuxTree(t)
	for _, p := range paths {
		if dir, isDir := strings.CutSuffix(p, "/"); isDir {
			for _, name := range []string{
				"zz.o", "zz.ko", "zz.mod.c", ".zz.o.cmd", ".config", ".gitignore", "zz.dtb", "zz.dtb.S", "modules.order", "vmlinux",
				"zz.tab.h", "zz.asn1.c", "TAGS", "zz~", "#zz#", "zz.orig", "zz.so.dbg", "bounds.s", "config_data.gz", "autoconf.h",
			} {
				paths = append(paths, dir+"/"+name)
			}
		}
	}
	g := newGitTree(t)
	n := g.compare(t, ignoreFiles, paths)
	t.Logf("%d paths, %d ignore files", n, len(ignoreFiles))
	ignoreFiles[GitFile] += packagersPatterns
	g.compare(t, ignoreFiles, paths)
}

// matchBelow asks for each entry, going down into the directories that are not ignored.
func matchBelow(s *Stack, dir *entry) (ignored int) {
	for i := range dir.entries {
		e := &dir.entries[i]
		switch v := s.Match(e.name, e.isDir); {
		case v == Ignored:
			ignored++
		case e.isDir:
			ignored += matchBelow(s.Push(e.name, e.rules), e)
		}
	}
	return ignored
}

func BenchmarkLinux(b *testing.B) {
	root, ignoreFiles, paths := linuxTree(b)
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, text := range ignoreFiles {
				Parse([]byte(text))
			}
		}
	})
	b.Run("match", func(b *testing.B) {
		b.ReportAllocs()
		ignored := 0
		for b.Loop() {
			ignored = matchBelow(NewStack(root.rules), &root)
		}
		b.ReportMetric(float64(len(paths)), "paths/op")
		b.ReportMetric(float64(ignored), "ignored/op")
	})
}
