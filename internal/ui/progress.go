package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	// patience is how long work may take before a bar appears: a bar that flashes is worse than none.
	patience = 400 * time.Millisecond
	// refresh is how often the bar is drawn anew: smooth to the eye, and nothing beside the work.
	refresh  = 100 * time.Millisecond
	barWidth = 30
)

// Progress shows one bar at a time on a terminal. It implements repo.Progress. A library for bars was here before: what
// it brings is set up at every start of oxy, a tenth of a millisecond that commands without a bar paid too.
type Progress struct {
	out io.Writer
	now func() time.Time

	mu    sync.Mutex
	on    bool
	what  string
	done  int64
	total int64
	bytes bool
	share float64 // of the whole, where that is not told by done and total
	began time.Time
	next  time.Time // when to draw
	drawn bool
}

// NewProgress costs nothing until work has lasted.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out, now: time.Now} }

// Begin starts work; what was begun before ends.
func (p *Progress) Begin(what string, total int64, bytes bool) {
	p.End()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on, p.what, p.total, p.bytes, p.done, p.share = true, what, total, bytes, 0, 0
	p.began = p.now()
	p.next = p.began.Add(patience)
}

// Add says that n more were done.
func (p *Progress) Add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if !p.on {
		return
	}
	if now := p.now(); !now.Before(p.next) {
		p.next = now.Add(refresh)
		p.drawn = true
		// What cannot be shown is no reason to stop the work.
		_, _ = io.WriteString(p.out, "\r\x1b[K"+p.line(now))
	}
}

// Share says how much of the whole is done, in other pieces than those that Add counts.
func (p *Progress) Share(done, total uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.share = float64(done) / float64(max(total, 1))
}

// End takes the bar away.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		_, _ = io.WriteString(p.out, "\r\x1b[K")
	}
	p.on, p.drawn = false, false
}

// line is the bar: what, how far, how much, how fast, and how long it may take yet.
func (p *Progress) line(now time.Time) string {
	amount, share := p.amount(p.done), p.share
	if p.total > 0 {
		amount, share = amount+" of "+p.amount(p.total), float64(p.done)/float64(p.total)
	}
	passed := now.Sub(p.began)
	if passed > 0 && p.done > 0 {
		amount += "  " + p.amount(int64(float64(p.done)/passed.Seconds())) + "/s"
	}
	if share <= 0 {
		return p.what + "  " + amount
	}
	share = min(share, 1)
	full := int(share * barWidth)
	s := fmt.Sprintf("%s [%s%s] %3.0f %%  %s", p.what, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), share*100, amount)
	if left := time.Duration(float64(passed) * (1 - share) / max(share, 0.001)); left > time.Second {
		s += "  " + left.Round(time.Second).String() + " left"
	}
	return s
}

func (p *Progress) amount(n int64) string {
	switch {
	case !p.bytes:
		return fmt.Sprint(n)
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
