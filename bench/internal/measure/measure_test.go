package measure

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct{ of, want string }{
		{"", "0s"}, {"3s", "3s"}, {"9s 1s 2s", "2s"}, {"1s 8s 2s 3s", "2.5s"},
	} {
		var ds []time.Duration
		for _, f := range strings.Fields(c.of) {
			d, err := time.ParseDuration(f)
			if err != nil {
				t.Fatal(err)
			}
			ds = append(ds, d)
		}
		if got := Median(ds).String(); got != c.want {
			t.Errorf("median of %q: %s, want %s", c.of, got, c.want)
		}
	}
}

func TestAlternateReversesEachTurn(t *testing.T) {
	var order []string
	side := func(name string) func(int) error {
		return func(turn int) error {
			order = append(order, fmt.Sprint(name, turn))
			return nil
		}
	}
	if err := Alternate(3, side("a"), side("b")); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(order, " "), "a0 b0 b1 a1 a2 b2"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Time(3_420 * time.Microsecond), "3.42 ms"},
		{Time(-50 * time.Millisecond), "-50.0 ms"},
		{Time(3_761 * time.Millisecond), "3 761 ms"},
		{Time(60 * time.Second), "60.0 s"},
		{Time(5*time.Hour + 14*time.Minute), "5 h 14 min"},
		{Bytes(1_234_567), "1.23 MB"},
		{Bytes(1_405_000_000), "1 405 MB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestTablePads(t *testing.T) {
	var out strings.Builder
	table := NewTable("Op", "Time")
	table.Row("blame", "≤ 5")
	table.Print(&out)
	want := "| Op    | Time |\n|-------|-----:|\n| blame |  ≤ 5 |\n\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
