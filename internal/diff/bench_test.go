package diff

import (
	"fmt"
	"math/rand"
	"testing"
)

// source is lines lines of what looks like a program, 34 bytes a line.
func source(r *rand.Rand, lines int) []string {
	out := make([]string, 0, lines)
	for len(out) < lines {
		out = append(out, fmt.Sprintf("static int function_%d(struct device *dev, int flags)\n", r.Intn(1e6)), "{\n")
		for range 3 + r.Intn(20) {
			switch r.Intn(6) {
			case 0:
				out = append(out, "\n")
			case 1:
				out = append(out, "\tif (ret < 0) {\n", "\t\treturn ret;\n", "\t}\n")
			default:
				out = append(out, fmt.Sprintf("\tret = device_call_%d(dev, 0x%x);\n", r.Intn(300), r.Intn(1e4)))
			}
		}
		out = append(out, "\treturn 0;\n", "}\n", "\n")
	}
	return out[:lines]
}

func text(lines []string) (out []byte) {
	for _, l := range lines {
		out = append(out, l...)
	}
	return out
}

func bench(b *testing.B, x, y []byte) {
	var d Differ
	b.ReportAllocs()
	b.SetBytes(int64(len(x) + len(y)))
	for b.Loop() {
		d.Lines(x, y, Options{})
	}
}

// BenchmarkOnePercent is the figure that the design asks for: 20 000 lines, 200 of them edited.
func BenchmarkOnePercent(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	l := source(r, 20000)
	x := text(l)
	for range 200 {
		l[r.Intn(len(l))] = fmt.Sprintf("\tedited %d\n", r.Intn(1e6))
	}
	bench(b, x, text(l))
}

// BenchmarkOnePercentShifted edits by inserting, deleting and copying lines that stand elsewhere too.
func BenchmarkOnePercentShifted(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	l := source(r, 20000)
	x := text(l)
	for range 200 {
		at, from := r.Intn(len(l)-4), r.Intn(len(l)-4)
		switch r.Intn(3) {
		case 0:
			l = append(l[:at], l[at+1:]...)
		default:
			l = append(l[:at:at], append(append([]string{}, l[from:from+3]...), l[at:]...)...)
		}
	}
	bench(b, x, text(l))
}

func BenchmarkOneLine700KB(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	l := source(r, 20000)
	x := text(l)
	l[10000] = "edited\n"
	bench(b, x, text(l))
}

func BenchmarkUnrelated(b *testing.B) {
	bench(b, text(source(rand.New(rand.NewSource(1)), 20000)), text(source(rand.New(rand.NewSource(2)), 20000)))
}

func BenchmarkShuffled(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	l := source(r, 20000)
	x := text(l)
	r.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
	bench(b, x, text(l))
}

func BenchmarkFourLetters(b *testing.B) {
	r := rand.New(rand.NewSource(1))
	var x, y []byte
	for range 100000 {
		x = fmt.Appendf(x, "%d\n", r.Intn(4))
		y = fmt.Appendf(y, "%d\n", r.Intn(4))
	}
	bench(b, x, y)
}

func BenchmarkSplit(b *testing.B) {
	x := text(source(rand.New(rand.NewSource(1)), 20000))
	var l Lines
	b.SetBytes(int64(len(x)))
	for b.Loop() {
		l.Reset(x)
	}
}
