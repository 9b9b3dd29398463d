package diff

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// check fails unless edits are a well-formed way from a to b.
func check(t testing.TB, a, b []byte, edits []Edit) {
	t.Helper()
	la, lb := Split(a), Split(b)
	var out []byte
	endA, endB := 0, 0
	for i, e := range edits {
		if i > 0 && (e.A0 <= endA || e.B0 <= endB) || e.A0-endA != e.B0-endB || e.A1 < e.A0 || e.B1 < e.B0 {
			t.Fatalf("edit %d of %+v is out of step", i, edits)
		}
		if e.A0 == e.A1 && e.B0 == e.B1 {
			t.Fatalf("edit %d of %+v is empty", i, edits)
		}
		if e.A1 > la.Len() || e.B1 > lb.Len() {
			t.Fatalf("edit %+v is past the end", e)
		}
		if e.AOff0 != la.Off(e.A0) || e.AOff1 != la.Off(e.A1) || e.BOff0 != lb.Off(e.B0) || e.BOff1 != lb.Off(e.B1) {
			t.Fatalf("edit %+v has other offsets than its lines", e)
		}
		out = append(out, a[la.Off(endA):e.AOff0]...)
		out = append(out, b[e.BOff0:e.BOff1]...)
		endA, endB = e.A1, e.B1
	}
	out = append(out, a[la.Off(endA):]...)
	if !bytes.Equal(out, b) {
		t.Fatalf("the edits %+v make of\n%q not\n%q but\n%q", edits, a, b, out)
	}
}

// lcs is the length of the longest common subsequence of lines, the slow and sure way.
func lcs(a, b []byte) int {
	la, lb := Split(a), Split(b)
	row := make([]int, lb.Len()+1)
	for i := range la.Len() {
		diagonal := 0
		for j := range lb.Len() {
			up := row[j+1]
			if bytes.Equal(la.Line(i), lb.Line(j)) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j], up)
			}
			diagonal = up
		}
	}
	return row[lb.Len()]
}

// randomText has up to n lines of a small alphabet, and sometimes no last line end.
func randomText(r *rand.Rand, n, letters int) []byte {
	var out []byte
	for range r.Intn(n + 1) {
		switch k := r.Intn(letters); k {
		case 0:
			out = append(out, '\n')
		case 1:
			out = append(out, "}\n"...)
		default:
			out = fmt.Appendf(out, "%*s%c\n", k%3, "", 'a'+k)
		}
	}
	if len(out) > 0 && r.Intn(4) == 0 {
		out = out[:len(out)-1]
	}
	return out
}

// mutate edits text as people do: it drops, adds, copies and moves stretches.
func mutate(r *rand.Rand, text []byte, edits int) []byte {
	l := strings.SplitAfter(string(text), "\n")
	for range edits {
		at := r.Intn(len(l) + 1)
		end := min(len(l), at+r.Intn(4))
		switch r.Intn(4) {
		case 0:
			l = append(l[:at:at], l[end:]...)
		case 1:
			l = append(l[:at:at], append([]string{fmt.Sprintf("new %d\n", r.Intn(9))}, l[at:]...)...)
		case 2:
			l = append(l[:end:end], append(append([]string{}, l[at:end]...), l[end:]...)...)
		default:
			cut := append([]string{}, l[at:end]...)
			l = append(l[:at:at], l[end:]...)
			to := r.Intn(len(l) + 1)
			l = append(l[:to:to], append(cut, l[to:]...)...)
		}
	}
	return []byte(strings.Join(l, ""))
}

func TestRandomPairs(t *testing.T) {
	var d Differ // one for all, so that nothing may stay behind from the last call
	for seed := range int64(30000) {
		r := rand.New(rand.NewSource(seed))
		letters := 2 + r.Intn(12)
		a := randomText(r, 24, letters)
		b := randomText(r, 24, letters)
		if r.Intn(2) == 0 {
			b = mutate(r, a, r.Intn(5))
		}
		la, lb := Split(a), Split(b)
		least := la.Len() + lb.Len() - 2*lcs(a, b)
		edits := d.Lines(a, b, Options{Minimal: true})
		check(t, a, b, edits)
		if added, deleted := Count(edits); added+deleted != least {
			t.Fatalf("seed %d: %d lines changed where %d do:\n%q\n%q", seed, added+deleted, least, a, b)
		}
		// Otherwise only blank lines between large edits may be given up, a few of them.
		edits = d.Lines(a, b, Options{})
		check(t, a, b, edits)
		if added, deleted := Count(edits); added+deleted > least+2*maxBridge {
			t.Fatalf("seed %d: %d lines changed where %d do:\n%q\n%q", seed, added+deleted, least, a, b)
		}
	}
}

func TestLargePairs(t *testing.T) {
	var d Differ
	for seed := range int64(9) {
		r := rand.New(rand.NewSource(seed))
		n, letters := 4000, 2+int(seed)*int(seed)*10
		if seed == 1 {
			n = 9000 // so many that no middle is found and no anchor
		}
		a := randomText(r, n, letters)
		b := randomText(r, n, letters)
		if seed%2 == 0 {
			b = mutate(r, a, 400)
		}
		edits := d.Lines(a, b, Options{})
		check(t, a, b, edits)
		added, deleted := Count(edits)
		la, lb := Split(a), Split(b)
		least := la.Len() + lb.Len() - 2*lcs(a, b)
		if added+deleted > least+least/4 {
			t.Errorf("seed %d: %d lines changed where %d do", seed, added+deleted, least)
		}
		shortest := d.Lines(a, b, Options{Minimal: true})
		check(t, a, b, shortest)
		if added, deleted := Count(shortest); added+deleted != least {
			t.Errorf("seed %d: minimal has %d lines where %d do", seed, added+deleted, least)
		}
	}
}

// TestEffort compares contents that no bound on effort would finish.
func TestEffort(t *testing.T) {
	var d Differ
	r := rand.New(rand.NewSource(1))
	for _, letters := range []int{2, 4, 100, 30000} {
		var a, b []byte
		for range 40000 {
			a = fmt.Appendf(a, "%d\n", r.Intn(letters))
			b = fmt.Appendf(b, "%d\n", r.Intn(letters))
		}
		check(t, a, b, d.Lines(a, b, Options{}))
	}
}

func TestEnds(t *testing.T) {
	var d Differ
	texts := []string{"", "\n", "\n\n", "a", "a\n", "b", "ab", "ab\n", "a\nb", "a\nb\n", "b\na", "a\r\n", "a\r", "\x00\n", "a\na", "a\na\n", "aa\na"}
	for _, a := range texts {
		for _, b := range texts {
			edits := d.Lines([]byte(a), []byte(b), Options{})
			check(t, []byte(a), []byte(b), edits)
			if (a == b) != (len(edits) == 0) {
				t.Errorf("%q to %q: %+v", a, b, edits)
			}
		}
	}
}

func TestIgnoringSpace(t *testing.T) {
	all, change, blank := Options{IgnoreAllSpace: true}, Options{IgnoreSpaceChange: true}, Options{IgnoreBlankLines: true}
	for _, c := range []struct {
		opt  Options
		a, b string
		want string // added and deleted
	}{
		{all, "a b\nc\n", "ab\n\tc \n", "0 0"},
		{all, "a b\nc\n", "ab\nd\n", "1 1"},
		{all, "a", "a\n", "0 0"},
		{change, "a b\nc\n", "a  \tb\nc \n", "0 0"},
		{change, "a b\n", "ab\n", "1 1"},
		{change, "a\n", " a\n", "1 1"},
		{change, "x\n a\n", "x\n\ta\r\n", "0 0"},
		{blank, "a\nb\n", "a\n\n\nb\n", "0 0"},
		{blank, "a\nb\n", "a\n\nc\nb\n", "2 0"},
		{blank, "a\nb\n", "a\n\n", "1 1"},
		{all, "x\ny\nf {\n1\n}\nz\n", "x\nnew\ny\nif {\n  f {\n    1\n  }\n}\nz\n", "3 0"},
	} {
		var d Differ
		added, deleted := Count(d.Lines([]byte(c.a), []byte(c.b), c.opt))
		if got := fmt.Sprint(added, deleted); got != c.want {
			t.Errorf("%+v %q to %q: %s lines added and deleted, want %s", c.opt, c.a, c.b, got, c.want)
		}
	}
}

// Under options that ignore space the edits keep both sides in step, and what they leave out is equal up to space.
func TestIgnoringSpaceLaw(t *testing.T) {
	var d Differ
	spaces := []string{"", " ", "  ", "\t", " \t"}
	for seed := range int64(8000) {
		r := rand.New(rand.NewSource(seed))
		text := func() []byte {
			var out []byte
			for range r.Intn(12) {
				out = append(out, spaces[r.Intn(5)]+string('a'+rune(r.Intn(3)))+spaces[r.Intn(5)]+string('a'+rune(r.Intn(2)))+spaces[r.Intn(5)]+"\n"...)
			}
			return out
		}
		a, b := text(), text()
		opt := Options{IgnoreAllSpace: seed%2 == 0, IgnoreSpaceChange: seed%2 == 1}
		edits := append(d.Lines(a, b, opt), Edit{})
		la, lb := Split(a), Split(b)
		edits[len(edits)-1] = Edit{A0: la.Len(), A1: la.Len(), B0: lb.Len(), B1: lb.Len(), AOff0: len(a), AOff1: len(a), BOff0: len(b), BOff1: len(b)}
		i, j := 0, 0
		for _, e := range edits {
			if e.AOff0 != la.Off(e.A0) || e.AOff1 != la.Off(e.A1) || e.BOff0 != lb.Off(e.B0) || e.BOff1 != lb.Off(e.B1) {
				t.Fatalf("edit %+v has other offsets than its lines", e)
			}
			for ; i < e.A0; i, j = i+1, j+1 {
				x, y := la.Line(i), lb.Line(j)
				if !bytes.Equal(opt.appendComparable(nil, x), opt.appendComparable(nil, y)) {
					t.Fatalf("seed %d: %q and %q are told to be the same", seed, x, y)
				}
			}
			if j != e.B0 {
				t.Fatalf("seed %d: edits out of step: %+v", seed, edits)
			}
			i, j = e.A1, e.B1
		}
	}
}

func TestLines(t *testing.T) {
	var l Lines
	if l.Len() != 0 || l.Off(0) != 0 {
		t.Error("the zero Lines is not empty")
	}
	for _, text := range []string{"", "a", "a\n", "\n\nb", "a\r\nb\n"} {
		l.Reset([]byte(text))
		var want []string
		for _, s := range strings.SplitAfter(text, "\n") {
			if s != "" {
				want = append(want, s)
			}
		}
		if l.Len() != len(want) || l.Off(l.Len()) != len(text) {
			t.Fatalf("%q has %d lines", text, l.Len())
		}
		for i, s := range want {
			if string(l.Line(i)) != s {
				t.Errorf("line %d of %q is %q", i, text, l.Line(i))
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nc\nd"))
	f.Add([]byte("a\n\na\n\na"), []byte("\n\na\n"))
	f.Add([]byte("x\r\n"), []byte("x\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var d Differ
		check(t, a, b, d.Lines(a, b, Options{}))
		d.Lines(a, b, Options{IgnoreAllSpace: true, IgnoreBlankLines: true})
		d.Lines(a, b, Options{IgnoreSpaceChange: true})
	})
}

func TestAnchors(t *testing.T) {
	var f anchors
	for range 2 { // twice: nothing may stay behind
		f.reset(8)
		chain := f.find([]int32{0, 1, 2, 3, 7, 4, 5, 7}, []int32{4, 7, 1, 3, 5, 0, 6}, 0, 8, 0, 7)
		if got := fmt.Sprint(chain); got != "[{1 2} {3 3} {6 4}]" {
			t.Errorf("chain %s", got)
		}
		if chain := f.find([]int32{1, 1, 2}, []int32{1, 2, 2}, 0, 3, 0, 3); len(chain) != 0 {
			t.Errorf("repeated lines are anchors: %v", chain)
		}
	}
}

// An edit joins the next if it can be told as touching it, even where another place would read better.
func TestSlideJoins(t *testing.T) {
	var d Differ
	a, b := []byte("k\n  m\nq\n"), []byte("k\n  m\n  m\n      r\n")
	if edits := d.Lines(a, b, Options{}); len(edits) != 1 {
		t.Errorf("%+v", edits)
	}
	// And what both sides then begin with is no part of it.
	a, b = []byte("c\n}\nw\n"), []byte("c\n}\nn\nc\nv\n")
	s := slider{a: a, b: b, opt: &Options{}}
	edits := s.slide([]Edit{
		{A0: 0, A1: 0, B0: 0, B1: 3, AOff0: 0, AOff1: 0, BOff0: 0, BOff1: 6},
		{A0: 1, A1: 3, B0: 4, B1: 5, AOff0: 2, AOff1: 6, BOff0: 8, BOff1: 10},
	})
	check(t, a, b, edits)
	if added, deleted := Count(edits); added != 3 || deleted != 1 {
		t.Errorf("%+v", edits)
	}
}
