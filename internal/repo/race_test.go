package repo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	gosync "sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/oxy-vcs/oxy/internal/change"
	"github.com/oxy-vcs/oxy/internal/state"
	"github.com/oxy-vcs/oxy/internal/sync"
	"github.com/oxy-vcs/oxy/internal/vfs"
)

var races = flag.Int("races", 120, "how often two clients race on one bookmark")

// racesARound is how many races one history has: a checker's work grows with its length, and with what is not known in it.
const racesARound = 6

// A bookmark is a set of changes. A push says which set it shall be, and is taken if that has all that the bookmark has; a read tells
// which set it is.
type raceInput struct {
	push bool
	set  uint64 // a bit for each change
}

type raceOutput struct {
	what raceOutcome
	set  uint64 // of a read
}

type raceOutcome uint8

const (
	raceDone    raceOutcome = iota
	racePull                // refused: it has what the push lacks
	raceUnknown             // it failed: perhaps after it was done
)

func raceModel(first uint64) porcupine.Model {
	return (&porcupine.NondeterministicModel{
		Init: func() []any { return []any{first} },
		Step: func(state, input, output any) []any {
			now, in, out := state.(uint64), input.(raceInput), output.(raceOutput)
			fits := now&^in.set == 0
			switch {
			case !in.push && out.set == now, in.push && out.what == racePull && !fits:
				return []any{now}
			case in.push && out.what == raceDone && fits:
				return []any{in.set}
			case in.push && out.what == raceUnknown && fits:
				return []any{now, in.set}
			case in.push && out.what == raceUnknown:
				return []any{now}
			}
			return nil
		},
		Equal: func(a, b any) bool { return a == b },
	}).ToModel()
}

// race is a server that fails now and then, and whose power is cut, and a history of what two clients saw of it.
type race struct {
	t     *testing.T
	rng   *rand.Rand
	clock atomic.Int64

	mu     gosync.Mutex
	mem    *vfs.Mem // what the server stands on
	fault  *vfs.Faulty
	stays  bool
	server *Server
	seen   []porcupine.Operation
	bits   map[change.ID]int
	acked  uint64
	cuts   int
	faults int
}

// start starts the server anew, with another fault ahead.
func (r *race) start() {
	r.stays = r.rng.IntN(2) == 0
	mode := vfs.FaultMode(0)
	if r.stays {
		mode = vfs.FaultStays
	}
	r.fault = vfs.Inject(r.mem, 1+r.rng.IntN(150), errCut, mode)
	s, err := NewServer("/server", ServeOptions{Options: raceOptions(r.fault), Gather: r.rng.IntN(2) == 0})
	if err != nil {
		r.t.Fatal(err)
	}
	r.server = s
}

func raceOptions(fs vfs.FS) Options { return Options{FS: fs, Env: person} }

// heal cuts the power if the disk is gone, and starts the server again.
func (r *race) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.fault.Fired() {
		return
	}
	r.faults++
	if r.stays {
		r.mem = r.mem.Crash(r.rng)
		r.cuts++
	}
	r.start()
}

// do runs one operation against the server, and notes what came of it.
func (r *race) do(client int, in raceInput, op func(l *link) (raceOutput, error)) (raceOutcome, error) {
	r.mu.Lock()
	server, fault, stays, mem := r.server, r.fault, r.stays, r.mem
	r.mu.Unlock()
	l := &link{Peer: sync.Local(context.Background(), server, func() error { return nil }), name: Origin, shown: "there"}
	call := r.clock.Add(1)
	out, err := op(l)
	_ = l.Close()
	// What is heard of a server whose disk is gone nobody heard: its machine is off.
	// So it is where another server stood on the same machine by then, and that one's disk was gone.
	r.mu.Lock()
	off := r.mem != mem
	r.mu.Unlock()
	if failed := err != nil || off || stays && fault.Fired(); failed {
		out.what = raceUnknown
	}
	end := r.clock.Add(1)
	if out.what == raceUnknown {
		end = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if in.push || out.what != raceUnknown {
		r.seen = append(r.seen, porcupine.Operation{ClientId: client, Input: in, Call: call, Output: out, Return: end})
	}
	if in.push && out.what == raceDone {
		r.acked |= in.set
	}
	return out.what, err
}

// setOf gives the bits of a state's changes.
func (r *race) setOf(c *Repo, s StateRef) uint64 {
	set, err := mended(c, func() (state.Set, error) { return c.setOf(s.Num) })
	if err != nil {
		r.t.Error(err)
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := uint64(0)
	for n := range set.Down() {
		id := c.store.ChangeID(n)
		if _, ok := r.bits[id]; !ok {
			r.bits[id] = len(r.bits)
		}
		out |= 1 << r.bits[id]
	}
	return out
}

func (r *race) push(client int, c *Repo) (raceOutcome, error) {
	main, err := c.ResolveState("main")
	if err != nil {
		return raceUnknown, err
	}
	return r.do(client, raceInput{push: true, set: r.setOf(c, main)}, func(l *link) (out raceOutput, err error) {
		refs, err := l.list(context.Background())
		if err != nil {
			return out, err
		}
		p := &pushing{ctx: context.Background(), r: c, l: l, opt: SyncOptions{Bookmark: "main"}, refs: refs, res: &PushResult{}}
		if err := p.plan(); err != nil {
			return out, err
		}
		if len(p.updates) > 0 {
			if err := p.send(); err != nil {
				return out, err
			}
		}
		switch ref := &p.res.Refs[0]; {
		case ref.Pull:
			out.what = racePull
		case ref.Refused != "":
			return out, errors.New(ref.Refused)
		}
		return out, nil
	})
}

// pull reads the bookmark and unites it with the client's.
func (r *race) pull(client int, c *Repo) error {
	what, err := r.do(client, raceInput{}, func(l *link) (out raceOutput, err error) {
		if _, _, err := c.fetch(context.Background(), l, false, []string{"main"}); err != nil {
			return out, err
		}
		v, err := c.view()
		if err != nil {
			return out, err
		}
		n, ok := tracked(v, Origin+"/main")
		if !ok {
			return out, errors.New("nothing came")
		}
		s, err := c.stateRef(n)
		out.set = r.setOf(c, s)
		return out, err
	})
	if err != nil || what == raceUnknown {
		return err
	}
	return c.pullInto(context.Background(), &PullResult{Bookmark: "main"}, Origin)
}

// withoutExcused leaves out refusals that an operation may be the reason of which was written and not synced yet when the power went: a push that got no
// answer was under way. Who is refused loses nothing, and pulls. What was acknowledged or read has no such excuse.
func withoutExcused(seen []porcupine.Operation) (out []porcupine.Operation) {
	for _, op := range seen {
		excused := false
		for _, lost := range seen {
			if lost.Output.(raceOutput).what != raceUnknown || lost.ClientId == op.ClientId {
				continue
			}
			over := int64(math.MaxInt64) // whose client went on then
			for _, next := range seen {
				if next.ClientId == lost.ClientId && next.Call > lost.Call {
					over = min(over, next.Call)
				}
			}
			excused = excused || lost.Call < op.Return && op.Call < over
		}
		if op.Output.(raceOutput).what != racePull || !excused {
			out = append(out, op)
		}
	}
	return out
}

// TestRaces has two clients push to one bookmark side by side, over a server on the model of a disk that fails and whose power is cut,
// and has a checker say whether what they saw is a history of one bookmark: no push that was acknowledged is lost, none is there twice,
// and nobody reads what never was.
func TestRaces(t *testing.T) {
	cuts, faults, unknown, told := 0, 0, 0, 0
	for round := range *races / racesARound {
		r := &race{t: t, rng: rand.New(rand.NewPCG(uint64(round), 11)), mem: vfs.NewMem(), bits: map[change.ID]int{}}
		first, err := Init("/server", raceOptions(r.mem))
		if err != nil {
			t.Fatal(err)
		}
		raceCommit(t, first, "begin")
		main, err := first.ResolveState("main")
		if err != nil {
			t.Fatal(err)
		}
		begin := r.setOf(first, main)
		if err := errors.Join(first.ConfigSet(settingReceive, receiveDetach, false), first.Close()); err != nil {
			t.Fatal(err)
		}
		var clients [2]*Repo
		for i := range clients {
			// A client's own disk is good.
			mem := copyOf(r.mem)
			c, err := Open("/server", raceOptions(mem))
			if err != nil {
				t.Fatal(err)
			}
			clients[i] = c
		}
		// Half a round's clone is at the disk for sure.
		r.start()
		var wg gosync.WaitGroup
		for i, c := range clients {
			wg.Go(func() {
				for k := range racesARound {
					raceCommit(t, c, fmt.Sprintf("c%d-%d", i, k))
					for range 4 {
						what, err := r.push(i, c)
						r.heal()
						if err == nil && what == raceDone {
							break
						}
						_ = r.pull(i, c) // what it was told is noted
						r.heal()
					}
				}
			})
		}
		wg.Wait()
		// In the end a last cut, of a machine on which nothing is under way, and a look at what is there.
		r.mu.Lock()
		r.mem = r.mem.Crash(r.rng)
		r.mu.Unlock()
		last, err := Open("/server", raceOptions(r.mem))
		if err != nil {
			t.Fatal(err)
		}
		main, err = last.ResolveState("main")
		if err != nil {
			t.Fatal(err)
		}
		now := r.clock.Add(1)
		at := r.setOf(last, main)
		r.seen = append(r.seen, porcupine.Operation{ClientId: 2, Input: raceInput{}, Call: now, Output: raceOutput{set: at}, Return: now + 1})
		if r.acked&^at != 0 {
			t.Errorf("round %d: changes %b were acknowledged and are lost", round, r.acked&^at)
		}
		if !porcupine.CheckOperations(raceModel(begin), withoutExcused(r.seen)) {
			t.Fatalf("round %d is no history of one bookmark:\n%v", round, r.seen)
		}
		if round%8 == 0 {
			res, err := last.Fsck(context.Background(), FsckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range res.Problems {
				if !p.Derived {
					t.Errorf("round %d: fsck: %s", round, p.Text)
				}
			}
		}
		if err := errors.Join(last.Close(), clients[0].Close(), clients[1].Close()); err != nil {
			t.Fatal(err)
		}
		cuts, faults = cuts+r.cuts, faults+r.faults
		for i := range r.seen {
			switch r.seen[i].Output.(raceOutput).what {
			case raceUnknown:
				unknown++
			case racePull:
				told++
			}
		}
	}
	t.Logf("%d races: %d faults, %d of them power cuts; %d pushes of which nobody knows, %d that were told to pull", *races, faults, cuts, unknown, told)
}

func raceCommit(t *testing.T, r *Repo, name string) {
	f, err := r.fs.OpenFile(r.root+"/"+name, os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.Write([]byte(name + "\n"))
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		_, err = r.Commit(context.Background(), CommitOptions{Message: name})
	}
	if err != nil {
		t.Error(err)
	}
}

// TestRaceModel: the checker finds what it is for.
func TestRaceModel(t *testing.T) {
	op := func(client int, call, end int64, in raceInput, out raceOutput) porcupine.Operation {
		return porcupine.Operation{ClientId: client, Call: call, Return: end, Input: in, Output: out}
	}
	push := func(set uint64) raceInput { return raceInput{push: true, set: set} }
	good := []porcupine.Operation{op(0, 1, 4, push(3), raceOutput{}), op(1, 2, 5, push(5), raceOutput{what: racePull}), op(1, 6, 7, raceInput{}, raceOutput{set: 3}), op(1, 8, 9, push(7), raceOutput{})}
	if !porcupine.CheckOperations(raceModel(1), good) {
		t.Error("a good history was refused")
	}
	refused := op(0, 3, 4, push(5), raceOutput{what: racePull})
	cut := op(1, 1, math.MaxInt64, push(3), raceOutput{what: raceUnknown})
	if got := withoutExcused([]porcupine.Operation{cut, refused, op(1, 5, 6, raceInput{}, raceOutput{set: 1})}); len(got) != 2 {
		t.Error("a refusal for what a cut took counts")
	}
	if got := withoutExcused([]porcupine.Operation{cut, op(1, 2, 3, raceInput{}, raceOutput{set: 1}), refused}); len(got) != 2+1 {
		t.Error("a refusal after a cut is excused")
	}
	for name, bad := range map[string][]porcupine.Operation{
		"a lost update":   {op(0, 1, 4, push(3), raceOutput{}), op(1, 2, 5, push(5), raceOutput{})},
		"an old read":     append(slices.Clone(good), op(0, 10, 11, raceInput{}, raceOutput{set: 3})),
		"no reason given": {op(0, 1, 2, push(3), raceOutput{what: racePull})},
		"out of nowhere":  {op(0, 1, 2, raceInput{}, raceOutput{set: 9})},
	} {
		if porcupine.CheckOperations(raceModel(1), bad) {
			t.Errorf("%s passes", name)
		}
	}
}
