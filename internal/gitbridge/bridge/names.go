package bridge

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/safepath"
)

// keptRefs is the key under which a view keeps what was last seen of Git's refs.
const keptRefs = "git refs"

// seen is what was last seen of Git's refs.
type seen struct {
	refs map[string]seenRef        // by full name
	tags map[object.ID]change.Hash // annotated tags: where their own bytes are kept
}

// seenRef is what a ref named, and the commit that it led to.
type seenRef struct{ id, commit object.ID }

var errKept = errors.New("what was kept of Git's refs is damaged")

// loadSeen reads what was last kept.
func loadSeen(r *repo.Repo, f object.Format) (*seen, error) {
	b, err := r.Kept(keptRefs)
	if repo.Lost(err) {
		return newSeen(), lostKept("what was kept of Git's refs", err)
	}
	if err != nil {
		return nil, err
	}
	return decodeSeen(b, f)
}

func newSeen() *seen { return &seen{refs: map[string]seenRef{}, tags: map[object.ID]change.Hash{}} }

// decodeSeen reads what encode wrote.
func decodeSeen(b []byte, f object.Format) (*seen, error) {
	s := newSeen()
	for line := range bytes.Lines(b) {
		words := strings.SplitN(strings.TrimSuffix(string(line), "\n"), " ", 4)
		if len(words) < 3 {
			return nil, errKept
		}
		id, err := object.ParseID(f, words[1])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errKept, err)
		}
		switch {
		case words[0] == "ref" && len(words) == 4:
			commit, err := object.ParseID(f, words[2])
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errKept, err)
			}
			s.refs[words[3]] = seenRef{id, commit}
		case words[0] == "tag" && len(words) == 3:
			var h change.Hash
			if n, err := hex.Decode(h[:], []byte(words[2])); err != nil || n != len(h) {
				return nil, errKept
			}
			s.tags[id] = h
		default:
			return nil, errKept
		}
	}
	return s, nil
}

// lostKept is the error of what an import kept and damage took: only Git has it yet.
func lostKept(what string, err error) error {
	return &repo.Error{Text: what + " is lost: it was damaged, and no copy had it", Next: "Bring it back from the Git repository: oxy git import PATH", Err: err}
}

// encode is what decodeSeen reads.
func (s *seen) encode(f object.Format) []byte {
	var lines []string
	for name, r := range s.refs {
		b := f.AppendHex([]byte("ref "), r.id)
		b = f.AppendHex(append(b, ' '), r.commit)
		lines = append(lines, string(b)+" "+name+"\n")
	}
	for id, h := range s.tags {
		lines = append(lines, string(f.AppendHex([]byte("tag "), id))+" "+hex.EncodeToString(h[:])+"\n")
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, ""))
}

// asideBookmark begins the names of bookmarks for what Git has where a bookmark was moved here too.
const asideBookmark = "git/"

// names moves bookmarks and tags to where Git's branches and tags are, and keeps what it saw.
func (in *importer) names(r *repo.Repo) error {
	f := in.db.Format
	was, err := loadSeen(r, f)
	lost := repo.Lost(err)
	if lost {
		in.leave("what the last import saw of Git's refs", errors.New("it was lost to damage, and is taken as it is there now"))
	} else if err != nil {
		return err
	}
	now := &seen{refs: maps.Clone(was.refs), tags: was.tags}
	there := map[string]bool{}
	for _, c := range in.refs {
		there[c.name] = true
		state, ok := in.known.states[c.commit]
		if !ok {
			in.leave(c.name, fmt.Errorf("its commit %s was left out", c.commit))
			continue
		}
		for _, tag := range c.tags {
			if h, kept := now.tags[tag]; kept && r.Has(h) {
				continue
			}
			_, raw, err := in.reader.Read(tag, nil)
			if err != nil {
				return err
			}
			if now.tags[tag], err = in.im.Content(raw); err != nil {
				return err
			}
		}
		in.follow(was, c.name, state)
		now.refs[c.name] = seenRef{c.id, c.commit}
	}
	for _, name := range slices.Sorted(maps.Keys(was.refs)) {
		if !there[name] && matches(in.globs(), name) {
			in.drop(was, name)
			delete(now.refs, name)
		}
	}
	b := now.encode(f)
	if !lost && bytes.Equal(b, was.encode(f)) {
		return nil
	}
	return in.im.Keep(keptRefs, b)
}

// place says what a ref is here: a name among the bookmarks or the tags.
func (in *importer) place(ref string) (names map[string]uint32, name string) {
	v := in.im.View()
	if name, ok := strings.CutPrefix(ref, "refs/tags/"); ok {
		return v.Tags, name
	}
	for _, dir := range []string{"refs/heads/", "refs/remotes/", "refs/"} {
		if name, ok := strings.CutPrefix(ref, dir); ok {
			return v.Bookmarks, name
		}
	}
	return v.Bookmarks, ref
}

// follow moves a bookmark or tag to a ref's state, unless it was moved here since the last import.
func (in *importer) follow(was *seen, ref string, state uint32) {
	names, name := in.place(ref)
	tag := strings.HasPrefix(ref, "refs/tags/")
	if err := safepath.CheckBookmark(name); err != nil {
		in.leave(ref, err)
		return
	}
	if tag {
		in.rep.Tags++
	} else {
		in.rep.Bookmarks++
	}
	at, exists := names[name]
	if exists && at == state {
		return
	}
	last, had := was.refs[ref]
	lastState, known := in.known.states[last.commit]
	if exists && !(had && known && lastState == at) {
		if had && known && lastState == state {
			return // it moved here, and not there
		}
		in.leave(ref, fmt.Errorf("%s was moved here too: what Git has is git/%s, to be merged", name, name))
		name = asideBookmark + name
		names[name] = state
		in.rep.Moved = append(in.rep.Moved, name)
		return
	}
	names[name] = state
	in.rep.Moved = append(in.rep.Moved, name)
	in.let(tag, name)
}

// drop removes the bookmark or tag of a ref that is gone, unless it was moved here.
func (in *importer) drop(was *seen, ref string) {
	names, name := in.place(ref)
	at, exists := names[name]
	if state, known := in.known.states[was.refs[ref].commit]; !exists || !known || state != at {
		return
	}
	delete(names, name)
	in.rep.Moved = append(in.rep.Moved, name)
	in.let(strings.HasPrefix(ref, "refs/tags/"), name)
}

// let has the working copy stand where it does by itself when its bookmark goes elsewhere.
func (in *importer) let(tag bool, name string) {
	if v := in.im.View(); !tag && v.Current == name {
		v.Current = ""
		if v.Base < 0 {
			return // the report says how to begin
		}
		in.rep.Left = append(in.rep.Left, Left{"the working copy", fmt.Errorf("it stays where it is; go along with: oxy checkout %s", name)})
	}
}
