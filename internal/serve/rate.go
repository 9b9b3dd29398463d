package serve

import (
	"sync"
	"time"
)

// maxBuckets bounds how many callers are counted one by one: beyond, those that were idle longest are forgotten all at once.
const maxBuckets = 1 << 14

// rate lets each caller do something so many times a second, and a burst of them at once.
type rate struct {
	each  float64 // a second; 0: no limit
	burst float64
	now   func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newRate(each, burst float64, now func() time.Time) *rate {
	return &rate{each: each, burst: max(burst, 1), now: now, buckets: map[string]*bucket{}}
}

// take counts one for a caller; if that was one too many it tells after how long the next is let through.
func (r *rate) take(who string) (wait time.Duration, ok bool) {
	if r.each <= 0 {
		return 0, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.bucket(who)
	if b.left < 1 {
		return time.Duration((1 - b.left) / r.each * float64(time.Second)), false
	}
	b.left--
	return 0, true
}

// empty tells whether a caller has none left, without counting.
func (r *rate) empty(who string) bool {
	if r.each <= 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bucket(who).left < 1
}

func (r *rate) bucket(who string) *bucket {
	now := r.now()
	b, ok := r.buckets[who]
	if !ok {
		if len(r.buckets) >= maxBuckets {
			r.forget(now)
		}
		b = &bucket{left: r.burst, at: now}
		r.buckets[who] = b
	}
	b.left = min(r.burst, b.left+now.Sub(b.at).Seconds()*r.each)
	b.at = now
	return b
}

// forget drops the buckets that are full again; where none is, all: a flood of addresses must not fill the memory.
func (r *rate) forget(now time.Time) {
	for who, b := range r.buckets {
		if b.left+now.Sub(b.at).Seconds()*r.each >= r.burst {
			delete(r.buckets, who)
		}
	}
	if len(r.buckets) >= maxBuckets {
		clear(r.buckets)
	}
}
