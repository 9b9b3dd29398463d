package bucket

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

// TestLargePush: a push of several pieces is read back in one pass, with reads side by side: a clone of forty megabytes waits for the store as long as one read of each kind.
func TestLargePush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		rnd := rand.NewChaCha8([32]byte{1})
		var log []change.ID
		for range 40 {
			text := make([]byte, 1<<20)
			_, _ = rnd.Read(text)
			for i := range text {
				text[i] |= 0x80 // no compressor makes much of it, and no line is short
			}
			log = append(log, newChange(string(text)))
		}
		w.push(pushOne{sync.Bookmark, "main", log, false})
		r := w.whole()
		if len(r.Packs) != 1 || r.Packs[0].Data < 2*pieceSize {
			t.Fatalf("%d packs, the first of %d bytes", len(r.Packs), r.Packs[0].Data)
		}
		w.m.wait = func() { time.Sleep(50 * time.Millisecond) }
		begin := time.Now()
		w.m.log = nil
		f, err := w.c.fetch(context.Background(), nil, nil)
		if err != nil || len(f.changes) != len(log) {
			t.Fatalf("%d changes, %v", len(f.changes), err)
		}
		if took := time.Since(begin); len(w.m.log) < 5 || took > 300*time.Millisecond {
			t.Errorf("%d requests took the time of %d", len(w.m.log), took/(100*time.Millisecond))
		}
	})
}
