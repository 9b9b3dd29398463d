//go:build darwin || (linux && !amd64 && !arm64 && !riscv64)

package vfs

import "golang.org/x/sys/unix"

func (d *osDir) Lstat(name string, st *Stat) error {
	var sys unix.Stat_t
	err := d.act("lstat", name, func() error { return unix.Fstatat(d.fd, name, &sys, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return err
	}
	fillStat(st, &sys)
	return nil
}
