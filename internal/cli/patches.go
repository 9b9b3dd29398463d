package cli

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/diff"
	"github.com/oxy-vcs/oxy/internal/repo"
)

// ahead is how many files may be ready before the one that is written: enough to keep all cores at work behind a large
// file, few enough that memory is bounded.
const ahead = 64

// rendered is one file, or the error that kept it from being so.
type rendered struct {
	text []byte
	err  error
}

// inOrder makes a text of each of n files on all cores and hands them to emit in order, each as soon as it is its turn.
// render appends to the buffer that it is given, with worker's own memory; the buffer is taken back after emit.
func inOrder[W any](n int, worker func() W, render func(w W, dst []byte, i int) ([]byte, error), emit func([]byte) error) error {
	cores := min(runtime.GOMAXPROCS(0), n)
	if cores <= 1 {
		w := worker()
		var buf []byte
		for i := range n {
			var err error
			if buf, err = render(w, buf[:0], i); err != nil {
				return err
			}
			if err := emit(buf); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		next    atomic.Int64
		group   sync.WaitGroup
		stop    = make(chan struct{})
		tokens  = make(chan struct{}, ahead)
		buffers = make(chan []byte, ahead)
		slots   [ahead]chan rendered // by index modulo ahead: no two of those in work meet
	)
	for i := range slots {
		slots[i] = make(chan rendered, 1)
	}
	for range cores {
		group.Go(func() {
			w := worker()
			for {
				// The token first: who holds the least index then never waits for one.
				select {
				case tokens <- struct{}{}:
				case <-stop:
					return
				}
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				var buf []byte
				select {
				case buf = <-buffers:
				default:
				}
				text, err := render(w, buf[:0], i)
				slots[i%ahead] <- rendered{text, err}
			}
		})
	}
	defer group.Wait()
	defer close(stop)
	for i := range n {
		r := <-slots[i%ahead]
		if r.err != nil {
			return r.err
		}
		if err := emit(r.text); err != nil {
			return err
		}
		<-tokens
		select {
		case buffers <- r.text:
		default:
		}
	}
	return nil
}

// patches writes all files of a set.
func (a *app) patches(set *repo.DiffSet, opt patchOptions) error {
	defer a.timings.Phase("patches")(0)
	return inOrder(len(set.Files),
		func() *patcher { return &patcher{files: set.Files, sides: set, opt: opt} },
		(*patcher).appendPatch,
		func(text []byte) error {
			_, err := a.out.Write(text)
			return err
		})
}

// eachFile calls each for every file of a set on all cores and gives the results in order.
func eachFile[T any](set *repo.DiffSet, opt patchOptions, each func(p *patcher, i int) (T, error)) ([]T, error) {
	out := make([]T, len(set.Files))
	err := inOrder(len(set.Files),
		func() *patcher { return &patcher{files: set.Files, sides: set, opt: opt} },
		func(p *patcher, dst []byte, i int) (_ []byte, err error) {
			out[i], err = each(p, i)
			return dst, err
		},
		func([]byte) error { return nil })
	return out, err
}

// stat writes the table of lines changed.
func (a *app) stat(set *repo.DiffSet, opt patchOptions, width int) error {
	files, err := eachFile(set, opt, (*patcher).stat)
	if err != nil {
		return err
	}
	_, err = a.out.Write(diff.AppendStat(nil, files, width, opt.unified.Palette))
	return err
}

// jsonFiles is a set in JSON.
func jsonFiles(set *repo.DiffSet, opt patchOptions, hunks bool) ([]jsonFile, error) {
	return eachFile(set, opt, func(p *patcher, i int) (jsonFile, error) { return p.json(i, hunks) })
}
