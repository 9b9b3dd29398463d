package cli

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/oxy-vcs/oxy/internal/repo"
)

type jsonConflict struct {
	ID        string     `json:"id"`
	Kind      string     `json:"kind"`
	Path      string     `json:"path"`
	PathBytes string     `json:"path_bytes,omitempty"`
	Place     string     `json:"place"`
	Line      int        `json:"line,omitempty"`
	Lines     int        `json:"lines,omitempty"`
	Settled   bool       `json:"settled"`
	Sides     []jsonSide `json:"sides"`
}

type jsonSide struct {
	Number    int          `json:"number"`
	Changes   []jsonChange `json:"changes"`
	What      string       `json:"what,omitempty"`
	Path      string       `json:"path,omitempty"`
	PathBytes string       `json:"path_bytes,omitempty"`
	Text      *string      `json:"text,omitempty"`
	Base64    *string      `json:"base64,omitempty"`
	Dead      bool         `json:"dead,omitempty"`
}

func (a *app) conflictsJSON(list []repo.Conflict) error {
	out, err := a.newConflicts(list)
	if err != nil {
		return err
	}
	return a.printJSON(out)
}

func (a *app) newConflicts(list []repo.Conflict) ([]jsonConflict, error) {
	out := make([]jsonConflict, len(list))
	for i := range list {
		c := &list[i]
		path := newText(c.Path)
		j := jsonConflict{
			ID: c.ID, Kind: c.Kind, Path: path.Value, PathBytes: path.Bytes, Place: newText(c.Place).Value,
			Line: c.Line, Lines: c.Lines, Settled: c.Settled, Sides: make([]jsonSide, len(c.Sides)),
		}
		for k := range c.Sides {
			s := &c.Sides[k]
			changes, err := a.newChanges(s.Changes)
			if err != nil {
				return nil, err
			}
			path := newText(s.Path)
			side := jsonSide{Number: k + 1, Changes: changes, What: s.What, Path: path.Value, PathBytes: path.Bytes, Dead: s.Dead}
			if c.Kind == "text" {
				if text := string(s.Text); utf8.ValidString(text) {
					side.Text = &text
				} else {
					enc := base64.StdEncoding.EncodeToString(s.Text)
					side.Base64 = &enc
				}
			}
			j.Sides[k] = side
		}
		out[i] = j
	}
	return out, nil
}
