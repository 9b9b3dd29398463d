package revlog

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// Many goroutines may use one Log, each with a Reader of its own.
func TestManyReadersAtOnce(t *testing.T) {
	const n = 400 // an index of several pages
	path := sample(t, n, true)
	for _, mapped := range []bool{false, true} {
		l, err := Open(path, &Options{Map: mapped, Cache: 1 << 16})
		if err != nil {
			t.Fatal(err)
		}
		errs := make([]error, 8)
		var wait sync.WaitGroup
		for g := range errs {
			wait.Go(func() {
				r := l.Reader()
				defer r.Close()
				for i := range n {
					rev := Rev((i*37 + g*91) % n)
					text, err := r.Text(rev)
					if err == nil && !bytes.Equal(text, lineText(int(rev))) {
						err = fmt.Errorf("revision %d is another", rev)
					}
					node, nerr := l.Node(rev)
					got, lerr := l.Rev(node)
					if err := errors.Join(err, nerr, lerr); err != nil || got != rev {
						errs[g] = fmt.Errorf("revision %d, found as %d: %w", rev, got, err)
						return
					}
				}
			})
		}
		wait.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.Text(0); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}
