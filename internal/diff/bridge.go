package diff

// A run of up to maxBridge blank lines between two edits of both sides is no landmark if each of the edits has
// bridgeFactor times as many lines: then they read better as one. A lower factor makes the output of real histories
// longer than Git's.
const (
	maxBridge    = 2
	bridgeFactor = 12
)

// bridge joins edits that only such a run keeps apart, in place.
func bridge(edits []Edit, a []byte) []Edit {
	out := edits[:0]
	for _, e := range edits {
		if n := len(out); n > 0 && bridges(&out[n-1], &e, a) {
			out[n-1] = join(out[n-1], e)
			continue
		}
		out = append(out, e)
	}
	return out
}

func bridges(x, y *Edit, a []byte) bool {
	gap := y.A0 - x.A1
	return gap <= maxBridge && x.both() && y.both() && min(x.size(), y.size()) >= bridgeFactor*gap &&
		isBlank(a[x.AOff1:y.AOff0])
}

// join makes one edit of two, and of what lies between.
func join(x, y Edit) Edit {
	x.A1, x.B1, x.AOff1, x.BOff1 = y.A1, y.B1, y.AOff1, y.BOff1
	return x
}

func (e *Edit) both() bool { return e.A0 < e.A1 && e.B0 < e.B1 }
func (e *Edit) size() int  { return e.A1 - e.A0 + e.B1 - e.B0 }
