package diff

// landmarks makes a shortest script read better where another one is as short. A shortest script would as soon keep
// two blank lines or brackets as two lines that mean something. So wherever it keeps only such weak lines between
// changed ones, the lines that say something are compared first, and then what is left between those that match.
type landmarks struct {
	weak []bool // by number
	a, b strong
	keep []bool // flags to put back where the other script is longer
}

// isWeak reports whether line has no letter or digit: a blank one, or a lone bracket.
func isWeak(line []byte) bool {
	for _, c := range line {
		if isWord(c) {
			return false
		}
	}
	return true
}

// strong is what of a stretch says something: the numbers of such lines, and where each stands in the whole.
type strong struct {
	reduced
	at []int32
}

func (s *strong) take(all *reduced, from, to int, weak []bool) {
	s.id, s.line, s.at = s.id[:0], s.line[:0], s.at[:0]
	for i := from; i < to; i++ {
		if id := all.id[i]; !weak[id] {
			s.add(id, len(s.id))
			s.at = append(s.at, int32(i))
		}
	}
	s.changed = flags(s.changed, len(s.id))
}

// landmarks looks at each stretch between two matches of lines that say something.
func (d *Differ) landmarks(a []byte) {
	weak := d.marks.weak[:0]
	for _, line := range d.in.first {
		weak = append(weak, isWeak(a[d.a.off[line]:d.a.off[line+1]]))
	}
	d.marks.weak = weak
	ra, rb := &d.ra, &d.rb
	a0, b0 := 0, 0
	lostA, lostB, kept := 0, 0, 0 // in the stretch: strong lines changed on each side, weak ones that match
	i, j := 0, 0
	for {
		for ; i < len(ra.id) && ra.changed[ra.line[i]]; i++ {
			if !weak[ra.id[i]] {
				lostA++
			}
		}
		for ; j < len(rb.id) && rb.changed[rb.line[j]]; j++ {
			if !weak[rb.id[j]] {
				lostB++
			}
		}
		if i < len(ra.id) && weak[ra.id[i]] {
			kept++
			i++
			j++
			continue
		}
		if lostA > 0 && lostB > 0 && kept > 0 {
			d.retry(a0, i, b0, j, kept)
		}
		if i == len(ra.id) {
			return
		}
		i++
		j++
		a0, b0 = i, j
		lostA, lostB, kept = 0, 0, 0
	}
}

// retry compares a stretch in the other way, and keeps what comes out if it matches as many lines or more.
func (d *Differ) retry(a0, a1, b0, b1, matched int) {
	m := &d.marks
	m.keep = d.ra.save(m.keep[:0], a0, a1)
	m.keep = d.rb.save(m.keep, b0, b1)
	m.a.take(&d.ra, a0, a1, m.weak)
	m.b.take(&d.rb, b0, b1, m.weak)
	d.search.run(&m.a.reduced, &m.b.reduced)

	d.search.a, d.search.b = &d.ra, &d.rb
	now := 0
	x0, y0 := a0, b0
	between := func(x1, y1 int) {
		d.search.box(x0, x1, y0, y1, x1-x0+y1-y0)
		for _, line := range d.ra.line[x0:x1] {
			if !d.ra.changed[line] {
				now++
			}
		}
	}
	for i, j := 0, 0; ; i, j = i+1, j+1 {
		for i < len(m.a.at) && m.a.changed[i] {
			i++
		}
		for j < len(m.b.at) && m.b.changed[j] {
			j++
		}
		if i == len(m.a.at) {
			break
		}
		x, y := int(m.a.at[i]), int(m.b.at[j])
		between(x, y)
		now++
		x0, y0 = x+1, y+1
	}
	between(a1, b1)
	if now < matched {
		d.ra.restore(m.keep[:a1-a0], a0, a1)
		d.rb.restore(m.keep[a1-a0:], b0, b1)
	}
}

// save appends the flags of lines from..to, and clears them.
func (r *reduced) save(dst []bool, from, to int) []bool {
	for _, line := range r.line[from:to] {
		dst = append(dst, r.changed[line])
		r.changed[line] = false
	}
	return dst
}

func (r *reduced) restore(flags []bool, from, to int) {
	for i, line := range r.line[from:to] {
		r.changed[line] = flags[i]
	}
}
