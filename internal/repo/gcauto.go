package repo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/oxy-vcs/oxy/internal/store"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

// Packing by itself, once it is worthwhile: in a process of its own, that drops nothing, and that gives way to whoever would
// write. When it was last tried, and what came of it, is told by a file that may be lost any time:
// .oxy/gc.auto, with the bytes of the log after the last try that came to its end, and the time of the last one.

const (
	// autoDefault is how many MiB must lie unpacked: a repository of a few thousand commits has less.
	autoDefault = 32
	// autoShare is what share of the log must: what is packed is written anew, so each byte is as often as the log doubles.
	autoShare = 3
	// autoPause lies between two tries: whoever records without a pause is not disturbed each time.
	autoPause = 10 * time.Minute
	// autoLook is how long a writer waits at most before packing ends for it, as long as no file is being synced.
	autoLook = 50 * time.Millisecond

	autoFile    = "gc.auto"
	maxAutoFile = 64 // two numbers
	wantedFile  = "lock.wanted"
	autoSetting = "gc.auto"
)

// autoLimit is how many unpacked bytes make packing worthwhile, by configuration: "off", or a number of MiB.
func (r *Repo) autoLimit() (bytes int64, on bool, err error) {
	value, from := r.opt.Env("OXY_GC_AUTO"), "OXY_GC_AUTO"
	if value == "" {
		from = autoSetting
		value, _, err = r.ConfigGet(autoSetting)
	}
	if value = strings.TrimSpace(value); err != nil || value == "" {
		return autoDefault << 20, err == nil, err
	}
	if value == "off" || value == "false" {
		return 0, false, nil
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return 0, false, &Error{Text: fmt.Sprintf("%s is %q, which is neither off nor a number of MiB", from, value), Next: "Set it with: oxy config gc.auto 32"}
	}
	return int64(n) << 20, n > 0, nil
}

// GCDue reports whether this process recorded something and packing the repository has become worthwhile. Whatever it cannot
// find out, it is not.
func (r *Repo) GCDue() bool {
	if !r.recorded {
		return false
	}
	limit, on, err := r.autoLimit()
	if err != nil || !on {
		return false
	}
	all, packed, err := r.store.Packed()
	if err != nil || all-packed < limit || (all-packed)*autoShare < all {
		return false
	}
	last, at, ok := r.lastAuto()
	since := time.Since(at) // below 0 where the clock was put back
	return !ok || (since < 0 || since > autoPause) && all >= last+last/2
}

// lastAuto is what the last try left word of.
func (r *Repo) lastAuto() (bytes int64, at time.Time, ok bool) {
	f, err := r.fs.OpenFile(filepath.Join(r.dir, autoFile), os.O_RDONLY, 0)
	if err != nil {
		return 0, at, false
	}
	defer f.Close()
	b := make([]byte, maxAutoFile)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return 0, at, false
	}
	var sec int64
	if _, err := fmt.Sscanln(string(b[:n]), &bytes, &sec); err != nil || bytes < 0 {
		return 0, at, false
	}
	return bytes, time.Unix(sec, 0), true
}

func (r *Repo) tellAuto(bytes int64) {
	f, err := r.fs.OpenFile(filepath.Join(r.dir, autoFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return // then it is tried more often
	}
	_, _ = f.WriteAt(fmt.Appendln(nil, bytes, time.Now().Unix()), 0)
	_ = f.Close()
}

// AutoGC packs the repository as GC does, but drops nothing, begins only when nobody writes, and gives up as soon as somebody
// would: then nothing was done, and done is false.
func (r *Repo) AutoGC(ctx context.Context) (done bool, err error) {
	last, _, _ := r.lastAuto()
	r.tellAuto(last)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	_ = r.fs.Remove(r.lockWanted()) // perhaps of somebody who died while waiting
	go r.giveWay(ctx, stop)
	_, err = r.gc(ctx, GCOptions{KeepAll: true}, func(tries int) bool { return tries == 0 })
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errWanted), errors.Is(err, store.ErrLocked):
		return false, nil
	case err != nil:
		return false, err
	}
	if all, _, err := r.store.Packed(); err == nil {
		r.tellAuto(all)
	}
	return true, nil
}

var errWanted = errors.New("somebody waits to write")

// giveWay ends what runs under ctx once somebody waits for the writers' lock.
func (r *Repo) giveWay(ctx context.Context, stop context.CancelCauseFunc) {
	look := time.NewTicker(autoLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			var st vfs.Stat
			if err := r.fs.Lstat(r.lockWanted(), &st); err == nil {
				stop(errWanted)
				return
			}
		}
	}
}

func (r *Repo) lockWanted() string { return filepath.Join(r.dir, wantedFile) }

// waits is waitForLock, and has packing by itself give way.
func (r *Repo) waits() (wait func(tries int) bool, done func()) {
	told := false
	wait = func(tries int) bool {
		if tries > 0 { // again each time: what packs may have begun just now, and takes what it finds for left behind
			if f, err := r.fs.OpenFile(r.lockWanted(), os.O_WRONLY|os.O_CREATE, 0o666); err == nil {
				told = true
				_ = f.Close()
			}
		}
		return waitForLock(tries)
	}
	return wait, func() {
		if told {
			_ = r.fs.Remove(r.lockWanted())
		}
	}
}
