#include "textflag.h"
#include "exp_amd64.h"

// Gradients of the small vector functions; order: back_ref.go, attend_back_page.go.

REPEAT4(geluLinear, 0x3fcc42293fcc4229) // 1.5957691
REPEAT4(geluCubic, 0x3d9222783d922278) // 0.07135481
REPEAT4(geluSlope, 0x3e5b33b53e5b33b5) // 0.21406443

// BACKARGS loads the arguments of both gates, Y8 is the sign bit.
#define BACKARGS \
	MOVQ dGate+0(FP), DI \
	MOVQ dUp+8(FP), SI \
	MOVQ dy+16(FP), DX \
	MOVQ gate+24(FP), BX \
	MOVQ up+32(FP), R8 \
	MOVQ n+40(FP), CX \
	XORQ AX, AX \
	VPCMPEQD Y8, Y8, Y8 \
	VPSLLD $31, Y8, Y8

// ACT makes s = 1/(1+exp) in Y7 and gate*s in Y6 of exp in Y0 and the gate in Y5, and 1-s
// in Y1.
#define ACT \
	VMOVUPS expOne<>(SB), Y1 \
	VADDPS Y1, Y0, Y0 \
	VDIVPS Y0, Y5, Y6 \
	VDIVPS Y0, Y1, Y7 \
	VSUBPS Y7, Y1, Y1

// SLOPES writes both gradients, the slope of the gate being in Y1.
#define SLOPES \
	VMOVUPS (DX)(AX*4), Y2 \
	VMULPS (R8)(AX*4), Y2, Y3 \
	VMULPS Y6, Y2, Y2 \
	VMULPS Y1, Y3, Y3 \
	VMOVUPS Y3, (DI)(AX*4) \
	VMOVUPS Y2, (SI)(AX*4) \
	ADDQ $8, AX \
	CMPQ AX, CX

// func swigluBackAVX2(dGate, dUp, dy, gate, up *float32, n int)
TEXT ·swigluBackAVX2(SB), NOSPLIT, $0-48
	BACKARGS

loop:
	VMOVUPS (BX)(AX*4), Y5
	VXORPS Y8, Y5, Y0
	EXP
	ACT
	VFMADD213PS Y7, Y6, Y1
	SLOPES
	JB   loop
	VZEROUPPER
	RET

// func gegluBackAVX2(dGate, dUp, dy, gate, up *float32, n int)
TEXT ·gegluBackAVX2(SB), NOSPLIT, $0-48
	BACKARGS
	VMOVUPS geluLinear<>(SB), Y10
	VMOVUPS geluCubic<>(SB), Y11
	VMOVUPS geluSlope<>(SB), Y12

loop:
	VMOVUPS (BX)(AX*4), Y5
	VMULPS Y5, Y5, Y9
	VMOVAPS Y9, Y0
	VFMADD213PS Y10, Y11, Y0
	VMULPS Y0, Y5, Y0
	VXORPS Y8, Y0, Y0
	EXP
	ACT
	VMULPS Y1, Y6, Y1
	VFMADD213PS Y10, Y12, Y9
	VFMADD213PS Y7, Y9, Y1
	SLOPES
	JB   loop
	VZEROUPPER
	RET

// func softBackAVX2(s, dp, top, inv, d *float32, scale float32, n int)
TEXT ·softBackAVX2(SB), NOSPLIT, $0-56
	MOVQ s+0(FP), DI
	MOVQ dp+8(FP), SI
	MOVQ top+16(FP), DX
	MOVQ inv+24(FP), BX
	MOVQ d+32(FP), R8
	VBROADCASTSS scale+40(FP), Y8
	MOVQ n+48(FP), CX
	XORQ AX, AX

loop:
	VMULPS (DI)(AX*4), Y8, Y0
	VSUBPS (DX)(AX*4), Y0, Y0
	EXP
	VMULPS (BX)(AX*4), Y0, Y0
	VMOVUPS (SI)(AX*4), Y1
	VSUBPS (R8)(AX*4), Y1, Y1
	VMULPS Y0, Y1, Y1
	VMULPS Y8, Y1, Y1
	VMOVUPS Y0, (DI)(AX*4)
	VMOVUPS Y1, (SI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	VZEROUPPER
	RET

// func dotAVX2(x, y *float32, n int) float32
TEXT ·dotAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ y+8(FP), DX
	MOVQ n+16(FP), CX
	XORQ AX, AX
	VXORPS Y5, Y5, Y5

loop:
	VMOVUPS (SI)(AX*4), Y0
	VFMADD231PS (DX)(AX*4), Y0, Y5
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	FOLD
	VMOVSS X5, ret+24(FP)
	VZEROUPPER
	RET

// func rmsNormBackAVX2(dst, dy, x, w *float32, eps float32, n int)
TEXT ·rmsNormBackAVX2(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ dy+8(FP), BX
	MOVQ x+16(FP), SI
	MOVQ w+24(FP), DX
	MOVQ n+40(FP), CX
	XORQ AX, AX
	VXORPS Y5, Y5, Y5
	VXORPS Y7, Y7, Y7

sums:
	VMOVUPS (SI)(AX*4), Y1
	VFMADD231PS Y1, Y1, Y5
	VMOVUPS (BX)(AX*4), Y2
	VMULPS (DX)(AX*4), Y2, Y2
	VFMADD231PS Y1, Y2, Y7
	ADDQ $8, AX
	CMPQ AX, CX
	JB   sums

	FOLD
	VMOVAPS X5, X8
	VMOVAPS Y7, Y5
	FOLD
	VXORPS X2, X2, X2
	VCVTSI2SSQ CX, X2, X2
	VDIVSS X2, X8, X8
	VDIVSS X2, X5, X5
	VADDSS eps+32(FP), X8, X8
	VSQRTSS X8, X8, X8
	MOVL $0x3f800000, AX
	VMOVD AX, X1
	VDIVSS X8, X1, X0
	VMULSS X0, X0, X1
	VMULSS X1, X0, X1
	VMULSS X1, X5, X1
	VPCMPEQD X2, X2, X2
	VPSLLD $31, X2, X2
	VXORPS X2, X1, X1
	VBROADCASTSS X0, Y0
	VBROADCASTSS X1, Y1
	XORQ AX, AX

write:
	VMOVUPS (BX)(AX*4), Y2
	VMULPS (DX)(AX*4), Y2, Y2
	VMULPS Y0, Y2, Y2
	VFMADD231PS (SI)(AX*4), Y1, Y2
	VMOVUPS Y2, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   write
	VZEROUPPER
	RET
