// Package words makes texts that compress and differ as code and prose do, the same ones from the same seed.
package words

import (
	"fmt"
	"math/rand"
	"strings"
)

// Words are what texts are made of, the first ones far more often.
type Words struct {
	r    *rand.Rand
	all  []string
	pick *rand.Zipf
}

// New makes a vocabulary.
func New(r *rand.Rand) *Words {
	w := &Words{r: r, pick: rand.NewZipf(r, 1.1, 3, 5999)}
	for range 6000 {
		var b strings.Builder
		for range 1 + r.Intn(4) {
			b.WriteString([]string{"ba", "co", "di", "fe", "gu", "ha", "in", "jo", "ke", "li", "mo", "nu", "op", "pre", "re", "st", "tion", "er"}[r.Intn(18)])
		}
		w.all = append(w.all, b.String())
	}
	return w
}

// Word is one of them.
func (w *Words) Word() string { return w.all[w.pick.Uint64()] }

// Line appends a line of code, to look at.
func (w *Words) Line(b []byte) []byte {
	for range w.r.Intn(5) {
		b = append(b, "    "...)
	}
	for range 2 + w.r.Intn(8) {
		b = append(append(b, w.Word()...), []string{" = ", "(", ", ", ".", " ", " ", "->", " + ", "); ", " == "}[w.r.Intn(10)]...)
	}
	if w.r.Intn(2) == 0 {
		b = fmt.Append(b, w.r.Intn(10000))
	}
	return append(b, '\n')
}
