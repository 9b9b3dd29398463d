package revlog

import "golang.org/x/sys/cpu"

// canHashTwo says that this processor has what hashTwo needs. Package cpu does not know of SHA.
var canHashTwo = cpu.X86.HasSSE41 && cpu.X86.HasSSSE3 && hasSHA()

// hasSHA asks the processor for its SHA instructions.
func hasSHA() bool

// hashTwo hashes n blocks of SHA-1 (64 bytes each, at least one) at p and at q into a and b.
//
//go:noescape
func hashTwo(a, b *[5]uint32, p, q *byte, n int)
