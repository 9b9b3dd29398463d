package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
