package measure

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Table is a Markdown table. The first column is aligned left, the others right.
type Table struct {
	head []string
	rows [][]string
}

// NewTable starts a table with its heading.
func NewTable(head ...string) *Table { return &Table{head: head} }

// Row adds a row of as many cells as the heading has.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Print writes the table with an empty line after it, its columns padded so that it reads well as text too.
func (t *Table) Print(w io.Writer) {
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)), 3)
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 {
				fmt.Fprintf(w, "| %s%s ", cell, pad)
			} else {
				fmt.Fprintf(w, "| %s%s ", pad, cell)
			}
		}
		fmt.Fprintln(w, "|")
	}
	line(t.head)
	for i, width := range widths {
		if i == 0 {
			fmt.Fprintf(w, "|%s", strings.Repeat("-", width+2))
		} else {
			fmt.Fprintf(w, "|%s:", strings.Repeat("-", width+1))
		}
	}
	fmt.Fprintln(w, "|")
	for _, row := range t.rows {
		line(row)
	}
	fmt.Fprintln(w)
}

// Time prints a duration for a table: three digits or more of it count.
func Time(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case d < 0:
		return "-" + Time(-d)
	case d == 0:
		return ""
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case d < 10*time.Second:
		return group(int64(ms+0.5)) + " ms"
	case d < 10*time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}

// Bytes prints a size for a table, in millions of bytes.
func Bytes(n int64) string {
	if n < 10_000_000 {
		return fmt.Sprintf("%.2f MB", float64(n)/1e6)
	}
	return group((n+500_000)/1_000_000) + " MB"
}

// Memory prints a peak. A child starts on its parent's memory, and the system counts that, so a peak no higher than
// our own says only that it was not more.
func Memory(peak int64) string {
	switch own := ownPeak(); {
	case peak == 0:
		return ""
	case peak <= own+own/50:
		return "≤ " + Bytes(peak)
	}
	return Bytes(peak)
}

// group sets the thousands apart by spaces, as the seeds' tables do.
func group(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
