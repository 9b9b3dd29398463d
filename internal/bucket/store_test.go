package bucket

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	gosync "sync"
	"time"

	"github.com/oxy-vcs/oxy/internal/s3"
)

// fault is what becomes of a request.
type fault int

const (
	none   fault = iota
	before       // it never gets there
	after        // it is done, and the answer is lost
)

var errWay = errors.New("the way failed")

// memory is a store in memory.
type memory struct {
	now   func() time.Time
	wait  func()            // on the way there, and on the way back
	lost  func()            // until who asked gives up
	fault func(n int) fault // of the nth request

	mu      gosync.Mutex
	objects map[string]object
	n       int
	etags   int
	log     []string
}

type object struct {
	data     []byte
	etag     string
	modified time.Time
}

func newMemory() *memory {
	return &memory{now: time.Now, wait: func() {}, lost: func() {}, fault: func(int) fault { return none }, objects: map[string]object{}}
}

func (m *memory) copy() *memory {
	c := newMemory()
	c.now = m.now
	for k, o := range m.objects {
		c.objects[k] = o
	}
	c.etags = m.etags
	return c
}

func (m *memory) do(ctx context.Context, what string, act func() error) error {
	m.mu.Lock()
	f := m.fault(m.n)
	m.n++
	m.log = append(m.log, what)
	m.mu.Unlock()
	m.wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if f == before {
		m.lost()
		return errWay
	}
	m.mu.Lock()
	err := act()
	m.mu.Unlock()
	m.wait()
	if f == after {
		m.lost()
		return errWay
	}
	return err
}

var notFound = &s3.Error{Status: 404, Code: "NoSuchKey"}

func (m *memory) Whole(ctx context.Context, key string, limit int64) (data []byte, info s3.Info, err error) {
	err = m.do(ctx, "GET "+key, func() error {
		o, ok := m.objects[key]
		info = s3.Info{ETag: o.etag, Date: m.now()}
		if !ok {
			return notFound
		}
		if int64(len(o.data)) > limit {
			return s3.ErrTooLarge
		}
		data = o.data
		return nil
	})
	return data, info, err
}

func (m *memory) Range(ctx context.Context, key string, offset, n int64) (data []byte, info s3.Info, err error) {
	err = m.do(ctx, fmt.Sprintf("GET %s %d %d", key, offset, n), func() error {
		o, ok := m.objects[key]
		if !ok {
			return notFound
		}
		if int64(len(o.data)) < offset+n {
			return errors.New("it is shorter")
		}
		data = slices.Clone(o.data[offset : offset+n])
		return nil
	})
	return data, info, err
}

func (m *memory) put(key string, body []byte) s3.Info {
	m.etags++
	o := object{slices.Clone(body), fmt.Sprintf(`"%d"`, m.etags), m.now()}
	m.objects[key] = o
	return s3.Info{ETag: o.etag, Date: m.now()}
}

func (m *memory) Put(ctx context.Context, key string, body []byte) (info s3.Info, err error) {
	err = m.do(ctx, "PUT "+key, func() error {
		info = m.put(key, body)
		return nil
	})
	return info, err
}

func (m *memory) PutIf(ctx context.Context, key string, body []byte, etag string) (info s3.Info, err error) {
	err = m.do(ctx, "PUT "+key+" if "+etag, func() error {
		if m.objects[key].etag != etag {
			return s3.ErrCondition
		}
		info = m.put(key, body)
		return nil
	})
	return info, err
}

func (m *memory) Delete(ctx context.Context, keys ...string) (err error) {
	for _, key := range keys {
		err = errors.Join(err, m.do(ctx, "DELETE "+key, func() error {
			delete(m.objects, key)
			return nil
		}))
	}
	return err
}

func (m *memory) List(ctx context.Context, prefix string) (out []s3.Listed, err error) {
	err = m.do(ctx, "LIST "+prefix, func() error {
		for k, o := range m.objects {
			if strings.HasPrefix(k, prefix) {
				out = append(out, s3.Listed{Key: k, Size: int64(len(o.data)), Modified: o.modified})
			}
		}
		return nil
	})
	return out, err
}
