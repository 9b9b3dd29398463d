package ui

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// patience is how long work may take before a bar appears: a bar that flashes is worse than none.
const patience = 400 * time.Millisecond

// Progress shows one bar at a time on a terminal. It implements repo.Progress.
type Progress struct {
	out io.Writer

	mu    sync.Mutex
	now   atomic.Pointer[work]
	board *mpb.Progress // nil until a bar is shown
}

type work struct {
	what  string
	total int64
	bytes bool
	began time.Time
	done  atomic.Int64
	bar   atomic.Pointer[mpb.Bar]
}

// NewProgress costs nothing until work has lasted.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out} }

// Begin starts work; what was begun before ends.
func (p *Progress) Begin(what string, total int64, bytes bool) {
	p.End()
	p.now.Store(&work{what: what, total: total, bytes: bytes, began: time.Now()})
}

// Add says that n more were done.
func (p *Progress) Add(n int64) {
	w := p.now.Load()
	if w == nil {
		return
	}
	done := w.done.Add(n)
	if bar := w.bar.Load(); bar != nil {
		bar.IncrInt64(n)
	} else if time.Since(w.began) > patience {
		p.show(w, done)
	}
}

// End takes the bar away.
func (p *Progress) End() {
	w := p.now.Swap(nil)
	if w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if bar := w.bar.Load(); bar != nil {
		bar.Abort(true)
		p.board.Wait()
		p.board = nil
	}
}

func (p *Progress) show(w *work, done int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.bar.Load() != nil || p.now.Load() != w {
		return
	}
	p.board = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(40), mpb.WithAutoRefresh())
	count := decor.CountersNoUnit(" %d of %d")
	switch {
	case w.bytes && w.total > 0:
		count = decor.CountersKibiByte(" % .1f of % .1f")
	case w.bytes:
		count = decor.CurrentKibiByte(" % .1f")
	case w.total <= 0:
		count = decor.CurrentNoUnit(" %d")
	}
	bar := p.board.AddBar(w.total, mpb.PrependDecorators(decor.Name(w.what+" ")), mpb.AppendDecorators(count))
	bar.SetCurrent(done)
	w.bar.Store(bar)
}
