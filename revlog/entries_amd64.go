package revlog

import "golang.org/x/sys/cpu"

// canDecode says that this processor has what decodeBlock needs.
var canDecode = cpu.X86.HasAVX2

// decodeBlock decodes the entries of b from revision rev on, of which there is one at least, and reports whether all are sound. What
// it knows of Entry is where its fields lie: in the order of the format, the node after the flags. dst has room for one more.
func decodeBlock(dst []Entry, b []byte, rev Rev) (sound bool) {
	n := len(b) / entrySizeV1
	_ = dst[n]
	unsound := decodeAVX2(&dst[0], &b[0], n, rev)
	if rev == 0 {
		dst[0].Offset &= 1<<16 - 1 // above is the file's header
	}
	return unsound == 0
}

// decodeAVX2 is decodeBlock, but for the first entry's offset.
//
//go:noescape
func decodeAVX2(dst *Entry, src *byte, n int, rev Rev) (unsound uint32)
