package diff

import (
	"cmp"
	"slices"
	"strings"
)

// Candidate is a file that was removed or added.
type Candidate struct {
	Name string // its path, elements divided by '/'
	Hash [32]byte
	Size int64
	// Load returns the fingerprint of the content; the zero one if it cannot be read or is not text that should be
	// compared. It is called at most once, and not for a file that is paired without.
	Load func() Fingerprint
}

// Pair says that a removed file became an added one, by their indexes.
type Pair struct {
	Removed, Added int
	Similarity     int // percent; 100 for equal contents only
}

const (
	// maxRenamePairs bounds the comparisons each with each, a second of work. Beyond it, files are paired if they are
	// equal, or resemble each other and have the same base name. Git has the same bound.
	maxRenamePairs = 1000 * 1000
	// maxRivals is how many of its likenesses an added file keeps, so that memory does not grow with the comparisons.
	maxRivals = 4
)

// Renames pairs removed files with added ones that they resemble by threshold percent or more, each at most once.
// The result depends on the candidates only, and ascends by Added if they are sorted by name.
func Renames(removed, added []Candidate, threshold int) []Pair {
	r := renames{
		removed: sortCandidates(removed), added: sortCandidates(added),
		threshold: max(threshold, 1),
	}
	r.exact()
	if threshold < 100 {
		r.byBase()
		r.bySimilarity()
	}
	slices.SortFunc(r.pairs, func(x, y Pair) int { return cmp.Compare(x.Added, y.Added) })
	return r.pairs
}

// renames holds what is not yet paired. All orders are by name, so that the caller's order changes nothing.
type renames struct {
	removed, added []*candidate
	threshold      int
	pairs          []Pair
}

type candidate struct {
	*Candidate
	index  int
	paired bool
	loaded bool
	print  Fingerprint
}

func sortCandidates(list []Candidate) []*candidate {
	out := make([]*candidate, len(list))
	for i := range list {
		out[i] = &candidate{Candidate: &list[i], index: i}
	}
	slices.SortStableFunc(out, func(x, y *candidate) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func (c *candidate) base() string { return c.Name[strings.LastIndexByte(c.Name, '/')+1:] }

func (c *candidate) fingerprint() Fingerprint {
	if !c.loaded && c.Load != nil {
		c.print = c.Load()
	}
	c.loaded = true
	return c.print
}

func (r *renames) pair(from, to *candidate, similarity int) {
	from.paired, to.paired = true, true
	r.pairs = append(r.pairs, Pair{from.index, to.index, similarity})
}

// exact pairs equal contents, those of one base name first. An empty file is like any other empty one, so it needs
// the name too.
func (r *renames) exact() {
	type key struct {
		hash [32]byte
		base string
	}
	for _, named := range []bool{true, false} {
		byKey := make(map[key][]*candidate)
		keyOf := func(c *candidate) key {
			if named {
				return key{c.Hash, c.base()}
			}
			return key{hash: c.Hash}
		}
		for _, c := range r.removed {
			if !c.paired && (named || c.Size > 0) {
				byKey[keyOf(c)] = append(byKey[keyOf(c)], c)
			}
		}
		for _, c := range r.added {
			if list := byKey[keyOf(c)]; !c.paired && len(list) > 0 {
				byKey[keyOf(c)] = list[1:]
				r.pair(list[0], c, 100)
			}
		}
		r.drop()
	}
}

// byBase pairs files whose base name was removed once and added once: most moves keep the name, and this finds them
// without comparing each with each.
func (r *renames) byBase() {
	type meeting struct {
		removed, added   *candidate
		nRemoved, nAdded int
	}
	byName := make(map[string]*meeting)
	at := func(c *candidate) *meeting {
		m := byName[c.base()]
		if m == nil {
			m = &meeting{}
			byName[c.base()] = m
		}
		return m
	}
	for _, c := range r.removed {
		m := at(c)
		m.removed = c
		m.nRemoved++
	}
	for _, c := range r.added {
		m := at(c)
		m.added = c
		m.nAdded++
	}
	// Half way to certainty: a file that resembles another much more may still come.
	enough := (r.threshold + 100) / 2
	for _, c := range r.added {
		if m := byName[c.base()]; m.nRemoved == 1 && m.nAdded == 1 {
			if s := r.similarity(m.removed, c, enough); s >= enough {
				r.pair(m.removed, c, s)
			}
		}
	}
	r.drop()
}

// similarity is at most 99, since equal contents are paired before; 0 if the sizes rule out least.
func (r *renames) similarity(x, y *candidate, least int) int {
	if x.Size == 0 || y.Size == 0 || min(x.Size, y.Size)*100 < max(x.Size, y.Size)*int64(least) {
		return 0
	}
	return min(x.fingerprint().Similarity(y.fingerprint()), 99)
}

// bySimilarity compares each with each and pairs the most similar first, then those of one base name.
func (r *renames) bySimilarity() {
	if len(r.removed)*len(r.added) > maxRenamePairs {
		return
	}
	type rival struct {
		from, to   int
		similarity int
		sameBase   bool
	}
	order := func(x, y rival) int {
		if c := cmp.Compare(y.similarity, x.similarity); c != 0 {
			return c
		}
		if x.sameBase != y.sameBase {
			if x.sameBase {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.to, y.to), cmp.Compare(x.from, y.from))
	}
	var all, own []rival
	for to, c := range r.added {
		own = own[:0]
		for from, old := range r.removed {
			if s := r.similarity(old, c, r.threshold); s >= r.threshold {
				own = append(own, rival{from, to, s, old.base() == c.base()})
			}
		}
		slices.SortFunc(own, order)
		all = append(all, own[:min(len(own), maxRivals)]...)
	}
	slices.SortFunc(all, order)
	for _, v := range all {
		if from, to := r.removed[v.from], r.added[v.to]; !from.paired && !to.paired {
			r.pair(from, to, v.similarity)
		}
	}
	r.drop()
}

// drop forgets what is paired.
func (r *renames) drop() {
	paired := func(c *candidate) bool { return c.paired }
	r.removed = slices.DeleteFunc(r.removed, paired)
	r.added = slices.DeleteFunc(r.added, paired)
}
