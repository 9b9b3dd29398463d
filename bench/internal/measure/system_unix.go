//go:build unix

package measure

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the highest resident memory of an ended process.
func peak(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return maxrss(usage)
}

// ownPeak is the highest resident memory of this process.
func ownPeak() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return maxrss(&usage)
}

// maxrss is in KiB everywhere but on Darwin, where it is in bytes.
func maxrss(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
