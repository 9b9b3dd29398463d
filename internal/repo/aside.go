package repo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
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
	stat vfs.Stat    // of a file that was read just now
}

// keepAside puts working files into the store, and their list. left are the texts that the operation leaves in the place of
// some. It gives the stats that the files had: one with another holds something else by now.
func (t *tx) keepAside(paths []string, left map[string][]byte) (map[string]vfs.Stat, error) {
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
		if text := left[path]; text != nil {
			h := hashOf(text)
			a.Left = h[:]
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

// asideOf reads what an operation took away.
func (r *Repo) asideOf(kept []byte) ([]aside, error) {
	if len(kept) != len(change.Hash{}) {
		return nil, nil
	}
	b, err := r.store.Blob(nil, change.Hash(kept))
	if err != nil {
		return nil, storeError(err)
	}
	var list []aside
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&list); err != nil {
		return nil, fmt.Errorf("read what the operation took away: %w", err)
	}
	return list, nil
}

// bringBack writes what an operation took away, where nothing unrecorded is in its place. Where that operation left a
// text of its own, which is there still, it plans to write over it: that is for when the undoing stands and keeps it.
func (t *tx) bringBack(ctx context.Context, m *worktree.Manifest, list []aside) (*plan, error) {
	now, err := t.readAll(slices.DeleteFunc(slices.Clone(list), func(a aside) bool { return a.Left == nil }))
	if err != nil {
		return nil, err
	}
	upon := &plan{r: t.r, entries: map[string]state.Entry{}}
	over := &plan{r: t.r, entries: map[string]state.Entry{}}
	for i := range list {
		a := &list[i]
		p := upon
		if is, there := now[string(a.Path)]; there && bytes.Equal(is.Hash[:], a.Left) && is.Exec == a.Exec {
			p = over
			p.mayGo(string(a.Path), is.stat)
		}
		e := a.entry()
		if err := p.write(&e); err != nil {
			return nil, err
		}
	}
	return over, t.writeAside(ctx, m, upon, nil)
}
