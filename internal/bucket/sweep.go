package bucket

import (
	"context"
	"strings"
	"time"
)

// maxSwept bounds what one push deletes.
const maxSwept = 256

// sweep deletes pieces that no root needs: of pushes that were cut or lost a race, and of packs that were merged more than a day ago.
func (b *Remote) sweep(ctx context.Context) error {
	listed, now, err := b.store.List(ctx, b.prefix+"packs/")
	if err != nil {
		return err
	}
	at, err := b.readRoot(ctx)
	if err != nil {
		return err
	}
	needed := map[string]struct{}{}
	for i := range at.Packs {
		needed[at.Packs[i].Key.String()] = struct{}{}
	}
	for _, d := range at.Dropped {
		if d.When+uint64(garbageAge/time.Second) >= uint64(max(now.Unix(), 0)) {
			needed[d.Key.String()] = struct{}{}
		}
	}
	keyOf := func(name string) string {
		key, _, _ := strings.Cut(strings.TrimPrefix(name, b.prefix+"packs/"), "/")
		return key
	}
	// A push is as young as its youngest piece.
	for _, o := range listed {
		if now.Sub(o.Modified) <= garbageAge {
			needed[keyOf(o.Key)] = struct{}{}
		}
	}
	var garbage []string
	for _, o := range listed {
		if _, ok := needed[keyOf(o.Key)]; !ok && len(garbage) < maxSwept {
			garbage = append(garbage, o.Key)
		}
	}
	if len(garbage) == 0 {
		return nil
	}
	// A push that is about to name one of these has read an older root. It fails now, reads this one, and sees how old its pack is.
	if b.root, err = b.swap(ctx, at, at.next()); err != nil {
		b.root = at
		return err
	}
	for _, name := range garbage {
		if err := b.store.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
