package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oxy-vcs/oxy/bench/internal/measure"
)

// What is asked beyond the seed's thresholds, at 10 000 files and 5 000 changes.
const (
	wholeLimit  = 3 * time.Minute // the whole run
	beyondLimit = 15 * ms         // a one-file commit, beyond one sync of the disk
	statusLimit = 20 * ms         // a clean status
)

// demands prints what is asked beyond the seed's thresholds, and the size of the store beside Git's.
func (b *bench) demands() error {
	status, err := b.repeat(readRuns, "status")
	if err != nil {
		return err
	}
	t := measure.NewTable("Asked beyond the seed", "Measured", "Limit", "")
	t.Row("whole run", measure.Time(b.whole), measure.Time(wholeLimit), verdict(b.whole <= wholeLimit))
	mean, sync := measure.Mean(b.commits.Walls), measure.Mean(b.disk.Costs())
	t.Row(fmt.Sprintf("commit: one file, mean %s less the disk's sync, mean %s", measure.Time(mean), measure.Time(sync)),
		measure.Time(mean-sync), measure.Time(beyondLimit), verdict(mean-sync <= beyondLimit))
	mid, midSync := measure.Median(b.commits.Walls), measure.Median(b.disk.Costs())
	t.Row(fmt.Sprintf("the same in medians: %s less %s", measure.Time(mid), measure.Time(midSync)),
		measure.Time(mid-midSync), measure.Time(beyondLimit), verdict(mid-midSync <= beyondLimit))
	t.Row("status: clean", measure.Time(status.Median()), measure.Time(statusLimit), verdict(status.Median() <= statusLimit))
	t.Print(os.Stdout)

	b.say("the same history in Git")
	size, err := gitStore(b.git, filepath.Join(b.dir, "git"), b.history)
	if err != nil {
		return err
	}
	s := measure.NewTable("Store of the same history", "Size", "")
	s.Row("oxy, as the commits left it", measure.Bytes(b.store), verdict(b.store < size.whole))
	if b.has("gc") { // the seed's table has run it by now
		packed, err := storeSize(b.repo)
		if err != nil {
			return err
		}
		s.Row("oxy, after gc", measure.Bytes(packed), verdict(packed < size.whole))
	}
	s.Row("git: .git after gc", measure.Bytes(size.whole), "")
	s.Row("git: .git/objects after gc", measure.Bytes(size.objects), "")
	s.Print(os.Stdout)
	return nil
}
