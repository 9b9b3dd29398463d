package bucket

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxy-vcs/oxy/internal/sync"
)

var (
	full    = flag.Bool("full", false, "simulate the large team, for many minutes")
	changes = flag.Int("changes", 10_000_000, "changes before the day, with -full")
	people  = flag.Int("people", 10_000, "people, each with a bookmark, with -full")
	pushes  = flag.Int("pushes", 30_000, "pushes of the day, with -full")
	rates   = flag.String("rates", "0.5,1,2,3,4,6,8,12", "pushes a second after the day, with -full")
)

// TestTeam is a small team without -full: that the simulation still runs.
func TestTeam(t *testing.T) {
	n, p, day, more := 20_000, 50, 200, []float64{5}
	if *full {
		n, p, day, more = *changes, *people, *pushes, nil
		for s := range strings.SplitSeq(*rates, ",") {
			rate, err := strconv.ParseFloat(s, 64)
			check(t, err)
			more = append(more, rate)
		}
	}
	synctest.Test(t, func(t *testing.T) { simulate(t, n, p, day, more) })
}

func simulate(t *testing.T, n, people, pushes int, rates []float64) {
	h := newHistory(t)
	week := min(n/2, 700_000)
	h.grow(n-week, false)
	behind := map[string][32]byte{"a week": h.main}
	h.grow(week*6/7, true)
	behind["a day"] = h.main
	h.grow(week-week*6/7, true)
	h.finish(people)
	team := newTeam(h)
	team.report(t, "grown")

	for range 3 {
		for _, long := range []string{"a day", "a week"} {
			check(t, team.pull("pull of main, "+long+" behind", behind[long]))
		}
		check(t, team.pull("pull, up to date", h.main))
	}
	team.report(t, "pulls")
	tables(t, team)
	team.report(t, "clone, all but the packs")

	team.work(people, float64(pushes)/86400, 24*time.Hour)
	team.report(t, "a day")
	time.Sleep(48 * time.Hour)
	for _, rate := range rates {
		const long = 5 * time.Minute
		begin := time.Now()
		team.work(people, rate, min(long, time.Duration(float64(pushes)/rate*float64(time.Second))))
		done, swaps := team.report(t, fmt.Sprintf("%g pushes a second", rate))
		t.Logf("%.1f pushes a second went through", float64(done)/time.Since(begin).Seconds())
		if swaps > 8 {
			break // it no longer keeps up
		}
		time.Sleep(time.Hour)
	}
}

// tables reads what a clone reads before the packs.
func tables(t *testing.T, team *team) {
	ctx, w, begin := context.Background(), team.way(), time.Now()
	p := dial(ctx, w)
	defer p.Close()
	refs, err := list(ctx, p)
	check(t, err)
	_, _ = fetch(ctx, p, []sync.Ref{find(refs, "main")}) // it fails where the simulation kept nothing
	team.note("clone", w, time.Since(begin), nil)
}
