package repo

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// exists tells whether something lies in .oxy.
func exists(fsys vfs.FS, name string) bool {
	var st vfs.Stat
	return fsys.Lstat(filepath.Join(memRoot, ".oxy", name), &st) == nil
}

func TestPackingByItself(t *testing.T) {
	ctx := context.Background()
	w := born(t)
	noise := make([]byte, 900<<10)
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	put(t, w.mem, "noise", string(noise))
	w.with(t, func(r *Repo) error {
		if r.GCDue() {
			t.Error("due before anything was recorded")
		}
		_, err := r.Commit(ctx, CommitOptions{Message: "noise", Time: at(1)})
		check(t, err)
		for value, due := range map[string]bool{"": false, "1": false, "off": false, "0": false, "nonsense": false} {
			check(t, r.ConfigSet(autoSetting, value, false))
			if r.GCDue() != due {
				t.Errorf("%q: due %v", value, !due)
			}
		}
		check(t, r.ConfigSet(autoSetting, "nonsense", false))
		_, _, err = r.autoLimit()
		if err == nil || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("a limit that is none: %v", err)
		}
		return r.ConfigSet(autoSetting, "1", false)
	})
	put(t, w.mem, "noise2", string(noise[:400<<10])+"end")
	w.with(t, func(r *Repo) error {
		if r.GCDue() {
			t.Error("due in a process that recorded nothing")
		}
		_, err := r.Commit(ctx, CommitOptions{Message: "more", Time: at(2)})
		check(t, err)
		if !r.GCDue() {
			t.Error("not due")
		}
		// Whoever would write has it end without a trace, but that it was tried.
		before, _, err := r.store.Packed()
		check(t, err)
		late, stop := context.WithCancelCause(ctx)
		stop(errWanted)
		if done, err := r.AutoGC(late); done || err != nil {
			t.Errorf("done %v, %v while somebody waits", done, err)
		}
		if after, packed, err := r.store.Packed(); err != nil || after != before || packed != 0 {
			t.Errorf("%d of %d bytes are packed, %v", packed, after, err)
		}
		lock, err := w.mem.Lock(filepath.Join(r.dir, "lock"), func(tries int) bool { return tries == 0 })
		check(t, err)
		if done, err := r.AutoGC(ctx); done || err != nil {
			t.Errorf("done %v, %v while somebody writes", done, err)
		}
		check(t, lock.Close())
		if r.GCDue() {
			t.Error("due again at once")
		}
		if done, err := r.AutoGC(ctx); !done || err != nil {
			t.Errorf("done %v, %v", done, err)
		}
		bytes, tried, ok := r.lastAuto()
		if all, _, err := r.store.Packed(); err != nil || !ok || bytes != all || time.Since(tried) > time.Hour {
			t.Errorf("left word of %d bytes at %v, there are %d, %v", bytes, tried, all, err)
		}
		return nil
	})
	fine(t, w.mem)
}

// Who waits for the lock says so as long as it waits, and what packs sees it.
func TestWaitingIsTold(t *testing.T) {
	w := born(t)
	w.commit(t, "first")
	w.with(t, func(r *Repo) error {
		lock, err := w.mem.Lock(filepath.Join(r.dir, "lock"), func(tries int) bool { return tries == 0 })
		check(t, err)
		ctx, stop := context.WithCancelCause(context.Background())
		defer stop(nil)
		go func() {
			r.giveWay(ctx, stop)
			_ = lock.Close()
		}()
		check(t, r.update("bookmark", func(*store.View) error { return nil }))
		if !errors.Is(context.Cause(ctx), errWanted) {
			t.Errorf("packing was ended by %v", context.Cause(ctx))
		}
		if exists(w.mem, wantedFile) {
			t.Error("the sign stays when the lock is taken")
		}
		return nil
	})
}
