package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxy-vcs/oxy/bench/internal/tree"
)

// branched is how many changes of one file each of two bookmarks gets.
const branched = 1_000

// merges unites two bookmarks of a thousand changes each, which touch different files, and takes the union back; then it takes
// one change of the other bookmark alone, and takes that back in turn.
func (b *bench) merges() error {
	files, err := b.branchFiles()
	if err != nil {
		return err
	}
	for i, name := range []string{"left", "right"} {
		list := files[i*branched : (i+1)*branched]
		if err := b.sides[0].importBranch(name, list); err != nil {
			return err
		}
		if err := b.sides[1].recordBranch(name, list); err != nil {
			return err
		}
	}
	for _, s := range b.sides {
		if _, err := s.tool.Run(s.root, s.to("left")...); err != nil {
			return err
		}
	}
	return b.turns(b.pairs, func(s *side, _ int) error {
		for _, step := range []struct {
			op   string
			args []string
		}{{opUnite, s.unite}, {opPick, s.pick}} {
			if err := s.time(step.op, step.args); err != nil {
				return err
			}
			if _, err := s.tool.Run(s.root, s.back...); err != nil {
				return err
			}
		}
		if s.unrecord == nil {
			return nil
		}
		if err := s.time(opUnrecord, s.unrecord); err != nil {
			return err
		}
		_, err := s.tool.Run(s.root, s.back...)
		return err
	})
}

const (
	opUnite    = "unite two bookmarks of 1 000 changes each"
	opPick     = "pick one change of the other (Git: cherry-pick)"
	opUnrecord = "take the last change but 500 away (Git cannot)"
)

// branchFiles are C files spread over the tree, of which none is edited elsewhere here.
func (b *bench) branchFiles() ([]string, error) {
	git := b.sides[0]
	list, err := git.tool.Output(git.root, "ls-files", "-z", "--", "*.c")
	if err != nil {
		return nil, err
	}
	all := bytes.Split([]byte(list), []byte{0})
	var out []string
	for i := 5; i < len(all) && len(out) < 2*branched; i += max(1, len(all)/(2*branched)-1) {
		if p := string(all[i]); p != "" && p != b.one[0] {
			out = append(out, p)
		}
	}
	if len(out) < 2*branched {
		return nil, fmt.Errorf("the tree has only %d files to branch on", len(out))
	}
	return out, nil
}

// importBranch gives Git a branch with a commit for each file. A thousand git commit would take minutes.
func (s *side) importBranch(name string, files []string) error {
	head, err := s.tool.Output(s.root, "rev-parse", "main")
	if err != nil {
		return err
	}
	var in bytes.Buffer
	for i, file := range files {
		text, err := os.ReadFile(filepath.Join(s.root, file))
		if err != nil {
			return err
		}
		text = append(text, fmt.Sprintf("/* %s */\n", name)...)
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter A <a@example.org> %d +0000\ndata 4\nedit\n", name, 1_700_000_000+i)
		if i == 0 {
			fmt.Fprintf(&in, "from %s\n", bytes.TrimSpace([]byte(head)))
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n", file, len(text))
		in.Write(text)
		in.WriteByte('\n')
	}
	_, err = s.tool.Feed(s.root, &in, "fast-import", "--quiet", "--force")
	return err
}

// recordBranch gives oxy the same bookmark by as many commits.
func (s *side) recordBranch(name string, files []string) error {
	for _, args := range [][]string{s.main, {"bookmark", "--move", name}, s.to(name)} {
		if _, err := s.tool.Run(s.root, args...); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := tree.Append(filepath.Join(s.root, file), fmt.Sprintf("/* %s */\n", name)); err != nil {
			return err
		}
		if _, err := s.tool.Run(s.root, "commit", "-m", "edit", file); err != nil {
			return err
		}
	}
	return nil
}
