#include "textflag.h"

// Small vector functions; order: vector.go, rope.go, page.go, attend_page.go.

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	PAUSE
	RET

// func fetchLines(p *byte, lines int)
TEXT ·fetchLines(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ lines+8(FP), CX

line:
	SUBQ $1, CX
	JB   done
	PREFETCHT0 (SI)
	ADDQ $64, SI
	JMP  line

done:
	RET

// func rmsNormAVX2(dst, x, w *float32, eps float32, n int)
TEXT ·rmsNormAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ w+16(FP), DX
	MOVQ n+32(FP), CX
	XORQ AX, AX
	VXORPS Y0, Y0, Y0

square:
	VMOVUPS (SI)(AX*4), Y1
	VFMADD231PS Y1, Y1, Y0
	ADDQ $8, AX
	CMPQ AX, CX
	JB   square

	VEXTRACTF128 $1, Y0, X1
	VADDPS X1, X0, X0
	VMOVHLPS X0, X0, X1
	VADDPS X1, X0, X0
	VMOVSHDUP X0, X1
	VADDSS X1, X0, X0
	VXORPS X2, X2, X2
	VCVTSI2SSQ CX, X2, X2
	VDIVSS X2, X0, X0
	VADDSS eps+24(FP), X0, X0
	VSQRTSS X0, X0, X0
	MOVL $0x3f800000, AX
	VMOVD AX, X1
	VDIVSS X0, X1, X0
	VBROADCASTSS X0, Y0
	XORQ AX, AX

scale:
	VMULPS (SI)(AX*4), Y0, Y1
	VMULPS (DX)(AX*4), Y1, Y1
	VMOVUPS Y1, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   scale
	VZEROUPPER
	RET

// func ropeAVX2(x, row *float32, dim, heads int)
//
// Lanes hold pairs u v; with the pair swapped, u*cos - v*sin and v*cos + u*sin are one
// alternating fused operation.
TEXT ·ropeAVX2(SB), NOSPLIT, $0-32
	MOVQ x+0(FP), DI
	MOVQ row+8(FP), SI
	MOVQ dim+16(FP), DX
	MOVQ heads+24(FP), CX
	LEAQ (SI)(DX*4), BX

head:
	XORQ AX, AX

pair:
	VMOVUPS (DI)(AX*4), Y0
	VPERMILPS $0xb1, Y0, Y1
	VMULPS (BX)(AX*4), Y1, Y1
	VMOVUPS (SI)(AX*4), Y2
	VFMADDSUB213PS Y1, Y2, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, DX
	JB   pair
	LEAQ (DI)(DX*4), DI
	DECQ CX
	JNZ  head
	VZEROUPPER
	RET

// func addAVX2(dst, x *float32, n int)
TEXT ·addAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ AX, AX

loop:
	VMOVUPS (DI)(AX*4), Y0
	VADDPS (SI)(AX*4), Y0, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	VZEROUPPER
	RET

// func halvesAVX2(dst *uint16, x *float32, n int)
TEXT ·halvesAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL $0x477fe000, AX
	VMOVD AX, X1
	VPBROADCASTD X1, Y1
	VPCMPEQD Y2, Y2, Y2
	VPSLLD $31, Y2, Y2
	VORPS Y1, Y2, Y2
	XORQ AX, AX

loop:
	VMOVUPS (SI)(AX*4), Y0
	VMINPS Y0, Y1, Y0
	VMAXPS Y0, Y2, Y0
	VCVTPS2PH $0, Y0, (DI)(AX*2)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	VZEROUPPER
	RET

// func floatsAVX2(dst *float32, x *uint16, n int)
TEXT ·floatsAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ AX, AX

loop:
	VCVTPH2PS (SI)(AX*2), Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	VZEROUPPER
	RET

// func mergeAVX2(acc, part *float32, keep, gain float32, n int)
TEXT ·mergeAVX2(SB), NOSPLIT, $0-32
	MOVQ acc+0(FP), DI
	MOVQ part+8(FP), SI
	VBROADCASTSS keep+16(FP), Y2
	VBROADCASTSS gain+20(FP), Y3
	MOVQ n+24(FP), CX
	XORQ AX, AX

loop:
	VMULPS (SI)(AX*4), Y3, Y1
	VMOVUPS (DI)(AX*4), Y0
	VFMADD213PS Y1, Y2, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	VZEROUPPER
	RET

// func scaleAVX2(x *float32, n int, f float32)
TEXT ·scaleAVX2(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VBROADCASTSS f+16(FP), Y1
	XORQ AX, AX

loop:
	VMULPS (DI)(AX*4), Y1, Y0
	VMOVUPS Y0, (DI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	VZEROUPPER
	RET
