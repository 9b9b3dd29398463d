package repo

import (
	"errors"
	"sync"

	"github.com/oxy-vcs/oxy/internal/change"
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

// contents stores what is still in memory of what a change's files bring; nil is in the store already. Small contents are
// returned, in the order of the files, to lie in the change's own frame, when they are few and none of their like went into
// the store before.
func (s *sink) contents(files []change.File, contents [][]byte) ([]byte, error) {
	total, inline := 0, true
	for i := range files {
		small := files[i].Size > 0 && files[i].Size < inlineBelow
		if small && contents[i] == nil {
			inline = false
		} else if small {
			total += len(contents[i])
		}
	}
	inline = inline && total <= inlineTotal
	var texts []byte
	p := s.packer()
	for i := range files {
		f := &files[i]
		if f.Size == 0 || contents[i] == nil {
			continue
		}
		if inline && f.Size < inlineBelow {
			texts = append(texts, contents[i]...)
			continue
		}
		if err := p.Put(f.Content, contents[i]); err != nil {
			return nil, err
		}
	}
	return texts, s.flush()
}
