package repo

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/oxy-vcs/oxy/internal/safepath"
)

// addedAtOnce is how many changes a fuse gathers before it puts them into the texts that they edit: for so many what they know of each
// other is kept in memory, some KiB each.
const addedAtOnce = 2048

// addAll puts many changes beside what is there, in the order of a log. What they do to a text is put into it at once, and into
// different texts on all cores.
func (f *fuse) addAll(nums []uint32) error {
	if len(nums) == 1 || f.r.kept != nil {
		for _, n := range nums {
			if err := f.add(n); err != nil {
				return err
			}
		}
		return nil
	}
	for some := range slices.Chunk(nums, addedAtOnce) {
		f.waits = true
		for _, n := range some {
			if err := f.add(n); err != nil {
				return err
			}
		}
		f.waits = false
		files := f.waiting
		f.waiting = nil
		// The longest first, so that no core is left with one at the end.
		slices.SortFunc(files, func(a, b *fused) int { return cmp.Compare(len(b.waiting), len(a.waiting)) })
		if err := f.eachFile(files, (*fuse).takeWaiting); err != nil {
			return err
		}
	}
	return nil
}

// takeWaiting adds to a file's text what waits for it.
func (f *fuse) takeWaiting(x *fused) error {
	waiting := x.waiting
	x.waiting = nil
	if err := f.load(x); err != nil {
		return err
	}
	w := x.weave.w.Clone()
	besides, err := w.AddAll(waiting, f.history(x))
	if err != nil {
		return errors.Join(err, errors.New("in "+safepath.Quote(x.entry.Path)))
	}
	if besides && !x.newWeave {
		x.before, x.besides = x.weave, waiting
	} else {
		x.before, x.besides = nil, nil
	}
	x.weave, x.newWeave = x.weave.with(w), true
	return nil
}

// fewFiles is up to how many files are not worth another goroutine.
const fewFiles = 8

// eachFile calls fn for each of some files, on all cores: with a fuse that knows what this one does, and has a reach of its own.
func (f *fuse) eachFile(files []*fused, fn func(f *fuse, x *fused) error) error {
	cores := max(f.r.cores, min(runtime.GOMAXPROCS(0), len(files)/fewFiles))
	if cores < 2 || f.r.kept != nil || f.h.draftDeps != nil {
		var missing lackings
		for _, x := range files {
			if err := fn(f, x); err != nil && !missing.took(err) {
				return err
			}
		}
		return missing.err()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, cores)
	missing := make([]lackings, cores)
	for k := range cores {
		own := *f
		own.h = f.r.ownReach()
		own.h.deps = f.r.keptDeps()
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				err := fn(&own, files[i])
				if err == nil || missing[k].took(err) {
					continue
				}
				errs[k] = err
				next.Store(int64(len(files)))
				return
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, m := range missing[1:] {
		missing[0].add(m)
	}
	return missing[0].err()
}

// judgeAll judges every file that is touched.
func (f *fuse) judgeAll() error {
	files := make([]*fused, 0, len(f.files))
	for _, x := range f.files {
		if !x.judged && !x.forget {
			files = append(files, x)
		}
	}
	return f.eachFile(files, (*fuse).judge)
}
