package cli

import (
	"path/filepath"
	"strings"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// messageFile is where the editor finds the message. It stays there afterwards: a commit that fails has not lost it.
const messageFile = "message"

// maxListed bounds the files that the template lists: a first commit has tens of thousands.
const maxListed = 100

// editMessage asks for a verb's message in the person's editor. notes are lines that it tells them besides.
func (a *app) editMessage(verb, initial string, files []repo.FileChange, notes ...string) (string, error) {
	line, set := ui.EditorLine(a.env.Get, a.setting("ui.editor"))
	if !set && !ui.IsTerminal(a.stdio.In) {
		return "", &repo.Error{Text: "there is no message", Next: "Give one with oxy " + verb + " -m TEXT, or name an editor in OXY_EDITOR."}
	}
	if a.progress != nil {
		a.progress.End()
	}
	name := filepath.Join(a.repo.Root(), repo.DirName, messageFile)
	if err := vfs.WriteFileAtomic(a.fs, name, a.messageTemplate(initial, files, notes), false); err != nil {
		return "", err
	}
	if err := ui.Edit(line, name, a.stdio.In, a.stdio.Out, a.stdio.Err); err != nil {
		return "", &repo.Error{Text: err.Error(), Next: "Name another editor in OXY_EDITOR, or write oxy " + verb + " -m TEXT.", Err: err}
	}
	b, err := a.fs.ReadFile(name, maxMessage)
	if err != nil {
		return "", err
	}
	message := withoutComments(string(b))
	if message == "" {
		return "", emptyMessage(verb)
	}
	return message, nil
}

func (a *app) messageTemplate(initial string, files []repo.FileChange, notes []string) []byte {
	b := append([]byte(initial), '\n')
	b = append(b, "# Say what this change does. Lines that begin with # are left out; an empty message records nothing.\n#\n"...)
	for _, note := range notes {
		b = append(append(append(b, "# This is "...), note...), ".\n"...)
	}
	for i := range files {
		if i == maxListed {
			b = append(b, "# and "...)
			b = append(b, plural(len(files)-i, "more file")...)
			return append(b, '\n')
		}
		f := &files[i]
		letter := f.What.Letter()
		if f.What == repo.Untracked {
			letter = repo.Added.Letter()
		}
		b = append(b, "#   "...)
		b = append(b, letter, ' ')
		if f.What == repo.Moved {
			b = appendQuoted(b, f.Old.Path)
			b = append(b, " -> "...)
		}
		b = appendQuoted(b, f.Path())
		b = append(b, '\n')
	}
	return b
}

// withoutComments takes the template's lines out.
func withoutComments(s string) string {
	var kept []string
	for _, line := range strings.Split(s, "\n") {
		if !strings.HasPrefix(line, "#") {
			kept = append(kept, line)
		}
	}
	return tidy(strings.Join(kept, "\n"))
}
