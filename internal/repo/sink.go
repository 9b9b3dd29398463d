package repo

import (
	"errors"
	"sync"

	"github.com/oxy-vcs/oxy/internal/store"
)

// sink puts contents into the transaction.
type sink struct {
	t       *tx
	mu      sync.Mutex
	packers []*store.Packer
}

func newSink(t *tx) *sink { return &sink{t: t} }

// packer gives a goroutine a packer of its own.
func (s *sink) packer() *store.Packer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.t.Packer()
	s.packers = append(s.packers, p)
	return p
}

func (s *sink) flush() error {
	var errs []error
	for _, p := range s.packers {
		errs = append(errs, p.Flush())
	}
	s.packers = nil
	return errors.Join(errs...)
}

// contents stores what is still in memory. Small contents are returned, in the order of the files, to lie in the change's
// own frame, when they are few and none of their like went into the store before.
func (s *sink) contents(recs []recorded) ([]byte, error) {
	total, inline := 0, true
	for i := range recs {
		rec := &recs[i]
		small := rec.file.Size > 0 && rec.file.Size < inlineBelow
		if small && rec.content == nil {
			inline = false
		} else if small {
			total += len(rec.content)
		}
	}
	inline = inline && total <= inlineTotal
	var texts []byte
	p := s.packer()
	for i := range recs {
		rec := &recs[i]
		if rec.file.Size == 0 || rec.content == nil {
			continue
		}
		if inline && rec.file.Size < inlineBelow {
			texts = append(texts, rec.content...)
			continue
		}
		if err := p.Put(rec.file.Content, rec.content); err != nil {
			return nil, err
		}
	}
	return texts, s.flush()
}
