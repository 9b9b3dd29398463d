package vfs

import "golang.org/x/sys/unix"

// OpenPath opens a file for reading by a path beneath the directory, in one call. Kernels before 5.6, and sandboxes that
// do not know the call, refuse it.
func (d *osDir) OpenPath(path string) (File, error) {
	fd, err := d.openPath(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOFOLLOW)
	if err != nil {
		return nil, d.fail("open", path, err)
	}
	return &osFile{fd: fd, name: d.path(path)}, nil
}

// OpenDirPath is OpenPath for a directory.
func (d *osDir) OpenDirPath(path string) (Dir, error) {
	fd, err := d.openPath(path, openDirFlag|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, d.fail("open", path, err)
	}
	return &osDir{fd: fd, parent: d, name: path}, nil
}

func (d *osDir) openPath(path string, flags uint64) (fd int, err error) {
	how := unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	err = retry(func() (err error) {
		fd, err = unix.Openat2(d.fd, path, &how)
		return err
	})
	return fd, err
}
