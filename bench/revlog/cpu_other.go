//go:build !linux

package main

import "time"

var started = time.Now()

// cpuTime is the time that went by, where the processor's is not to be had.
func cpuTime() time.Duration { return time.Since(started) }
