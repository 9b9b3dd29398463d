package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// mergeTools are the lines of tools that need not be set. They find the files in the variables that Git's mergetool has,
// so that a line which was written for that works here.
var mergeTools = [...]struct{ name, line string }{
	{"meld", `meld --output "$MERGED" "$LOCAL" "$BASE" "$REMOTE"`},
	{"kdiff3", `kdiff3 -o "$MERGED" "$BASE" "$LOCAL" "$REMOTE"`},
	{"vimdiff", `vim -f -d -c "4wincmd w | wincmd J" "$LOCAL" "$BASE" "$REMOTE" "$MERGED"`},
	{"nvimdiff", `nvim -f -d -c "4wincmd w | wincmd J" "$LOCAL" "$BASE" "$REMOTE" "$MERGED"`},
	{"code", `code --wait --merge "$REMOTE" "$LOCAL" "$BASE" "$MERGED"`},
}

// knownTool is the command line of a merge tool that is set or built in, or "".
func (a *app) knownTool(name string) string {
	if line := a.setting("merge.tools." + name); line != "" {
		return line
	}
	for _, t := range mergeTools {
		if t.name == name {
			return t.line
		}
	}
	return ""
}

// mergeToolLine is the command line of the merge tool that a flag names.
func (a *app) mergeToolLine(name string) (string, error) {
	if name == setTool {
		if name = a.setting("merge.tool"); name == "" {
			return "", &repo.Error{Text: "no merge tool is set", Next: "Set one with: oxy config --user merge.tool meld"}
		}
	}
	if line := a.knownTool(name); line != "" {
		return line, nil
	}
	return "", &repo.Error{Text: fmt.Sprintf("there is no merge tool %q", name),
		Next: "Say how it is run: oxy config --user merge.tools." + name + ` '` + name + ` "$BASE" "$LOCAL" "$REMOTE" "$MERGED"'`}
}

// sidesOf are the texts that a merge tool shows of one file, and what it makes of them, which begins as the file with marks.
type sidesOf struct{ base, local, remote, merged []byte }

// runMergeTool lets a person decide in a tool, and gives the text that it leaves.
func (a *app) runMergeTool(line, file string, s sidesOf) ([]byte, error) {
	dir := filepath.Join(a.repo.Root(), repo.DirName, "mergetool")
	if err := a.fs.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	defer a.fs.RemoveAll(dir)
	env := os.Environ()
	merged := ""
	for _, f := range [...]struct {
		name string
		text []byte
	}{{"BASE", s.base}, {"LOCAL", s.local}, {"REMOTE", s.remote}, {"MERGED", s.merged}} {
		// The name's end tells the tool what language it is.
		merged = filepath.Join(dir, f.name+"-"+path.Base(file))
		if err := vfs.WriteFileAtomic(a.fs, merged, f.text, false); err != nil {
			return nil, err
		}
		env = append(env, f.name+"="+merged)
	}
	if a.progress != nil {
		a.progress.End()
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Env, cmd.Dir = env, a.repo.Root()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdio.In, a.stdio.Err, a.stdio.Err // the result alone is output
	if err := cmd.Run(); err != nil {
		return nil, &repo.Error{Text: fmt.Sprintf("the merge tool failed on %s: %v", a.show().text(file), err), Next: "Nothing was decided. What was run: " + line, Err: err}
	}
	text, err := a.fs.ReadFile(merged, change.MaxText)
	if err != nil {
		return nil, fmt.Errorf("read what the merge tool made: %w", err)
	}
	if slices.Equal(text, s.merged) {
		return nil, &repo.Error{Text: "the merge tool left " + a.show().text(file) + " as it was; nothing was decided", No: true}
	}
	return text, nil
}

// toolNames lists the tools that need not be set.
func toolNames() string {
	var names []string
	for _, t := range mergeTools {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}
