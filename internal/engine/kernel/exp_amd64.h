// EXP replaces Y0 by exp of its lanes, as exp32 does; it uses Y1 to Y4. The constants
// are below, 32 bytes each.
#define EXP \
	VCMPPS $1, expLow<>(SB), Y0, Y4 \
	VMOVUPS expHigh<>(SB), Y1 \
	VMINPS Y0, Y1, Y0 \
	VMULPS expLog2e<>(SB), Y0, Y1 \
	VROUNDPS $0, Y1, Y1 \
	VFMADD231PS expLn2hi<>(SB), Y1, Y0 \
	VFMADD231PS expLn2lo<>(SB), Y1, Y0 \
	VMOVUPS expPoly0<>(SB), Y2 \
	VFMADD213PS expPoly1<>(SB), Y0, Y2 \
	VFMADD213PS expPoly2<>(SB), Y0, Y2 \
	VFMADD213PS expPoly3<>(SB), Y0, Y2 \
	VFMADD213PS expPoly4<>(SB), Y0, Y2 \
	VFMADD213PS expPoly5<>(SB), Y0, Y2 \
	VMULPS Y0, Y0, Y3 \
	VFMADD213PS Y0, Y3, Y2 \
	VADDPS expOne<>(SB), Y2, Y2 \
	VCVTPS2DQ Y1, Y1 \
	VPSLLD $23, Y1, Y1 \
	VPADDD Y1, Y2, Y2 \
	VANDNPS Y2, Y4, Y0

// FOLD sums the lanes of Y5 into X5: halves, quarters, pair. It uses X6.
#define FOLD \
	VEXTRACTF128 $1, Y5, X6 \
	VADDPS X6, X5, X5 \
	VMOVHLPS X5, X5, X6 \
	VADDPS X6, X5, X5 \
	VMOVSHDUP X5, X6 \
	VADDSS X6, X5, X5

// TOP leaves the largest lane of Y7 in every lane, a zero as +0. It uses Y6.
#define TOP \
	VPERM2F128 $1, Y7, Y7, Y6 \
	VMAXPS Y6, Y7, Y7 \
	VPERMILPS $0x4e, Y7, Y6 \
	VMAXPS Y6, Y7, Y7 \
	VPERMILPS $0xb1, Y7, Y6 \
	VMAXPS Y6, Y7, Y7 \
	VXORPS Y6, Y6, Y6 \
	VADDPS Y6, Y7, Y7

// -80
DATA expLow<>+0(SB)/8, $0xc2a00000c2a00000
DATA expLow<>+8(SB)/8, $0xc2a00000c2a00000
DATA expLow<>+16(SB)/8, $0xc2a00000c2a00000
DATA expLow<>+24(SB)/8, $0xc2a00000c2a00000
GLOBL expLow<>(SB), RODATA|NOPTR, $32

// 88
DATA expHigh<>+0(SB)/8, $0x42b0000042b00000
DATA expHigh<>+8(SB)/8, $0x42b0000042b00000
DATA expHigh<>+16(SB)/8, $0x42b0000042b00000
DATA expHigh<>+24(SB)/8, $0x42b0000042b00000
GLOBL expHigh<>(SB), RODATA|NOPTR, $32

// 1.44269504
DATA expLog2e<>+0(SB)/8, $0x3fb8aa3b3fb8aa3b
DATA expLog2e<>+8(SB)/8, $0x3fb8aa3b3fb8aa3b
DATA expLog2e<>+16(SB)/8, $0x3fb8aa3b3fb8aa3b
DATA expLog2e<>+24(SB)/8, $0x3fb8aa3b3fb8aa3b
GLOBL expLog2e<>(SB), RODATA|NOPTR, $32

// -0.693359375
DATA expLn2hi<>+0(SB)/8, $0xbf318000bf318000
DATA expLn2hi<>+8(SB)/8, $0xbf318000bf318000
DATA expLn2hi<>+16(SB)/8, $0xbf318000bf318000
DATA expLn2hi<>+24(SB)/8, $0xbf318000bf318000
GLOBL expLn2hi<>(SB), RODATA|NOPTR, $32

// 0.00021219444
DATA expLn2lo<>+0(SB)/8, $0x395e8083395e8083
DATA expLn2lo<>+8(SB)/8, $0x395e8083395e8083
DATA expLn2lo<>+16(SB)/8, $0x395e8083395e8083
DATA expLn2lo<>+24(SB)/8, $0x395e8083395e8083
GLOBL expLn2lo<>(SB), RODATA|NOPTR, $32

// 0.000198756915
DATA expPoly0<>+0(SB)/8, $0x3950696739506967
DATA expPoly0<>+8(SB)/8, $0x3950696739506967
DATA expPoly0<>+16(SB)/8, $0x3950696739506967
DATA expPoly0<>+24(SB)/8, $0x3950696739506967
GLOBL expPoly0<>(SB), RODATA|NOPTR, $32

// 0.0013981999507
DATA expPoly1<>+0(SB)/8, $0x3ab743ce3ab743ce
DATA expPoly1<>+8(SB)/8, $0x3ab743ce3ab743ce
DATA expPoly1<>+16(SB)/8, $0x3ab743ce3ab743ce
DATA expPoly1<>+24(SB)/8, $0x3ab743ce3ab743ce
GLOBL expPoly1<>(SB), RODATA|NOPTR, $32

// 0.0083334519073
DATA expPoly2<>+0(SB)/8, $0x3c0889083c088908
DATA expPoly2<>+8(SB)/8, $0x3c0889083c088908
DATA expPoly2<>+16(SB)/8, $0x3c0889083c088908
DATA expPoly2<>+24(SB)/8, $0x3c0889083c088908
GLOBL expPoly2<>(SB), RODATA|NOPTR, $32

// 0.041665795894
DATA expPoly3<>+0(SB)/8, $0x3d2aa9c13d2aa9c1
DATA expPoly3<>+8(SB)/8, $0x3d2aa9c13d2aa9c1
DATA expPoly3<>+16(SB)/8, $0x3d2aa9c13d2aa9c1
DATA expPoly3<>+24(SB)/8, $0x3d2aa9c13d2aa9c1
GLOBL expPoly3<>(SB), RODATA|NOPTR, $32

// 0.16666665459
DATA expPoly4<>+0(SB)/8, $0x3e2aaaaa3e2aaaaa
DATA expPoly4<>+8(SB)/8, $0x3e2aaaaa3e2aaaaa
DATA expPoly4<>+16(SB)/8, $0x3e2aaaaa3e2aaaaa
DATA expPoly4<>+24(SB)/8, $0x3e2aaaaa3e2aaaaa
GLOBL expPoly4<>(SB), RODATA|NOPTR, $32

// 0.50000001201
DATA expPoly5<>+0(SB)/8, $0x3f0000003f000000
DATA expPoly5<>+8(SB)/8, $0x3f0000003f000000
DATA expPoly5<>+16(SB)/8, $0x3f0000003f000000
DATA expPoly5<>+24(SB)/8, $0x3f0000003f000000
GLOBL expPoly5<>(SB), RODATA|NOPTR, $32

// 1.0
DATA expOne<>+0(SB)/8, $0x3f8000003f800000
DATA expOne<>+8(SB)/8, $0x3f8000003f800000
DATA expOne<>+16(SB)/8, $0x3f8000003f800000
DATA expOne<>+24(SB)/8, $0x3f8000003f800000
GLOBL expOne<>(SB), RODATA|NOPTR, $32
