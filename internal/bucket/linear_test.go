package bucket

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	gosync "sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/sync"
)

var histories = flag.Int("histories", 100, "how many histories of racing pushers are checked")

// act is what a client did: a look at both bookmarks, or a push of some of them.
type act struct {
	push     bool
	names    [2]bool // of a push
	old, new [2]int
}

// seen is what came of it.
type seen struct {
	unknown bool // the push failed on its way
	states  [2]int
	done    [2]bool
}

// bookmarks is the definition: two registers, which a push swaps in one step, each if it stands where the pusher saw it.
var bookmarks = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{[2]int{}} },
	Step: func(state, input, output any) []any {
		s, in, out := state.([2]int), input.(act), output.(seen)
		if !in.push {
			if s == out.states {
				return []any{s}
			}
			return nil
		}
		next, some := s, false
		for i := range s {
			if !in.names[i] {
				continue
			}
			free := s[i] == in.old[i] || s[i] == in.new[i]
			if !out.unknown && out.done[i] != free {
				return nil
			}
			if free {
				next[i], some = in.new[i], true
			}
		}
		if out.unknown && some {
			return []any{s, next}
		}
		return []any{next}
	},
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

// TestRacingPushers has three clients look and push, to two bookmarks, one at a time or both, over ways that are slow and fail. All that they were told is held
// against one order of all pushes: none is lost, none half done.
func TestRacingPushers(t *testing.T) {
	requests, refused, unknown := 0, 0, 0
	for seed := range uint64(*histories) {
		var events []porcupine.Operation
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			var mu gosync.Mutex
			roll := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return rnd.IntN(n)
			}
			m := newMemory()
			bad := []int{1 << 30, 20, 8, 4}[seed%4]
			m.wait = func() { time.Sleep(time.Duration(roll(40)) * time.Millisecond) }
			m.lost = func() { time.Sleep(time.Duration(roll(600)) * time.Millisecond) }
			m.fault = func(int) fault {
				if roll(bad) == 0 {
					return fault(1 + roll(2))
				}
				return none
			}
			numbers := map[[32]byte]int{{}: 0}
			number := func(s [32]byte) int {
				mu.Lock()
				defer mu.Unlock()
				n, ok := numbers[s]
				if !ok {
					n = len(numbers)
					numbers[s] = n
				}
				return n
			}
			start := time.Now()
			note := func(client int, from time.Time, in act, out seen) {
				to := int64(time.Since(start))
				if out.unknown {
					to = 1 << 60 // it may be done later still
				}
				mu.Lock()
				defer mu.Unlock()
				events = append(events, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: int64(from.Sub(start)), Return: to})
				if in.push {
					for i := range in.names {
						if in.names[i] && !out.done[i] && !out.unknown {
							refused++
						}
					}
					if out.unknown {
						unknown++
					}
				}
			}
			var all gosync.Map // logs by their states: a pull that needs no network
			all.Store([32]byte{}, []change.ID(nil))
			var wg gosync.WaitGroup
			for who := range 3 {
				wg.Go(func() {
					for k := range 4 {
						c := newClient(m)
						race(c, &all, func(n int) int { return roll(n) }, number, fmt.Sprintf("%d %d %d", seed, who, k),
							func(from time.Time, in act, out seen) { note(who*100+k, from, in, out) })
					}
				})
			}
			wg.Wait()
			requests += m.n
		})
		if porcupine.CheckOperationsTimeout(bookmarks, events, time.Minute) != porcupine.Ok {
			for _, e := range events {
				t.Logf("%+v", e)
			}
			t.Fatalf("history %d has no order", seed)
		}
	}
	t.Logf("%d histories, %d requests, %d names refused, %d pushes of which nobody knows", *histories, requests, refused, unknown)
}

// race looks at the bookmarks, and pushes one more change to some of them.
func race(c *client, all *gosync.Map, roll func(int) int, number func([32]byte) int, text string, note func(time.Time, act, seen)) {
	ctx := context.Background()
	_, peer := c.dial(ctx)
	defer peer.Close()
	names := [2]string{"main", "next"}
	from := time.Now()
	refs, err := list(ctx, peer)
	if err != nil {
		return
	}
	in, at := act{push: true}, seen{}
	var logs [2][]change.ID
	for i, name := range names {
		s := refOf(refs, sync.Bookmark, name).State
		at.states[i], in.old[i] = number(s), number(s)
		log, _ := all.Load(s)
		logs[i], _ = log.([]change.ID)
		c.know(logs[i])
	}
	note(from, act{}, at)
	time.Sleep(time.Duration(roll(30)) * time.Millisecond)
	var ps []pushOne
	which := 1 + roll(3)
	for i, name := range names {
		if which&(1<<i) == 0 {
			continue
		}
		log := append(slices.Clone(logs[i]), newChange(text+name))
		all.Store(stateOf(log), log)
		in.names[i], in.new[i] = true, number(stateOf(log))
		ps = append(ps, pushOne{sync.Bookmark, name, log, false})
	}
	from = time.Now()
	answers, err := c.pushTo(ctx, peer, refs, ps...)
	out := seen{unknown: err != nil}
	for i, j := 0, 0; i < 2 && err == nil; i++ {
		if in.names[i] {
			out.done[i] = answers[j].Done
			j++
		}
	}
	note(from, in, out)
}
