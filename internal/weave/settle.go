package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// settle finds what shows of each run where deleters alone do not say it.
func (w *Weave) settle() error {
	if !w.odd {
		return nil
	}
	l, err := w.looking()
	if err != nil {
		return err
	}
	shown := l.shown(l.all(), l.without(nil))
	for i := range w.Runs {
		w.Runs[i].Turned = shown[i] != (w.Runs[i].Dead == 0)
	}
	w.join()
	return nil
}

// looking tells what parts of a weave's changes show. Its runs are cut so that each shares its fate whatever part that is.
type looking struct {
	w        *Weave
	places   places
	restores map[int][]restore // of runs: the deletions that some change took back
	twins    map[int]twin      // of runs that have any
	members  map[int][]int     // of the first of twins: the runs of all of them
	undoes   bool
	deads    [][]int32 // of sets of deleters: their sources, once known
}

// restore is deletions of a run, as source took them back.
type restore struct {
	source int
	by     []uint32
}

// twin is a run's place among its twins: the run of the first of them, which names them, and its rank by hash.
type twin struct{ first, rank int }

// looking cuts the weave's runs at every edge of a restored stretch and, in each of twins, at the edges of the
// others' runs.
func (w *Weave) looking() (*looking, error) {
	l := &looking{w: w, restores: map[int][]restore{}, twins: map[int]twin{}, members: map[int][]int{}, undoes: w.undoes(), deads: make([][]int32, len(w.sets)+1)}
	of, sources, err := w.restored()
	if err != nil {
		return nil, err
	}
	var at []change.Pos
	for _, r := range of {
		at = append(at, change.Pos{Change: r.Change, Off: r.Off}, change.Pos{Change: r.Change, Off: r.Off + r.Len})
	}
	w.cut(at)
	w.cutTwins()
	l.places = w.places()
	for k, r := range of {
		l.places.each(r.Stretch, func(i int) { l.restores[i] = append(l.restores[i], restore{sources[k], r.By}) })
	}
	for _, t := range w.twins {
		begins := map[uint32]int{}
		for rank, m := range t.at {
			l.places.each(change.Stretch{Change: m.Change, Off: m.Off, Len: t.len}, func(i int) {
				off := w.Runs[i].Off - m.Off
				if _, ok := begins[off]; !ok {
					begins[off] = i
				}
				l.twins[i] = twin{begins[off], rank}
				l.members[begins[off]] = append(l.members[begins[off]], i)
			})
		}
	}
	return l, nil
}

// restored gathers all deletions that were taken back, and the sources that did it.
func (w *Weave) restored() (of []change.Restore, sources []int, err error) {
	for i := range w.acts {
		if !w.acts[i].restores {
			continue
		}
		hunks, err := w.hunksOf(i)
		if err != nil {
			return nil, nil, err
		}
		for k := range hunks {
			for _, r := range hunks[k].Res {
				of, sources = append(of, r), append(sources, i)
			}
		}
	}
	return of, sources, nil
}

func (w *Weave) undoes() bool {
	return slices.ContainsFunc(w.acts, func(a act) bool { return a.undo != nil })
}

func (w *Weave) cutTwins() {
	var at []change.Pos
	p := w.places()
	for _, t := range w.twins {
		for _, m := range t.at {
			edges := []uint32{0, t.len}
			p.each(change.Stretch{Change: m.Change, Off: m.Off, Len: t.len}, func(i int) {
				if r := &w.Runs[i]; r.Off > m.Off {
					edges = append(edges, r.Off-m.Off)
				}
			})
			for _, n := range t.at {
				for _, e := range edges {
					at = append(at, change.Pos{Change: n.Change, Off: n.Off + e})
				}
			}
		}
	}
	w.cut(at)
}

// counting tells of a source whether it counts.
type counting func(source int) bool

// without tells which sources are live in the set that leaves some out: no change that counts undoes them.
// A nil out leaves out none; another must stay as it is while it is asked.
func (l *looking) without(out []bool) counting {
	switch {
	case !l.undoes && out == nil:
		return func(int) bool { return true }
	case !l.undoes:
		return func(k int) bool { return !out[k] }
	}
	live := make([]bool, len(l.w.Sources))
	for i := range live {
		live[i] = out == nil || !out[i]
	}
	return l.w.undone(live)
}

// undoing tells which sources are live in the set with one more change, which undoes source k.
func (l *looking) undoing(k int) counting {
	live := slices.Repeat([]bool{true}, len(l.w.Sources))
	live[k] = false
	return l.w.undone(live)
}

// undone takes out of what may be live what is undone by what is.
func (w *Weave) undone(live []bool) counting {
	for i := len(live) - 1; i >= 0; i-- {
		if u := w.acts[i].undo; u != nil && live[i] {
			if k, ok := w.source(*u); ok && k < i {
				live[k] = false
			}
		}
	}
	return func(k int) bool { return live[k] }
}

// restoredBy reports whether a source took back deletions of a run.
func (l *looking) restoredBy(i, source int) bool {
	return slices.ContainsFunc(l.restores[i], func(r restore) bool { return r.source == source })
}

// all is every run.
func (l *looking) all() []int {
	runs := make([]int, len(l.w.Runs))
	for i := range runs {
		runs[i] = i
	}
	return runs
}

// shown tells of some runs, and with each all of its twins, whether they show when the live changes are all there is.
func (l *looking) shown(runs []int, live counting) []bool {
	shown := make([]bool, len(runs))
	best := map[int]int{} // of twins: which in runs shows
	for at, i := range runs {
		shown[at] = l.stands(i, live)
		t, ok := l.twins[i]
		if !ok || !shown[at] {
			continue
		}
		other, taken := best[t.first]
		switch {
		case !taken:
			best[t.first] = at
		case l.twins[runs[other]].rank > t.rank:
			shown[other], best[t.first] = false, at
		default:
			shown[at] = false
		}
	}
	return shown
}

// first names a run by the first of its twins.
func (l *looking) first(i int) int {
	if t, ok := l.twins[i]; ok {
		return t.first
	}
	return i
}

// stands reports whether a run shows if it has no twins.
func (l *looking) stands(i int, live counting) bool {
	k := int(l.places.owners[i])
	return k < len(l.w.Sources) && live(k) && !l.deleted(i, live)
}

func (l *looking) counts(c uint32, live counting) bool {
	k, ok := l.w.source(c)
	return ok && live(k)
}

func (l *looking) deleted(i int, live counting) bool {
	dead := l.w.Runs[i].Dead
	switch {
	case dead == 0:
		return false
	case len(l.restores[i]) > 0:
		return len(l.deleters(i, live)) > 0
	}
	by := l.deads[dead]
	if by == nil {
		for _, d := range l.w.Members(dead) {
			if k, ok := l.w.source(d); ok {
				by = append(by, int32(k))
			}
		}
		l.deads[dead] = by
	}
	return slices.ContainsFunc(by, func(k int32) bool { return live(int(k)) })
}

// deleters gives the changes whose deletions of a run count.
func (l *looking) deleters(i int, live counting) (out []uint32) {
	for _, d := range l.w.Members(l.w.Runs[i].Dead) {
		canceled := slices.ContainsFunc(l.restores[i], func(r restore) bool { return live(r.source) && slices.Contains(r.by, d) })
		if l.counts(d, live) && !canceled {
			out = append(out, d)
		}
	}
	return out
}
