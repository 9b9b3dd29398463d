package cli

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path"

	"github.com/oxy-vcs/oxy/internal/repo"
)

func (a *app) subrepoStatus(args []string) error {
	r, err := a.open()
	if err != nil {
		return err
	}
	paths, err := a.rel(args)
	if err != nil {
		return err
	}
	subs, err := r.Subrepos(a.interruptible(), paths)
	if err != nil {
		return notRecording(err)
	}
	if a.json {
		return a.printJSON(newSubrepos(subs))
	}
	if len(subs) == 0 {
		return a.out.printf("There are no subrepos. Add one with: oxy subrepo add ADDRESS PATH\n")
	}
	_, err = a.out.Write(a.appendSubrepos(nil, "", "", subs, true))
	return err
}

// appendSubrepos appends a line for each subrepo, those inside beneath it, and what changed in it. Those with nothing to say are left
// out unless all are wanted.
func (a *app) appendSubrepos(b []byte, indent, above string, subs []repo.SubrepoStatus, all bool) []byte {
	for i := range subs {
		s := &subs[i]
		if !all && s.Clean() {
			continue
		}
		at := path.Join(above, s.Path)
		b = append(b, indent...)
		b = a.show().append(b, at)
		b = append(b, ": "...)
		switch {
		case s.Git != "":
			b = fmt.Appendf(b, "a submodule of Git's at %.8s, which oxy does not follow", s.Git)
		case s.Pin == nil:
			b = append(b, "of a kind that this oxy does not know"...)
		case s.Problem != "":
			b = appendQuoted(b, s.Problem)
		case !s.Here:
			b = fmt.Appendf(b, "pinned at %.4x of ", s.Pin.State)
			b = appendQuoted(b, s.Pin.From)
			b = append(b, ", not here yet: oxy subrepo update"...)
		case s.Moved():
			b = fmt.Appendf(b, "at %.4x, pinned at %.4x of ", s.At.ID, s.Pin.State)
			b = appendQuoted(b, s.Pin.From)
		default:
			b = fmt.Appendf(b, "at %.4x of ", s.Pin.State)
			b = appendQuoted(b, s.Pin.From)
		}
		if s.Conflicts > 0 {
			b = append(append(b, ", "...), plural(s.Conflicts, "conflict")...)
		}
		b = append(b, '\n')
		for k := range s.Files {
			row := a.fileRow(&s.Files[k])
			row.path = path.Join(at, row.path)
			if row.old != "" {
				row.old = path.Join(at, row.old)
			}
			b = a.appendRow(b, indent+"  ", row)
		}
		for _, p := range s.Untracked {
			b = a.appendRow(b, indent+"  ", statusRow{letter: repo.Untracked.Letter(), colour: a.colours().Green, path: at + "/" + p})
		}
		b = a.appendSubrepos(b, indent, at, s.Inner, all)
	}
	return b
}

type jsonSubrepoStatus struct {
	jsonPath
	Kind      string              `json:"kind"`
	Pinned    *jsonState          `json:"pinned,omitempty"`
	Bookmark  string              `json:"pinned_bookmark,omitempty"`
	From      string              `json:"from,omitempty"`
	Commit    string              `json:"commit,omitempty"`
	Here      bool                `json:"here"`
	At        *jsonState          `json:"at"`
	Moved     bool                `json:"moved"`
	Files     []jsonFile          `json:"files"`
	Untracked []jsonPath          `json:"untracked"`
	Conflicts int                 `json:"conflicts"`
	Inner     []jsonSubrepoStatus `json:"subrepos"`
	Problem   string              `json:"problem,omitempty"`
}

func newSubrepos(subs []repo.SubrepoStatus) []jsonSubrepoStatus {
	out := make([]jsonSubrepoStatus, len(subs))
	for i := range subs {
		s := &subs[i]
		j := jsonSubrepoStatus{jsonPath: newJSONPaths([]string{s.Path})[0], Kind: "unknown", Commit: s.Git, Here: s.Here, Moved: s.Moved(),
			Files: newFiles(s.Files), Untracked: newJSONPaths(s.Untracked), Conflicts: s.Conflicts, Inner: newSubrepos(s.Inner), Problem: s.Problem}
		switch {
		case s.Pin != nil:
			j.Kind, j.From, j.Bookmark = "oxy", s.Pin.From, s.Pin.Bookmark
			j.Pinned = &jsonState{hex.EncodeToString(s.Pin.State[:]), s.Pin.Len}
		case s.Git != "":
			j.Kind = "git"
		}
		if s.Here {
			at := newState(s.At)
			j.At = &at
		}
		out[i] = j
	}
	return out
}

type jsonSubrepoDone struct {
	jsonPath
	State  jsonState `json:"state"`
	Cloned bool      `json:"cloned"`
	Moved  bool      `json:"moved"`
	Error  string    `json:"error,omitempty"`
}

func newSubrepoDone(done []repo.SubrepoDone) []jsonSubrepoDone {
	out := make([]jsonSubrepoDone, len(done))
	for i := range done {
		d := &done[i]
		out[i] = jsonSubrepoDone{jsonPath: newJSONPaths([]string{d.Path})[0], State: newState(d.State), Cloned: d.Cloned, Moved: d.Moved}
		if d.Err != nil {
			out[i].Error = d.Err.Error()
		}
	}
	return out
}

// nextOf is what an error says to do.
func nextOf(err error) string {
	var said *repo.Error
	if errors.As(err, &said) {
		return said.Next
	}
	return ""
}
