#include "textflag.h"

// Of 32 bytes of an entry: offset (6 bytes, and zeros), length of the chunk, of the text, base, link, parents.
DATA order<>+0(SB)/8, $0x8080000102030405
DATA order<>+8(SB)/8, $0x0c0d0e0f08090a0b
DATA order<>+16(SB)/8, $0x0405060700010203
DATA order<>+24(SB)/8, $0x0c0d0e0f08090a0b
GLOBL order<>(SB), RODATA|NOPTR, $32

// What makes of each number one that must not be negative: -1 is a length, base, link or parent that there is none of.
DATA ones<>+0(SB)/8, $0
DATA ones<>+8(SB)/8, $0x0000000100000000
DATA ones<>+16(SB)/8, $0x0000000100000001
DATA ones<>+24(SB)/8, $0x0000000100000001
GLOBL ones<>(SB), RODATA|NOPTR, $32

// The greatest that these may be in entry 0: base 0, no parents.
DATA most<>+0(SB)/8, $0x7fffffff7fffffff
DATA most<>+8(SB)/8, $0x7fffffff7fffffff
DATA most<>+16(SB)/8, $0x7fffffff00000001
DATA most<>+24(SB)/8, $0
GLOBL most<>(SB), RODATA|NOPTR, $32

// How much that grows from an entry to the next.
DATA step<>+0(SB)/8, $0
DATA step<>+8(SB)/8, $0
DATA step<>+16(SB)/8, $1
DATA step<>+24(SB)/8, $0x0000000100000001
GLOBL step<>(SB), RODATA|NOPTR, $32

// func decodeAVX2(dst *Entry, src *byte, n int, rev Rev) (unsound uint32)
TEXT ·decodeAVX2(SB), NOSPLIT, $0-36
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL rev+24(FP), AX
	VMOVDQU order<>(SB), Y0
	VMOVDQU ones<>(SB), Y1
	VMOVDQU step<>(SB), Y2
	VMOVD AX, X3
	VPBROADCASTD X3, Y3
	VPMULLD Y2, Y3, Y3
	VPADDD most<>(SB), Y3, Y3
	VPXOR Y4, Y4, Y4
loop:
	VMOVDQU (SI), Y5
	VMOVDQU 32(SI), Y6
	MOVWLZX 6(SI), AX
	ROLW $8, AX
	VPSHUFB Y0, Y5, Y5
	VMOVDQU Y5, (DI)
	VMOVDQU Y6, 34(DI) // the node, and 12 bytes that the next entry, or the room after the last, is for
	MOVW AX, 32(DI)
	VPADDD Y1, Y5, Y5
	VPOR Y5, Y4, Y4
	VPSUBD Y5, Y3, Y5
	VPOR Y5, Y4, Y4
	VPADDD Y2, Y3, Y3
	ADDQ $64, SI
	ADDQ $56, DI
	DECQ CX
	JNZ loop
	VMOVMSKPS Y4, AX
	ANDL $0xfc, AX // not the offset's halves
	MOVL AX, unsound+32(FP)
	VZEROUPPER
	RET
