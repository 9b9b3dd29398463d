package bridge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/oxy-vcs/oxy/internal/gitbridge/object"
	"github.com/oxy-vcs/oxy/internal/gitbridge/refs"
	"github.com/oxy-vcs/oxy/internal/repo"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// keptGiven is the key under which a view keeps which states were given to Git, and as which commits: a commit's id and the state's, each.
// keptExported is that of earlier builds, with the state's number in four bytes, little end first: what is numbered anew was not dropped then.
const (
	keptGiven    = "git given"
	keptExported = "git exported"
)

// loadExported reads it. States that are not here any more are left out: should they come again, they make the same commits.
func loadExported(r *repo.Repo, f object.Format) (map[object.ID]uint32, error) {
	b, err := r.Kept(keptExported)
	if err != nil {
		return nil, err
	}
	out := decodeExported(b, f)
	if b, err = r.Kept(keptGiven); err != nil {
		return nil, err
	}
	for id, state := range decodeGiven(b, f) {
		s, ok, err := r.StateWith(state)
		if err != nil {
			return nil, err
		}
		if ok {
			out[id] = s
		}
	}
	return out, nil
}

func decodeGiven(b []byte, f object.Format) map[object.ID][32]byte {
	out := map[object.ID][32]byte{}
	for size := f.Size() + 32; len(b) >= size; b = b[size:] {
		out[f.ID(b)] = [32]byte(b[f.Size():size])
	}
	return out
}

func decodeExported(b []byte, f object.Format) map[object.ID]uint32 {
	out := map[object.ID]uint32{}
	for size := f.Size() + 4; len(b) >= size; b = b[size:] {
		out[f.ID(b)] = binary.LittleEndian.Uint32(b[f.Size():])
	}
	return out
}

// finish moves the refs, and keeps what Git has now.
func (x *exporter) finish(ctx context.Context, wants []want) error {
	list, err := refs.Read(x.opt.FS, refs.Place{GitDir: x.db.GitDir, CommonDir: x.db.CommonDir, Format: x.f, Reftable: x.db.Config.Reftable})
	if err != nil {
		return err
	}
	was, err := loadSeen(x.r, x.f)
	if err != nil {
		return err
	}
	now := &seen{refs: maps.Clone(was.refs), tags: was.tags}
	for _, w := range wants {
		commit := x.ids[w.state]
		id := commit
		if s, ok := was.refs[w.ref]; ok && s.commit == commit {
			id = s.id // an annotated tag
		}
		there, exists := list.Find(w.ref)
		if exists && there.ID == id {
			now.refs[w.ref] = seenRef{id, commit}
			continue
		}
		if exists {
			if err := x.mayMove(list, w, there.ID); err != nil {
				x.out.Left = append(x.out.Left, Left{w.ref, err})
				continue
			}
		}
		if err := refs.CheckName(w.ref); err != nil {
			x.out.Left = append(x.out.Left, Left{w.ref, err})
			continue
		}
		if err := x.put(w.ref, id); err != nil {
			return err
		}
		now.refs[w.ref] = seenRef{id, commit}
		x.out.Refs = append(x.out.Refs, w.ref)
	}
	if len(x.fresh) == 0 && bytes.Equal(now.encode(x.f), was.encode(x.f)) {
		return nil
	}
	return x.keep(ctx, now)
}

// mayMove tells why a ref that Git has elsewhere stays there.
func (x *exporter) mayMove(list *refs.List, w want, there object.ID) error {
	if head, ok := list.Find("HEAD"); ok && head.Target == w.ref && !x.db.Config.Bare {
		return errors.New("it is checked out there: git checkout --detach first")
	}
	if x.opt.Force {
		return nil
	}
	s, ok := x.known.states[there]
	if !ok {
		return fmt.Errorf("what Git has there, %s, is not here: import it first", there)
	}
	mine, err := x.r.SetOf(w.state)
	if err != nil {
		return err
	}
	theirs, err := x.r.SetOf(s)
	if err != nil {
		return err
	}
	if !theirs.Minus(mine).Empty() {
		return errors.New("what Git has there is not in it: merge it first, or give --force")
	}
	return nil
}

// put writes a ref.
func (x *exporter) put(ref string, id object.ID) error {
	name := filepath.Join(x.db.CommonDir, filepath.FromSlash(ref))
	if err := x.opt.FS.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return vfs.WriteFileAtomic(x.opt.FS, name, append(x.f.AppendHex(nil, id), '\n'), true)
}

// keep notes what Git has now.
func (x *exporter) keep(ctx context.Context, now *seen) (err error) {
	im, err := x.r.NewImporter(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, im.Close()) }()
	if err := im.Keep(keptRefs, now.encode(x.f)); err != nil {
		return err
	}
	all, err := loadExported(x.r, x.f)
	if err != nil {
		return err
	}
	maps.Copy(all, x.fresh)
	ids := slices.SortedFunc(maps.Keys(all), func(a, b object.ID) int { return bytes.Compare(a[:], b[:]) })
	var b []byte
	for _, id := range ids {
		state, err := x.r.StateID(all[id])
		if err != nil {
			return err
		}
		b = append(append(b, id[:x.f.Size()]...), state[:]...)
	}
	if err := im.Keep(keptGiven, b); err != nil {
		return err
	}
	im.KeepNone(keptExported)
	return im.Finish("git export")
}
