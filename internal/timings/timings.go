// Package timings tells where a command's time went: a line for each phase with its wall time, allocations and bytes,
// when OXY_TIMINGS is set. A nil *Log costs nothing and does nothing.
package timings

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// Log gathers phases.
type Log struct {
	mu    sync.Mutex
	began time.Time
	rows  []row
}

type row struct {
	name  string
	took  time.Duration
	mem   uint64
	count uint64
	bytes int64
}

// New starts a log.
func New() *Log { return &Log{began: time.Now()} }

// Phase starts a phase; the returned func ends it and says how many bytes of data it handled, 0 when that means nothing.
func (l *Log) Phase(name string) func(bytes int64) {
	if l == nil {
		return func(int64) {}
	}
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	return func(bytes int64) {
		took := time.Since(start)
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		l.mu.Lock()
		l.rows = append(l.rows, row{name, took, after.TotalAlloc - before.TotalAlloc, after.Mallocs - before.Mallocs, bytes})
		l.mu.Unlock()
	}
}

// WriteTo prints the phases in the order in which they ended, then the whole.
func (l *Log) WriteTo(w io.Writer) (int64, error) {
	if l == nil {
		return 0, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var n int64
	print := func(format string, args ...any) error {
		k, err := fmt.Fprintf(w, format, args...)
		n += int64(k)
		return err
	}
	if err := print("%-28s %10s %12s %10s %12s\n", "phase", "ms", "alloc KiB", "allocs", "data KiB"); err != nil {
		return n, err
	}
	for _, r := range l.rows {
		if err := print("%-28s %10.2f %12d %10d %12d\n", r.name, ms(r.took), r.mem>>10, r.count, r.bytes>>10); err != nil {
			return n, err
		}
	}
	return n, print("%-28s %10.2f\n", "whole", ms(time.Since(l.began)))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
