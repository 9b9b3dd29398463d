//go:build !amd64

package revlog

const canHashTwo = false

func hashTwo(*[5]uint32, *[5]uint32, *byte, *byte, int) {}
