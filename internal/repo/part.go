package repo

import (
	"github.com/oxy-vcs/oxy/internal/change"
)

// part is some of what changes did: of a split.
type part struct {
	// choose tells what is taken of a file, which is told by its ordinal in the change and where it stands: all, some of its text, which it gives, or nothing. old is nil where the text is not
	// edited, but added or replaced.
	choose func(file int, path string, old, now []byte) (taken, []byte, error)
	took   map[change.FileID]taken
	rest   bool // what the first part did not take
}

type taken uint8

const (
	takenNothing taken = iota
	takenSome
	takenAll
)

// takes tells what to do of a file's ops, and with which text; ok is false for nothing.
func (p *part) takes(x *transplant, file int, did *change.File, now *was) (writes change.Writes, text []byte, ok bool, err error) {
	if p.rest {
		switch p.took[did.ID] {
		case takenAll:
			return 0, nil, false, nil
		case takenSome:
			return 0, nil, true, nil // its ops went along
		}
		return did.Writes, nil, true, nil
	}
	var old, after []byte
	if len(did.Hunks) > 0 {
		w, err := wasIn(x.a, x.aDisputes, did.ID)
		if err != nil {
			return 0, nil, false, err
		}
		if old, err = x.w.t.r.content(nil, &w.entry); err != nil {
			return 0, nil, false, err
		}
		if after, err = x.w.t.r.content(nil, &now.entry); err != nil {
			return 0, nil, false, err
		}
		if old == nil {
			old = []byte{}
		}
	}
	t, text, err := p.choose(file, now.place, old, after)
	p.took[did.ID] = t
	return did.Writes, text, t != takenNothing, err
}
