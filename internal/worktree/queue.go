package worktree

import (
	"sync"
	"sync/atomic"
)

// queue hands directories to workers. The last one offered is taken first, which keeps the walk deep and the number of
// open directories small.
type queue[T any] struct {
	mu    sync.Mutex
	wake  sync.Cond
	items []T
	busy  int
	free  atomic.Int32 // how many more tasks are worth offering
}

// drain runs work on the first task and on all that are offered meanwhile, on several goroutines, until none is left.
func drain[T any](workers int, first []T, work func(worker int, task T, q *queue[T])) {
	q := &queue[T]{items: first}
	q.wake.L = &q.mu
	// Twice the workers keeps all busy while few directories are open.
	q.free.Store(int32(2*workers - len(first)))
	if workers == 1 {
		q.free.Store(-1)
	}
	var all sync.WaitGroup
	for i := 1; i < workers; i++ {
		all.Go(func() { q.serve(i, work) })
	}
	q.serve(0, work)
	all.Wait()
}

func (q *queue[T]) serve(worker int, work func(int, T, *queue[T])) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.items) == 0 {
			if q.busy == 0 {
				q.wake.Broadcast()
				return
			}
			q.wake.Wait()
		}
		last := len(q.items) - 1
		task := q.items[last]
		q.items = q.items[:last]
		q.busy++
		q.free.Add(1)
		q.mu.Unlock()
		work(worker, task, q)
		q.mu.Lock()
		q.busy--
	}
}

// hungry tells whether another worker would soon take a task. Otherwise the caller does it itself.
func (q *queue[T]) hungry() bool { return q.free.Load() > 0 }

func (q *queue[T]) offer(task T) {
	q.mu.Lock()
	q.items = append(q.items, task)
	q.free.Add(-1)
	q.mu.Unlock()
	q.wake.Signal()
}

// parallel calls work for each number below n on several goroutines, until one fails.
func parallel(workers, n int, work func(worker, i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	run := func(worker int) {
		for failed.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := work(worker, i); err != nil {
				failed.CompareAndSwap(nil, &err)
			}
		}
	}
	var all sync.WaitGroup
	for i := 1; i < min(workers, n); i++ {
		all.Go(func() { run(i) })
	}
	run(0)
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
