package weave

import (
	"slices"

	"github.com/oxy-vcs/oxy/internal/change"
)

// live tells of each source whether it counts: no change that counts undoes it.
func (w *Weave) live() []bool {
	live := make([]bool, len(w.Sources))
	for i := range live {
		live[i] = true
	}
	for i := len(live) - 1; i >= 0; i-- {
		if u := w.acts[i].undo; u != nil && live[i] {
			if k, ok := w.source(u.Change); ok && k < i {
				live[k] = false
			}
		}
	}
	return live
}

// settle finds what shows of each run where deleters alone do not say it.
func (w *Weave) settle() error {
	if !w.odd {
		return nil
	}
	s := settling{w: w, live: w.live()}
	if err := s.restored(); err != nil {
		return err
	}
	s.cut()
	for i := range w.Runs {
		r := &w.Runs[i]
		r.Turned = s.counts(i) != (r.Dead == 0)
	}
	s.hideTwins()
	w.join()
	return nil
}

type settling struct {
	w    *Weave
	live []bool
	res  []change.Restore // those that count
	// canceled lists of a run the deleters whose deletions were taken back.
	canceled map[int][]uint32
}

// restored gathers what counting changes restored.
func (s *settling) restored() error {
	for i := range s.w.acts {
		if !s.live[i] || !s.w.acts[i].restores {
			continue
		}
		hunks, err := s.w.hunksOf(i)
		if err != nil {
			return err
		}
		for k := range hunks {
			s.res = append(s.res, hunks[k].Res...)
		}
	}
	return nil
}

// cut makes every edge of a restored stretch and, in each of twins, the edges of the others' runs, edges of runs.
func (s *settling) cut() {
	var at []change.Pos
	for _, r := range s.res {
		at = append(at, change.Pos{Change: r.Change, Off: r.Off}, change.Pos{Change: r.Change, Off: r.Off + r.Len})
	}
	if len(at) > 0 {
		s.w.cut(at)
		at = nil
	}
	p := s.w.places()
	for _, t := range s.w.twins {
		for _, m := range t.at {
			p.each(change.Stretch{Change: m.Change, Off: m.Off, Len: t.len}, func(i int) {
				r := &s.w.Runs[i]
				for _, n := range t.at {
					for _, edge := range [2]uint32{r.Off, r.Off + r.Len} {
						if edge >= m.Off && edge-m.Off <= t.len {
							at = append(at, change.Pos{Change: n.Change, Off: n.Off + edge - m.Off})
						}
					}
				}
			})
		}
		for _, n := range t.at {
			at = append(at, n, change.Pos{Change: n.Change, Off: n.Off + t.len})
		}
	}
	if len(at) > 0 {
		s.w.cut(at)
		p = s.w.places()
	}
	s.canceled = map[int][]uint32{}
	for _, r := range s.res {
		p.each(r.Stretch, func(i int) { s.canceled[i] = append(s.canceled[i], r.By...) })
	}
}

// counts reports whether a run's change counts and no deletion of it does.
func (s *settling) counts(i int) bool {
	r := &s.w.Runs[i]
	if k, ok := s.w.source(r.Change); !ok || !s.live[k] {
		return false
	}
	for _, d := range s.w.Members(r.Dead) {
		if k, ok := s.w.source(d); ok && s.live[k] && !slices.Contains(s.canceled[i], d) {
			return false
		}
	}
	return true
}

// hideTwins leaves of each line's twins the first that counts.
func (s *settling) hideTwins() {
	p := s.w.places()
	for _, t := range s.w.twins {
		shown := map[uint32]bool{} // offsets in the stretch at which a run that shows begins
		for _, m := range t.at {
			p.each(change.Stretch{Change: m.Change, Off: m.Off, Len: t.len}, func(i int) {
				r := &s.w.Runs[i]
				if !r.Shown() {
					return
				}
				if shown[r.Off-m.Off] {
					r.Turned = !r.Turned
				}
				shown[r.Off-m.Off] = true
			})
		}
	}
}
