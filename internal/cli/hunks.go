package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

func hunksCommand(a *app) *cobra.Command {
	var of string
	c := &cobra.Command{
		Use:   "hunks [PATHS]",
		Short: "List the hunks that commit, amend, discard and split can take by themselves",
		Long: `List the hunks of the working copy, each with a short id that stays the same while the hunk does. commit --hunk, amend
--hunk and discard --hunk take these ids. With --change list those of a recorded change, which split --hunk takes.`,
		Example: `  oxy hunks
  oxy commit --hunk 3f9a -m "Only this one"
  oxy hunks --change 1a2b3c4d`,
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := a.open()
			if err != nil {
				return err
			}
			paths, err := a.rel(args)
			if err != nil {
				return err
			}
			var hunks []repo.Hunk
			if of != "" {
				hunks, err = r.ChangeHunks(a.interruptible(), of)
				hunks = hunksBeneath(hunks, paths)
			} else {
				hunks, err = r.Hunks(a.interruptible(), paths)
				err = notRecording(err)
			}
			if err != nil {
				return err
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
	c.Flags().StringVar(&of, "change", "", "list what `CHANGE` did, in hunks that a split can take")
	return c
}

// hunksBeneath gives the hunks of files at or beneath one of some paths; without any all.
func hunksBeneath(hunks []repo.Hunk, paths []string) []repo.Hunk {
	if len(paths) == 0 {
		return hunks
	}
	return slices.DeleteFunc(hunks, func(h repo.Hunk) bool {
		return !slices.ContainsFunc(paths, func(p string) bool { return beneath(h.Path, p) })
	})
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
	return a.pickOf(verb, hunks)
}

// pickOf asks for each of some hunks whether to verb it.
func (a *app) pickOf(verb string, hunks []repo.Hunk) ([]string, error) {
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
