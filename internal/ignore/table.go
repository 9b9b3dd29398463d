package ignore

import "strings"

// ref tells which pattern wins where several match alike: the highest rank, for a directory or for anything else,
// which patterns for directories only do not touch. 0 is none.
type ref struct{ dir, other int32 }

func (r *ref) raise(rank int32, dirOnly bool) {
	r.dir = max(r.dir, rank)
	if !dirOnly {
		r.other = max(r.other, rank)
	}
}

func (r *ref) of(isDir bool) int32 {
	if isDir {
		return r.dir
	}
	return r.other
}

// table finds the highest rank among patterns that match a name. Patterns of the common shapes are found by hashing
// or told apart by a short comparison; only globs need a matcher.
type table struct {
	all   ref   // *
	whole words // name
	exts  words // *.ext, with no other dot; the keys have the dot
	tails []word
	heads []word
	globs []globRef
}

type globRef struct {
	glob
	ref
}

func (t *table) empty() bool {
	return t.all == ref{} && t.whole.empty() && t.exts.empty() && len(t.tails)+len(t.heads)+len(t.globs) == 0
}

func (t *table) add(g *glob, rank int32, dirOnly bool) {
	g.variants(func(g *glob) {
		switch {
		case g.exact():
			t.whole.at(g.head).raise(rank, dirOnly)
		case !g.affix() || g.head != "" && g.tail != "":
			t.globs = append(t.globs, globRef{glob: *g})
			t.globs[len(t.globs)-1].raise(rank, dirOnly)
		case g.head != "":
			t.heads = append(t.heads, word{text: g.head})
			t.heads[len(t.heads)-1].raise(rank, dirOnly)
		case g.tail == "":
			t.all.raise(rank, dirOnly)
		case strings.LastIndexByte(g.tail, '.') == 0:
			t.exts.at(g.tail).raise(rank, dirOnly)
		default:
			t.tails = append(t.tails, word{text: g.tail})
			t.tails[len(t.tails)-1].raise(rank, dirOnly)
		}
	})
}

func (t *table) match(name string, isDir bool) int32 {
	best := t.all.of(isDir)
	best = max(best, t.whole.get(name, isDir))
	if !t.exts.empty() {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			best = max(best, t.exts.get(name[dot:], isDir))
		}
	}
	for i := range t.tails {
		if w := &t.tails[i]; w.of(isDir) > best && strings.HasSuffix(name, w.text) {
			best = w.of(isDir)
		}
	}
	for i := range t.heads {
		if w := &t.heads[i]; w.of(isDir) > best && strings.HasPrefix(name, w.text) {
			best = w.of(isDir)
		}
	}
	for i := range t.globs {
		if g := &t.globs[i]; g.of(isDir) > best && g.match(name) {
			best = g.of(isDir)
		}
	}
	return best
}

type word struct {
	text string
	ref
}

// fewWords is how many words are compared one by one: most ignore files have fewer, and a comparison mostly ends at
// the lengths, so that hashing pays only from here on.
const fewWords = 8

// words maps texts to patterns.
type words struct {
	few  []word
	many map[string]*ref // instead of few
	lens uint64          // bit n is set if there is a text of length n, bit 63 for longer ones
}

func (w *words) empty() bool { return w.lens == 0 }

func lenBit(text string) uint64 { return 1 << min(len(text), 63) }

// at returns the place of a text, new if it is not there. It is good until the next call.
func (w *words) at(text string) *ref {
	w.lens |= lenBit(text)
	for i := range w.few {
		if w.few[i].text == text {
			return &w.few[i].ref
		}
	}
	if w.many == nil && len(w.few) < fewWords {
		w.few = append(w.few, word{text: text})
		return &w.few[len(w.few)-1].ref
	}
	if w.many == nil {
		w.many = make(map[string]*ref, 2*fewWords)
		for i := range w.few {
			w.many[w.few[i].text] = &ref{w.few[i].dir, w.few[i].other}
		}
		w.few = nil
	}
	r := w.many[text]
	if r == nil {
		r = &ref{}
		w.many[text] = r
	}
	return r
}

func (w *words) get(text string, isDir bool) int32 {
	if w.lens&lenBit(text) == 0 {
		return 0
	}
	for i := range w.few {
		if w.few[i].text == text {
			return w.few[i].of(isDir)
		}
	}
	if r := w.many[text]; r != nil {
		return r.of(isDir)
	}
	return 0
}
