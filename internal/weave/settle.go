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
	shown := l.shown(l.live(nil))
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
	restores []restore
	first    []int // of each run that has twins, the run of the first of these; of others their own index
}

// restore is deletions taken back of one run.
type restore struct {
	source int
	run    int
	by     []uint32
}

// looking cuts the weave's runs at every edge of a restored stretch and, in each of twins, at the edges of the
// others' runs.
func (w *Weave) looking() (*looking, error) {
	l := &looking{w: w}
	var of []change.Restore
	var sources []int
	var at []change.Pos
	for i := range w.acts {
		if !w.acts[i].restores {
			continue
		}
		hunks, err := w.hunksOf(i)
		if err != nil {
			return nil, err
		}
		for k := range hunks {
			for _, r := range hunks[k].Res {
				of, sources = append(of, r), append(sources, i)
				at = append(at, change.Pos{Change: r.Change, Off: r.Off}, change.Pos{Change: r.Change, Off: r.Off + r.Len})
			}
		}
	}
	w.cut(at)
	w.cutTwins()
	p := w.places()
	l.places = p
	for k, r := range of {
		p.each(r.Stretch, func(i int) { l.restores = append(l.restores, restore{sources[k], i, r.By}) })
	}
	l.first = make([]int, len(w.Runs))
	for i := range l.first {
		l.first[i] = i
	}
	for _, t := range w.twins {
		begins := map[uint32]int{}
		for _, m := range t.at {
			p.each(change.Stretch{Change: m.Change, Off: m.Off, Len: t.len}, func(i int) {
				off := w.Runs[i].Off - m.Off
				if _, ok := begins[off]; !ok {
					begins[off] = i
				}
				l.first[i] = begins[off]
			})
		}
	}
	return l, nil
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

// live tells of each source whether it counts among those that out does not leave out: no change that counts undoes it.
func (l *looking) live(out []bool) []bool {
	live := make([]bool, len(l.w.Sources))
	for i := range live {
		live[i] = out == nil || !out[i]
	}
	for i := len(live) - 1; i >= 0; i-- {
		if u := l.w.acts[i].undo; u != nil && live[i] {
			if k, ok := l.w.source(u.Change); ok && k < i {
				live[k] = false
			}
		}
	}
	return live
}

// shown tells of each run whether it shows when the live changes are all there is.
func (l *looking) shown(live []bool) []bool {
	canceled := l.canceled(live)
	shown := make([]bool, len(l.w.Runs))
	known := map[Set]bool{}
	for i := range l.w.Runs {
		r := &l.w.Runs[i]
		if !l.counts(r.Change, live) {
			continue
		}
		if c := canceled[i]; c != nil {
			shown[i] = len(l.deleters(r.Dead, live, c)) == 0
			continue
		}
		stands, ok := known[r.Dead]
		if !ok {
			stands = len(l.deleters(r.Dead, live, nil)) == 0
			known[r.Dead] = stands
		}
		shown[i] = stands
	}
	// Of each line's twins the first that counts shows.
	taken := map[int]bool{}
	for _, t := range l.w.twins {
		for _, m := range t.at {
			l.places.each(change.Stretch{Change: m.Change, Off: m.Off, Len: t.len}, func(i int) {
				if !shown[i] {
					return
				}
				shown[i] = !taken[l.first[i]]
				taken[l.first[i]] = true
			})
		}
	}
	return shown
}

// canceled gives for runs the deleters whose deletions live changes took back.
func (l *looking) canceled(live []bool) map[int][]uint32 {
	out := map[int][]uint32{}
	for _, r := range l.restores {
		if live[r.source] {
			out[r.run] = append(out[r.run], r.by...)
		}
	}
	return out
}

func (l *looking) counts(c uint32, live []bool) bool {
	k, ok := l.w.source(c)
	return ok && live[k]
}

// deleters gives those of a set whose deletions count.
func (l *looking) deleters(dead Set, live []bool, canceled []uint32) (out []uint32) {
	for _, d := range l.w.Members(dead) {
		if l.counts(d, live) && !slices.Contains(canceled, d) {
			out = append(out, d)
		}
	}
	return out
}
