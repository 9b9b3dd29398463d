package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func hunksCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "hunks [PATHS]",
		Short: "List the hunks that commit and discard can take by themselves",
		Long: `List the hunks of the working copy, each with a short id that stays the same while the hunk does. commit --hunk and
discard --hunk take these ids.`,
		Example: `  oxy hunks
  oxy commit --hunk 3f9a -m "Only this one"`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			hunks, err := r.Hunks(a.interruptible(), paths)
			if err != nil {
				return notRecording(err)
			}
			if a.json {
				list := make([]jsonWorkHunk, len(hunks))
				for i := range hunks {
					list[i] = newWorkHunk(&hunks[i])
				}
				return printJSONList(a, list)
			}
			if err := a.page(); err != nil {
				return err
			}
			for i := range hunks {
				if _, err := a.out.Write(a.appendHunk(nil, &hunks[i])); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// appendHunk appends a hunk with its id and file.
func (a *app) appendHunk(dst []byte, h *repo.Hunk) []byte {
	p := a.colours()
	dst = append(dst, p.Yellow...)
	dst = append(dst, h.ID...)
	dst = append(dst, p.Reset...)
	dst = append(dst, ' ')
	dst = append(dst, p.Bold...)
	dst = a.show().append(dst, h.Path)
	dst = append(dst, p.Reset...)
	dst = append(dst, '\n')
	for line := range strings.Lines(h.Text) {
		colour := ""
		switch line[0] {
		case '+':
			colour = p.Green
		case '-':
			colour = p.Red
		case '@':
			colour = p.Cyan
		}
		body := strings.TrimSuffix(line, "\n")
		dst = append(dst, colour...)
		dst = append(dst, body...)
		if colour != "" {
			dst = append(dst, p.Reset...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// pick asks for each hunk whether to verb it.
func (a *app) pick(verb string, paths []string) ([]string, error) {
	hunks, err := a.repo.Hunks(a.ctx, paths)
	if err != nil {
		return nil, err
	}
	if len(hunks) == 0 {
		return nil, &repo.Error{Text: "nothing changed", No: true}
	}
	pieces := make([]ui.Piece, len(hunks))
	for i := range hunks {
		pieces[i] = ui.Piece{ID: hunks[i].ID, File: hunks[i].Path, Text: string(a.appendHunk(nil, &hunks[i]))}
	}
	out := a.stdio.Out
	if a.json {
		out = a.stdio.Err // the result alone is JSON
	}
	ids, err := ui.Pick(a.input(), out, verb, pieces, *a.colours())
	if err == nil && len(ids) == 0 {
		err = &repo.Error{Text: "no hunk was picked; nothing was done", No: true}
	}
	return ids, err
}

type jsonWorkHunk struct {
	ID        string `json:"id"`
	Path      string `json:"path"`
	PathBytes string `json:"path_bytes,omitempty"`
	What      string `json:"what"`
	OldStart  int    `json:"old_start"`
	OldLines  int    `json:"old_lines"`
	NewStart  int    `json:"new_start"`
	NewLines  int    `json:"new_lines"`
	Text      string `json:"text"`
}

func newWorkHunk(h *repo.Hunk) jsonWorkHunk {
	path := newText(h.Path)
	return jsonWorkHunk{
		ID: h.ID, Path: path.Value, PathBytes: path.Bytes, What: h.What.String(),
		OldStart: h.A0 + 1, OldLines: h.A1 - h.A0, NewStart: h.B0 + 1, NewLines: h.B1 - h.B0, Text: h.Text,
	}
}
