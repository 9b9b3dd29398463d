//go:build !amd64

package revlog

const canDecode = false

// decodeBlock is never called.
func decodeBlock([]Entry, []byte, Rev) bool { return false }
