package measure

import (
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Disk measures what one sync costs: the floor under every commit, since a commit that is not on the disk is none.
type Disk struct {
	file  *os.File
	block []byte
	took  []time.Duration
}

// probeLen is about what a small commit appends: one page.
const probeLen = 4 << 10

// NewDisk prepares measuring in dir, which must be on the disk that the repositories are on.
func NewDisk(dir string) (*Disk, error) {
	f, err := os.Create(filepath.Join(dir, "sync-probe"))
	if err != nil {
		return nil, err
	}
	return &Disk{file: f, block: make([]byte, probeLen)}, nil
}

// Probe appends a page and syncs it. Spread over a run, probes see the same disk as the commits between them.
func (d *Disk) Probe() error {
	if _, err := d.file.Write(d.block); err != nil {
		return err
	}
	begin := time.Now()
	if err := syncData(d.file); err != nil {
		return err
	}
	d.took = append(d.took, time.Since(begin))
	return nil
}

// Costs are the probes so far.
func (d *Disk) Costs() []time.Duration { return d.took }

// Close ends measuring and removes the probe's file.
func (d *Disk) Close() error {
	if err := d.file.Close(); err != nil {
		return err
	}
	return os.Remove(d.file.Name())
}

// Settle lets the system write out what it still holds back, so that one run does not pay for the one before. Where
// there is no such command runs are a little less steady, no more.
func Settle() { _ = exec.Command("sync").Run() }
