package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	gosync "sync"
	"time"

	"github.com/oxy-vcs/oxy/internal/s3"
)

// What a way to a store in the same part of the world is like: what a request takes before its first byte, half of it always and half by chance, and how much a
// person's way carries. A store of Amazon's answers a GET in 20 to 60 ms and a PUT in 40 to 120.
const (
	getTime  = 40 * time.Millisecond
	putTime  = 80 * time.Millisecond
	listTime = 100 * time.Millisecond // a page of 1 000
	// deleteTime is for a thousand objects
	deleteTime = 500 * time.Millisecond
	bandwidth  = 12_500_000 // bytes a second: 100 Mbit/s
)

// storage is what all share. Of old packs only the tables are kept: nobody reads the rest, or is told so.
type storage struct {
	mu      gosync.Mutex
	objects map[string]object
	etags   int
}

type object struct {
	hole     int64 // bytes before data that are not kept
	data     []byte
	etag     string
	modified time.Time
}

// way is one person's way to the storage.
type way struct {
	s    *storage
	rnd  *rand.Rand
	mu   gosync.Mutex
	free time.Time // when its line is

	requests, packs, roots int // all, and those that wrote packs and the root
	down, up               int64
}

var (
	errHole  = errors.New("the simulation did not keep that")
	notFound = &s3.Error{Status: 404, Code: "NoSuchKey"}
)

// takes has a request take its time: to the store, there, and until n bytes went over the line.
func (w *way) takes(ctx context.Context, latency time.Duration, n int) {
	w.mu.Lock()
	latency = latency/2 + time.Duration(w.rnd.ExpFloat64()*float64(latency/2))
	now := time.Now()
	begin := now
	if w.free.After(begin) {
		begin = w.free
	}
	w.free = begin.Add(time.Duration(n) * time.Second / bandwidth)
	until := w.free.Sub(now)
	w.mu.Unlock()
	t := time.NewTimer(latency + until)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *way) count(put string, down, up int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	switch {
	case put == prefix+"/root":
		w.roots++
	case put != "":
		w.packs++
	}
	w.down += int64(down)
	w.up += int64(up)
}

const headers = 600 // bytes of a request and its answer beside the object

func (w *way) Whole(ctx context.Context, key string, _ int64) ([]byte, s3.Info, error) {
	w.takes(ctx, getTime/2, 0)
	w.s.mu.Lock()
	o, ok := w.s.objects[key]
	w.s.mu.Unlock()
	w.takes(ctx, getTime/2, len(o.data)+headers)
	w.count("", len(o.data)+headers, headers)
	if !ok {
		return nil, s3.Info{Date: time.Now()}, notFound
	}
	return slices.Clone(o.data), s3.Info{ETag: o.etag, Date: time.Now()}, nil
}

func (w *way) Range(ctx context.Context, key string, offset, n int64) ([]byte, s3.Info, error) {
	w.takes(ctx, getTime, int(n)+headers)
	w.count("", int(n)+headers, headers)
	if ctx.Err() != nil {
		return nil, s3.Info{}, ctx.Err()
	}
	w.s.mu.Lock()
	o, ok := w.s.objects[key]
	w.s.mu.Unlock()
	switch {
	case !ok:
		return nil, s3.Info{}, notFound
	case offset < o.hole:
		return nil, s3.Info{}, errHole
	case offset-o.hole+n > int64(len(o.data)):
		return nil, s3.Info{}, fmt.Errorf("%s is shorter", key)
	}
	return slices.Clone(o.data[offset-o.hole:][:n]), s3.Info{Date: time.Now()}, nil
}

func (w *way) Put(ctx context.Context, key string, body []byte) (s3.Info, error) {
	return w.put(ctx, key, body, func(object) bool { return true })
}

func (w *way) PutIf(ctx context.Context, key string, body []byte, etag string) (s3.Info, error) {
	return w.put(ctx, key, body, func(o object) bool { return o.etag == etag })
}

func (w *way) put(ctx context.Context, key string, body []byte, condition func(object) bool) (s3.Info, error) {
	w.takes(ctx, putTime/2, len(body)+headers)
	w.count(key, headers, len(body)+headers)
	if ctx.Err() != nil {
		return s3.Info{}, ctx.Err()
	}
	w.s.mu.Lock()
	good := condition(w.s.objects[key])
	var info s3.Info
	if good {
		w.s.etags++
		o := object{data: slices.Clone(body), etag: fmt.Sprint(w.s.etags), modified: time.Now()}
		w.s.objects[key] = o
		info = s3.Info{ETag: o.etag, Date: o.modified}
	}
	w.s.mu.Unlock()
	w.takes(ctx, putTime/2, 0)
	if !good {
		return s3.Info{}, s3.ErrCondition
	}
	return info, nil
}

func (w *way) Delete(ctx context.Context, keys ...string) error {
	for ; len(keys) > 0 && ctx.Err() == nil; keys = keys[min(len(keys), 1000):] {
		some := keys[:min(len(keys), 1000)]
		w.takes(ctx, deleteTime, headers+100*len(some))
		w.count("", headers, headers+100*len(some))
		w.s.mu.Lock()
		for _, key := range some {
			delete(w.s.objects, key)
		}
		w.s.mu.Unlock()
	}
	return ctx.Err()
}

func (w *way) List(ctx context.Context, prefix string) (out []s3.Listed, err error) {
	w.s.mu.Lock()
	for _, key := range slices.Sorted(maps.Keys(w.s.objects)) {
		if strings.HasPrefix(key, prefix) {
			o := w.s.objects[key]
			out = append(out, s3.Listed{Key: key, Size: o.hole + int64(len(o.data)), Modified: o.modified})
		}
	}
	w.s.mu.Unlock()
	for n := 0; n <= len(out); n += 1000 { // page after page
		size := headers + 300*min(1000, len(out)-n)
		w.takes(ctx, listTime, size)
		w.count("", size, headers)
	}
	return out, ctx.Err()
}
