package measure

import (
	"slices"
	"time"
)

// Median is the middle of the durations, of an even number the mean of the middle two; 0 of none.
func Median(ds []time.Duration) time.Duration {
	n := len(ds)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(ds))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Quartile is the first quartile: a quarter of the durations are shorter. Of a busy machine's times it tells more about
// the program and less about the neighbours than the median; 0 of none.
func Quartile(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(ds))[len(ds)/4]
}

// Mean is the arithmetic mean; 0 of none.
func Mean(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	var sum time.Duration
	for _, d := range ds {
		sum += d
	}
	return sum / time.Duration(len(ds))
}

// Series is one operation's runs.
type Series struct {
	Walls []time.Duration
	CPUs  []time.Duration
	Peak  int64 // the highest of all runs
}

// Add takes one more run.
func (s *Series) Add(run Sample) {
	s.Walls = append(s.Walls, run.Wall)
	s.CPUs = append(s.CPUs, run.CPU)
	s.Peak = max(s.Peak, run.Peak)
}

// Median is the median time of the runs.
func (s *Series) Median() time.Duration { return Median(s.Walls) }

// Alternate calls the functions n times each, in turns, and reverses the order from turn to turn, so that no side
// always runs on the caches that the other has warmed.
func Alternate(n int, sides ...func(turn int) error) error {
	for turn := range n {
		for i := range sides {
			side := sides[i]
			if turn%2 == 1 {
				side = sides[len(sides)-1-i]
			}
			if err := side(turn); err != nil {
				return err
			}
		}
	}
	return nil
}
