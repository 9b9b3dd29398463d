package repo

// levels are how many changes lie one upon the other beneath each, at most: one that stands no lower than another is not in its past. Changes
// that were recorded beside each other mostly stand about as high, and few steps tell that neither knows of the other.
type levels []uint32

// levelsNow are those of all changes in the store.
func (r *Repo) levelsNow() levels {
	all := r.levels
	for n := uint32(len(all)); n < r.store.NumChanges(); n++ {
		most := uint32(0)
		for _, d := range r.store.Deps(n) {
			most = max(most, all[d]+1)
		}
		all = append(all, most)
	}
	r.levels = all
	return all
}

// nearby answers which changes lie in the past of which where that takes few steps. It is for one goroutine.
type nearby struct {
	of   levels
	deps func(n uint32) []uint32
	// A change was seen if its mark is that of the question.
	mark []uint32
	turn uint32
	todo []uint32
}

// nearSteps bounds how many changes are looked at for an answer: beyond, to walk the past once for all questions costs less.
const nearSteps = 512

func newNearby(of levels, deps func(n uint32) []uint32) *nearby {
	return &nearby{of: of, deps: deps, mark: make([]uint32, len(of))}
}

// reaches tells whether b, below a, is in a's past. Where it is not sure it took too many steps.
func (k *nearby) reaches(a, b uint32) (reaches, sure bool) {
	if uint64(a) >= uint64(len(k.of)) {
		return false, false
	}
	least := k.of[b]
	if k.of[a] <= least {
		return false, true
	}
	if k.turn++; k.turn == 0 {
		clear(k.mark)
		k.turn = 1
	}
	k.todo = append(k.todo[:0], a)
	for steps := 0; len(k.todo) > 0; steps++ {
		if steps == nearSteps {
			return false, false
		}
		last := len(k.todo) - 1
		n := k.todo[last]
		k.todo = k.todo[:last]
		for _, d := range k.deps(n) {
			if d == b {
				return true, true
			}
			if d > b && k.of[d] > least && k.mark[d] != k.turn {
				k.mark[d] = k.turn
				k.todo = append(k.todo, d)
			}
		}
	}
	return false, true
}
