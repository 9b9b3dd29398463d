package repo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/safepath"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/vfs"
	"github.com/oxy-vcs/oxy/internal/worktree"
	"github.com/zeebo/blake3"
)

// aside is a working file that an operation took away, kept so that undo brings it back. The list of an operation is a
// content of the store, in JSON, and the view names it.
type aside struct {
	Path []byte      `json:"path"`
	Kind change.Kind `json:"kind"`
	Exec bool        `json:"exec,omitempty"`
	Size uint64      `json:"size"`
	Hash change.Hash `json:"hash"`
	Left []byte      `json:"left,omitempty"` // hash of what the operation left in its place, if that is not the base's
	Flip bool        `json:"flip,omitempty"` // it left it with the other executable bit
}

// keepAside puts working files into the store, and their list. left are the hashes of what the operation leaves in the place
// of some, execs the executable bits where it sets them. It gives the stats that they had: a file with another one holds something else by now.
func (t *tx) keepAside(paths []string, left map[string]change.Hash, execs map[string]bool) (map[string]vfs.Stat, error) {
	r := t.r
	root, err := r.openRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	pk := t.Packer()
	rd := &reader{root: root, pack: pk}
	defer rd.close()
	var list []aside
	slices.Sort(paths)
	kept := make(map[string]vfs.Stat, len(paths))
	for _, path := range paths {
		now, st, err := rd.read(path)
		if err != nil {
			return nil, err
		}
		kept[path] = st
		if now.size > 0 && now.data != nil {
			if err := pk.Put(now.hash, now.data); err != nil {
				return nil, err
			}
		}
		a := aside{Path: []byte(path), Kind: now.kind, Exec: now.exec, Size: now.size, Hash: now.hash}
		if h, ok := left[path]; ok {
			a.Left = h[:]
		}
		if exec, ok := execs[path]; ok {
			if a.Flip = exec != now.exec; a.Left == nil {
				a.Left = now.hash[:]
			}
		}
		list = append(list, a)
	}
	if len(list) == 0 {
		return kept, nil
	}
	b, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	h := change.Hash(blake3.Sum256(b))
	if err := pk.Put(h, b); err != nil {
		return nil, err
	}
	t.view.Kept[keptDiscarded] = h[:]
	return kept, pk.Flush()
}

// hashesOf gives the hashes of texts.
func hashesOf(texts map[string][]byte) map[string]change.Hash {
	out := make(map[string]change.Hash, len(texts))
	for path, text := range texts {
		out[path] = hashOf(text)
	}
	return out
}

// asideOf reads what an operation took away.
func (r *Repo) asideOf(kept []byte) ([]aside, error) {
	if len(kept) != len(change.Hash{}) {
		return nil, nil
	}
	b, err := r.store.Blob(nil, change.Hash(kept))
	if err != nil {
		return nil, storeError(err)
	}
	return decodeAside(b)
}

func decodeAside(b []byte) (list []aside, err error) {
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&list); err != nil {
		return nil, fmt.Errorf("read what the operation took away: %w", err)
	}
	return list, nil
}

// same tells whether two are one content in one kind of file.
func (a *aside) same(b *aside) bool {
	return a.Hash == b.Hash && a.Size == b.Size && a.Exec == b.Exec && (a.Kind == change.Link) == (b.Kind == change.Link)
}

// entry is what to write. The content is kept whole under its hash: whatever it is, it is no weave.
func (a *aside) entry() state.Entry {
	e := state.Entry{Path: string(a.Path), Kind: a.Kind, Exec: a.Exec, Size: a.Size, Hash: a.Hash}
	if e.Kind == change.Text {
		e.Kind = change.Binary
	}
	return e
}

// keepInPlaceOf keeps what an undo is about to overwrite where it brings files back, for a redo.
func (t *tx) keepInPlaceOf(list []aside) (map[string]vfs.Stat, error) {
	var there []string
	for i := range list {
		path := string(list[i].Path)
		exists, err := t.r.exists(path)
		if err != nil {
			return nil, fileError("read "+safepath.Quote(path), err)
		}
		if exists {
			there = append(there, path)
		}
	}
	return t.keepAside(there, nil, nil)
}

// readAll reads what stands now where files were taken from, with the stats; what is not there is not in the answer.
func (t *tx) readAll(list []aside) (map[string]aside, map[string]vfs.Stat, error) {
	root, err := t.r.openRoot()
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	rd := &reader{root: root, pack: t.Packer()}
	defer rd.close()
	out, stats := make(map[string]aside, len(list)), make(map[string]vfs.Stat, len(list))
	for i := range list {
		path := string(list[i].Path)
		exists, err := t.r.exists(path)
		if err != nil {
			return nil, nil, fileError("read "+safepath.Quote(path), err)
		}
		if !exists {
			continue
		}
		now, st, err := rd.read(path)
		if err != nil {
			return nil, nil, err
		}
		stats[path] = st
		out[path] = aside{Path: list[i].Path, Kind: now.kind, Exec: now.exec, Size: now.size, Hash: now.hash}
	}
	return out, stats, nil
}

// bringBack writes what an operation took away, where nothing unrecorded is in its place. Where that operation left a
// text of its own, which is there still, it plans to write over it: that is for when the undoing stands and keeps it.
func (t *tx) bringBack(ctx context.Context, m *worktree.Manifest, list []aside) (*plan, error) {
	now, _, err := t.readAll(slices.DeleteFunc(slices.Clone(list), func(a aside) bool { return a.Left == nil }))
	if err != nil {
		return nil, err
	}
	upon := &plan{r: t.r, entries: map[string]state.Entry{}}
	over := &plan{r: t.r, entries: map[string]state.Entry{}}
	for i := range list {
		a := &list[i]
		p := upon
		if is, there := now[string(a.Path)]; there && bytes.Equal(is.Hash[:], a.Left) && is.Exec == (a.Exec != a.Flip) {
			p = over
		}
		e := a.entry()
		if err := p.write(&e); err != nil {
			return nil, err
		}
	}
	return over, t.writeAside(ctx, m, upon, nil)
}
