package diff

// slider moves edits to where they read best. An added stretch that ends as the text before it ends (or begins as
// the text after it) can be told in several places without being longer; the same is so for a deleted one.
type slider struct {
	a, b []byte
	opt  *Options
}

// slide moves each edit of list and joins those that come to touch, in place.
func (s *slider) slide(list []Edit) []Edit {
	out := list[:0]
	for i, e := range list {
		e = list[i] // the edit before may have been joined to it
		for {
			floor := 0
			if len(out) > 0 {
				floor = out[len(out)-1].A1
			}
			for e.A0 > floor && s.up(&e) {
			}
			if len(out) == 0 || e.A0 > floor {
				break
			}
			e = s.merge(out[len(out)-1], e)
			out = out[:len(out)-1]
		}
		ceil := -1
		if i+1 < len(list) {
			ceil = list[i+1].A0
		}
		room := 0 // how many lines up from its lowest place it may go
		for e.A1 != ceil && s.down(&e) {
			room++
		}
		if e.A1 == ceil {
			list[i+1] = s.merge(e, list[i+1])
			continue
		}
		s.settle(&e, room)
		out = append(out, e)
	}
	return out
}

// merge makes one edit of two that touch, without the lines that it then begins or ends with on both sides.
func (s *slider) merge(x, y Edit) Edit {
	e := join(x, y)
	for e.A0 < e.A1 && e.B0 < e.B1 {
		endA, endB := lineEnd(s.a, e.AOff0), lineEnd(s.b, e.BOff0)
		if !s.opt.sameLine(s.a[e.AOff0:endA], s.b[e.BOff0:endB]) {
			break
		}
		e.A0, e.B0, e.AOff0, e.BOff0 = e.A0+1, e.B0+1, endA, endB
	}
	for e.A0 < e.A1 && e.B0 < e.B1 {
		startA, startB := lineStart(s.a, e.AOff1), lineStart(s.b, e.BOff1)
		if !s.opt.sameLine(s.a[startA:e.AOff1], s.b[startB:e.BOff1]) {
			break
		}
		e.A1, e.B1, e.AOff1, e.BOff1 = e.A1-1, e.B1-1, startA, startB
	}
	return e
}

// up moves e one line up if that tells the same change. An edit on both sides stays: moved, it would be two.
func (s *slider) up(e *Edit) bool {
	switch {
	case e.A0 == e.A1 && e.B0 > 0:
		first, last := lineStart(s.b, e.BOff0), lineStart(s.b, e.BOff1)
		if !s.opt.sameLine(s.b[first:e.BOff0], s.b[last:e.BOff1]) {
			return false
		}
		e.BOff0, e.BOff1 = first, last
		e.AOff0 = lineStart(s.a, e.AOff0)
		e.AOff1 = e.AOff0
	case e.B0 == e.B1 && e.A0 > 0:
		first, last := lineStart(s.a, e.AOff0), lineStart(s.a, e.AOff1)
		if !s.opt.sameLine(s.a[first:e.AOff0], s.a[last:e.AOff1]) {
			return false
		}
		e.AOff0, e.AOff1 = first, last
		e.BOff0 = lineStart(s.b, e.BOff0)
		e.BOff1 = e.BOff0
	default:
		return false
	}
	e.A0, e.A1, e.B0, e.B1 = e.A0-1, e.A1-1, e.B0-1, e.B1-1
	return true
}

// down moves e one line down if that tells the same change.
func (s *slider) down(e *Edit) bool {
	switch {
	case e.A0 == e.A1 && e.BOff1 < len(s.b):
		first, next := lineEnd(s.b, e.BOff0), lineEnd(s.b, e.BOff1)
		if !s.opt.sameLine(s.b[e.BOff0:first], s.b[e.BOff1:next]) {
			return false
		}
		e.BOff0, e.BOff1 = first, next
		e.AOff0 = lineEnd(s.a, e.AOff0)
		e.AOff1 = e.AOff0
	case e.B0 == e.B1 && e.AOff1 < len(s.a):
		first, next := lineEnd(s.a, e.AOff0), lineEnd(s.a, e.AOff1)
		if !s.opt.sameLine(s.a[e.AOff0:first], s.a[e.AOff1:next]) {
			return false
		}
		e.AOff0, e.AOff1 = first, next
		e.BOff0 = lineEnd(s.b, e.BOff0)
		e.BOff1 = e.BOff0
	default:
		return false
	}
	e.A0, e.A1, e.B0, e.B1 = e.A0+1, e.A1+1, e.B0+1, e.B1+1
	return true
}
