#include "repeat_amd64.h"

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

REPEAT4(expLow, 0xc2a00000c2a00000) // -80
REPEAT4(expHigh, 0x42b0000042b00000) // 88
REPEAT4(expLog2e, 0x3fb8aa3b3fb8aa3b) // 1.44269504
REPEAT4(expLn2hi, 0xbf318000bf318000) // -0.693359375
REPEAT4(expLn2lo, 0x395e8083395e8083) // 0.00021219444
REPEAT4(expPoly0, 0x3950696739506967) // 0.000198756915
REPEAT4(expPoly1, 0x3ab743ce3ab743ce) // 0.0013981999507
REPEAT4(expPoly2, 0x3c0889083c088908) // 0.0083334519073
REPEAT4(expPoly3, 0x3d2aa9c13d2aa9c1) // 0.041665795894
REPEAT4(expPoly4, 0x3e2aaaaa3e2aaaaa) // 0.16666665459
REPEAT4(expPoly5, 0x3f0000003f000000) // 0.50000001201
REPEAT4(expOne, 0x3f8000003f800000) // 1.0
