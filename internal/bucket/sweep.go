package bucket

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/s3"
)

const (
	// sweepEvery is how often garbage is looked for, at most; sweepTime how long whoever pushed waits for it: the next goes on.
	sweepEvery = 4 * time.Hour
	sweepTime  = 30 * time.Second
	// garbageAge is how long after its last piece, and after it was first seen in no root, a pack is deleted: pushes under way are given up before, and
	// readers have that long.
	garbageAge = 24 * time.Hour
)

// sweep deletes packs that no root needs: of pushes that were cut or lost a race, and those that were merged. It first has the root written anew, by
// which it claims the work. Whoever read a root before that, and has a pack old enough to be deleted, fails to name it; whoever reads one after it knows
// that the pack is too old.
func (b *Remote) sweep(ctx context.Context) error {
	if b.root.date.Unix()-int64(b.root.Swept) < int64(sweepEvery/time.Second) {
		return nil
	}
	next := b.root.next()
	next.Swept = uint64(max(b.root.date.Unix(), 0))
	now, err := b.swap(ctx, b.root, next)
	if err != nil {
		return err // somebody pushed, and the next merge sees to it
	}
	b.root = now
	ctx, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	before, err := b.readGarbage(ctx)
	if err != nil {
		return err
	}
	listed, err := b.store.List(ctx, b.prefix+"packs/")
	if err != nil {
		return err
	}
	found := b.unreferenced(listed)
	garbage, doomed := judgeGarbage(found, before, now.date)
	if len(garbage) == 0 && len(before) == 0 {
		return nil
	}
	if _, err := b.store.Put(ctx, b.prefix+"garbage", garbage.encode()); err != nil {
		return err
	}
	return b.store.Delete(ctx, doomed...)
}

// unused is a pack that the root does not name.
type unused struct {
	objects []string
	last    time.Time // of its objects
}

// unreferenced finds such packs in a list. What the store lists that is no piece of a pack is none of ours to delete.
func (b *Remote) unreferenced(listed []s3.Listed) map[Key]*unused {
	needed := make(map[Key]struct{}, len(b.root.Packs))
	for i := range b.root.Packs {
		needed[b.root.Packs[i].Key] = struct{}{}
	}
	out := map[Key]*unused{}
	for _, o := range listed {
		key, ok := b.keyOf(o.Key)
		if !ok {
			continue
		}
		if _, ok := needed[key]; ok {
			continue
		}
		u := out[key]
		if u == nil {
			u = &unused{}
			out[key] = u
		}
		u.objects = append(u.objects, o.Key)
		if o.Modified.After(u.last) {
			u.last = o.Modified
		}
	}
	return out
}

// keyOf reads the name of a piece.
func (b *Remote) keyOf(name string) (k Key, ok bool) {
	rest, ok := strings.CutPrefix(name, b.prefix+"packs/")
	if !ok {
		return k, false
	}
	key, piece, _ := strings.Cut(rest, "/")
	raw, err := base.DecodeString(key)
	if err != nil || len(raw) != len(k) {
		return k, false
	}
	k = Key(raw)
	n, err := strconv.Atoi(piece)
	return k, err == nil && n >= 0 && b.pieceName(k, n) == name
}

// judgeGarbage says what is garbage from now on, and which objects of it are to be deleted.
func judgeGarbage(found map[Key]*unused, before garbage, now time.Time) (after garbage, doomed []string) {
	since := make(map[Key]uint64, len(before))
	for _, g := range before {
		since[g.key] = g.since
	}
	seconds := uint64(max(now.Unix(), 0))
	for key, u := range found {
		at, seen := since[key]
		if !seen || at > seconds {
			at = seconds
		}
		after = append(after, garbageAt{key, at})
		if seconds-at >= uint64(garbageAge/time.Second) && now.Sub(u.last) >= garbageAge {
			doomed = append(doomed, u.objects...)
		}
	}
	after.sort()
	slices.Sort(doomed)
	return after, doomed
}
