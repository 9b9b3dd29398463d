package vfs

import "golang.org/x/sys/unix"

// OpenPath opens a file for reading by a path beneath the directory, in one call. Kernels before 5.6, and sandboxes that
// do not know the call, refuse it.
func (d *osDir) OpenPath(path string) (File, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Openat2(d.fd, path, &how)
		return err
	})
	if err != nil {
		return nil, d.fail("open", path, err)
	}
	return &osFile{fd: fd, name: d.path(path)}, nil
}
