package cli

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/ui"
)

// The shapes here are what docs/json.md documents: names and meanings stay, new fields may come.

// printJSON writes v as one line.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// printJSONList writes a list as one array, also when it has nothing.
func printJSONList[T any](a *app, list []T) error {
	if list == nil {
		list = []T{}
	}
	return a.printJSON(list)
}

// text is a string that need not be UTF-8. JSON has no other strings, so the exact bytes then stand beside it.
type text struct {
	Value string
	Bytes string // base64, or "" where Value is exact
}

func newText(s string) text {
	if utf8.ValidString(s) {
		return text{Value: s}
	}
	return text{Value: s, Bytes: base64.StdEncoding.EncodeToString([]byte(s))}
}

type jsonState struct {
	ID      string `json:"id"`
	Changes uint64 `json:"changes"`
}

func newState(s repo.StateRef) jsonState { return jsonState{hex.EncodeToString(s.ID[:]), s.Len} }

type jsonPerson struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

type jsonChange struct {
	ID        string            `json:"id"`
	Short     string            `json:"short"`
	Position  uint64            `json:"position,omitempty"`
	Author    jsonPerson        `json:"author"`
	Time      string            `json:"time"`
	Message   string            `json:"message"`
	Deps      []string          `json:"deps"`
	Undoes    string            `json:"undoes,omitempty"`
	Extra     map[string]string `json:"extra,omitempty"`
	ExtraRaw  map[string]string `json:"extra_bytes,omitempty"`
	Here      bool              `json:"here,omitempty"`
	Bookmarks []string          `json:"bookmarks,omitempty"`
	Tags      []string          `json:"tags,omitempty"`
	Signed    *jsonVerified     `json:"signed,omitempty"`
	Files     *[]jsonFile       `json:"files,omitempty"`
}

func (a *app) newChange(c *repo.ChangeInfo) jsonChange {
	j := jsonChange{
		ID: c.ID.String(), Short: a.repo.ShortID(c.Num), Position: c.Position,
		Author: jsonPerson{c.Author.Name, c.Author.Email}, Time: jsonTime(c.Time), Message: c.Message,
		Deps: make([]string, len(c.Deps)),
	}
	for i, id := range c.Deps {
		j.Deps[i] = id.String()
	}
	if n := c.Names; n != nil {
		j.Here, j.Bookmarks, j.Tags = n.Here, n.Bookmarks, n.Tags
	}
	if res, ok := a.verdict(c); ok {
		v := newVerified(&res)
		j.Signed = &v
	}
	if !c.Undoes.IsZero() {
		j.Undoes = c.Undoes.String()
	}
	if len(c.Extra) > 0 {
		j.Extra = make(map[string]string, len(c.Extra))
		for _, f := range c.Extra {
			v := newText(f.Value)
			j.Extra[f.Key] = v.Value
			if v.Bytes != "" {
				if j.ExtraRaw == nil {
					j.ExtraRaw = map[string]string{}
				}
				j.ExtraRaw[f.Key] = v.Bytes
			}
		}
	}
	return j
}

func jsonTime(t change.Time) string { return ui.In(t.Sec, t.Zone).Format(time.RFC3339) }

type jsonFile struct {
	What         string     `json:"what"`
	Path         string     `json:"path"`
	PathBytes    string     `json:"path_bytes,omitempty"`
	OldPath      string     `json:"old_path,omitempty"`
	OldPathBytes string     `json:"old_path_bytes,omitempty"`
	Similar      int        `json:"similar,omitempty"`
	OldMode      string     `json:"old_mode,omitempty"`
	NewMode      string     `json:"new_mode,omitempty"`
	Binary       bool       `json:"binary,omitempty"`
	Added        *int       `json:"added,omitempty"`
	Deleted      *int       `json:"deleted,omitempty"`
	Hunks        []jsonHunk `json:"hunks,omitempty"`
}

type jsonHunk struct {
	OldStart int      `json:"old_start"` // from 1
	NewStart int      `json:"new_start"`
	Old      []string `json:"old"`
	New      []string `json:"new"`
}

func newFile(f *repo.FileChange) jsonFile {
	path := newText(f.Path())
	j := jsonFile{What: f.What.String(), Path: path.Value, PathBytes: path.Bytes}
	if f.Old != nil {
		j.OldMode = mode(f.Old)
		if f.What == repo.Moved {
			old := newText(f.Old.Path)
			j.OldPath, j.OldPathBytes, j.Similar = old.Value, old.Bytes, f.Similar
		}
	}
	if f.New != nil {
		j.NewMode = mode(f.New)
	}
	return j
}

func newFiles(files []repo.FileChange) []jsonFile {
	out := make([]jsonFile, len(files))
	for i := range files {
		out[i] = newFile(&files[i])
	}
	return out
}

// jsonPath is a path in a list of paths.
type jsonPath struct {
	Path      string `json:"path"`
	PathBytes string `json:"path_bytes,omitempty"`
}

func newJSONPaths(list []string) []jsonPath {
	out := make([]jsonPath, len(list))
	for i, p := range list {
		t := newText(p)
		out[i] = jsonPath{t.Value, t.Bytes}
	}
	return out
}
