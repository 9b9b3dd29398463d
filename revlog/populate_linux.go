package revlog

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// populate asks the kernel to map all of b now. That it does not know the request, before Linux 5.14, does no harm.
func populate(b []byte) {
	if len(b) < 16*os.Getpagesize() || uintptr(unsafe.Pointer(&b[0]))%uintptr(os.Getpagesize()) != 0 {
		return
	}
	_ = unix.Madvise(b, unix.MADV_POPULATE_READ)
}
