package state

// MaxPath is the longest path in bytes, as in Linux.
const MaxPath = 4096

// order is how the keys of a tree compare: byte by byte, a prefix first.
type order bool

const (
	byBytes order = false
	// byPath puts '/' before every other byte, so that all beneath a directory follows it in one stretch and the
	// order is that of a nested walk.
	byPath order = true
)

// ComparePaths orders paths as trees do: as bytes, but '/' before all others. It returns -1, 0 or 1.
func ComparePaths(a, b string) int { return byPath.compare(a, b) }

func (o order) compare(a, b string) int {
	n := shared(a, b)
	switch {
	case n < len(a) && n < len(b):
		if o.less(a[n], b[n]) {
			return -1
		}
		return 1
	case len(a) < len(b):
		return -1
	case len(a) > len(b):
		return 1
	}
	return 0
}

func (o order) less(a, b byte) bool {
	if o == byPath {
		if a == '/' {
			return b != '/'
		}
		if b == '/' {
			return false
		}
	}
	return a < b
}

// between returns the shortest key k with a < k <= b.
func between(a, b string) string { return b[:shared(a, b)+1] }

// shared is the length of the longest common prefix.
func shared(a, b string) int {
	n, i := min(len(a), len(b)), 0
	for i+8 <= n && a[i:i+8] == b[i:i+8] { // neighbours share 30 bytes and more: one comparison of a word each
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// finder compares the front-coded keys of a page with one key as they come, without putting them together.
type finder struct {
	order   order
	want    string
	matched int // so much of want the last key began with; the last key was not greater than want
}

// next says how the next key compares with the wanted one, given how much it shares with the one before it and what
// follows. Once it has returned 1 it must not be asked again.
func (f *finder) next(shares int, suffix []byte) int {
	switch {
	case shares > f.matched: // it differs from want where the last one did
		return -1
	case shares < f.matched: // where it rose above the last key, that one agreed with want
		return 1
	}
	rest := f.want[f.matched:]
	n := min(len(rest), len(suffix))
	for i := range n {
		if rest[i] != suffix[i] {
			if f.order.less(suffix[i], rest[i]) {
				f.matched += i
				return -1
			}
			return 1
		}
	}
	switch {
	case len(suffix) < len(rest):
		f.matched += n
		return -1
	case len(suffix) > len(rest):
		return 1
	}
	f.matched += n
	return 0
}

// beneath reports whether the path for which next returned 1 lies beneath the wanted one.
func (f *finder) beneath(shares int, suffix []byte) bool {
	rest := f.want[f.matched:]
	return shares == f.matched && len(suffix) > len(rest) && suffix[len(rest)] == '/' && string(suffix[:len(rest)]) == rest
}
