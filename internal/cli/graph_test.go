package cli

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draw draws a history in which change n depends on deps[n], latest first, a line for each.
func draw(deps [][]int) string {
	var g graph
	var out strings.Builder
	page := newOutput(&out)
	w := &beside{to: page}
	for n, to := range slices.Backward(deps) {
		deps := make([]uint32, len(to))
		for i, d := range to {
			deps[i] = uint32(d)
		}
		w.margin, w.lines = g.next(uint32(n), deps), 0
		fmt.Fprintf(w, "%d\n", n)
		w.end()
	}
	page.Flush()
	return out.String()
}

func TestGraphs(t *testing.T) {
	tests := []struct {
		name string
		deps [][]int
		want string
	}{
		{"a line", [][]int{{}, {0}, {1}}, `
● 2
● 1
○ 0
`},
		{"nothing in common", [][]int{{}, {}, {}}, `
○ 2
○ 1
○ 0
`},
		{"two upon one", [][]int{{}, {0}, {0}}, `
● 2
│ ● 1
├─╯
○ 0
`},
		{"one upon two", [][]int{{}, {}, {0, 1}}, `
● 2
├─╮
│ ○ 1
○ 0
`},
		{"a diamond", [][]int{{}, {0}, {0}, {1, 2}}, `
● 3
├─╮
│ ● 2
● │ 1
├─╯
○ 0
`},
		{"across a lane", [][]int{{}, {}, {0}, {1}, {0}}, `
● 4
│ ● 3
│ │ ● 2
├─│─╯
│ ○ 1
○ 0
`},
		{"three at once", [][]int{{}, {}, {}, {0, 1, 2}, {0, 2}}, `
● 4
├─╮
│ │ ● 3
├─┼─┤
│ ○ │ 2
│   ○ 1
○ 0
`},
		{"a free column is used again", [][]int{{}, {0}, {0}, {0}}, `
● 3
│ ● 2
├─╯
│ ● 1
├─╯
○ 0
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := draw(test.deps); got != test.want[1:] {
				t.Errorf("drawn:\n%swanted:\n%s", got, test.want[1:])
			}
		})
	}
}

// follow reads a drawing back: which changes the lines from each lead down to.
func follow(t *testing.T, drawing string) map[string][]string {
	t.Helper()
	var rows [][]rune
	for line := range strings.Lines(drawing) {
		rows = append(rows, []rune(strings.TrimRight(line, "\n")))
	}
	at := func(y, x int) string {
		if y >= len(rows) || x < 0 || x >= len(rows[y]) {
			return " "
		}
		return string(rows[y][x])
	}
	label := func(y int) string {
		line := string(rows[y])
		return line[strings.LastIndexByte(line, ' ')+1:]
	}
	// down follows a lane, from a row on, to the change at its end.
	down := func(y, x int) string {
		for ; ; y++ {
			switch r := at(y, x); {
			case r == signChange || r == signRoot:
				return label(y)
			case r == "╯": // it joins another one
				for at(y, x-1) == signAcross {
					x -= 2
				}
			case !strings.Contains("│├┤┼", r):
				t.Fatalf("a lane breaks off at line %d, column %d, with %q:\n%s", y+1, x+1, r, drawing)
			}
		}
	}
	out := map[string][]string{}
	for y := range rows {
		x := 0
		for at(y, x) != signChange && at(y, x) != signRoot && x < len(rows[y]) {
			x += 2
		}
		if x >= len(rows[y]) {
			continue // a join, read with the change above it
		}
		var ends []string
		lo, hi := x, x
		for at(y+1, lo-1) == signAcross {
			lo -= 2
		}
		for at(y+1, hi+1) == signAcross {
			hi += 2
		}
		switch {
		case at(y, x) == signRoot:
		case lo == hi:
			ends = append(ends, down(y+1, x))
		default:
			for x := lo; x <= hi; x += 2 {
				if strings.Contains("├┤┼╮╭┬", at(y+1, x)) {
					ends = append(ends, down(y+2, x))
				}
			}
		}
		slices.Sort(ends)
		out[label(y)] = ends
	}
	return out
}

// Whoever follows the lines of a drawing finds just what each change depends on.
func TestGraphsReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		deps := make([][]int, 1+r.IntN(14))
		want := map[string][]string{}
		for n := range deps {
			for range min(n, r.IntN(4)) {
				if d := r.IntN(n); !slices.Contains(deps[n], d) {
					deps[n] = append(deps[n], d)
				}
			}
			var names []string
			for _, d := range deps[n] {
				names = append(names, fmt.Sprint(d))
			}
			slices.Sort(names)
			want[fmt.Sprint(n)] = names
		}
		drawing := draw(deps)
		if d := cmp.Diff(want, follow(t, drawing)); d != "" {
			t.Fatalf("of %v (-wanted +read):\n%s\n%s", deps, d, drawing)
		}
	}
}
