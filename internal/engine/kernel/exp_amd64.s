#include "textflag.h"
#include "exp_amd64.h"

// Exponentials and what is built on them; order: exp_ref.go, attend_page.go, vector.go.

DATA lanes<>+0(SB)/8, $0x0000000100000000
DATA lanes<>+8(SB)/8, $0x0000000300000002
DATA lanes<>+16(SB)/8, $0x0000000500000004
DATA lanes<>+24(SB)/8, $0x0000000700000006
GLOBL lanes<>(SB), RODATA|NOPTR, $32

// INFS sets y to eight -Inf.
#define INFS(y) \
	VPCMPEQD y, y, y \
	VPSLLD $23, y, y

// func maxOfAVX2(x *float32, n int) float32
TEXT ·maxOfAVX2(SB), NOSPLIT, $0-20
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	INFS(Y7)

loop:
	SUBQ $8, CX
	JB   done
	VMOVUPS (SI), Y0
	VMAXPS Y7, Y0, Y7
	ADDQ $32, SI
	JMP  loop

done:
	TOP
	VMOVSS X7, ret+16(FP)
	VZEROUPPER
	RET

// func expSumAVX2(x *float32, n int, shift float32, store bool) float32
TEXT ·expSumAVX2(SB), NOSPLIT, $0-28
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	VBROADCASTSS shift+16(FP), Y7
	MOVBLZX store+20(FP), AX
	VXORPS Y5, Y5, Y5

loop:
	SUBQ $8, CX
	JB   done
	VMOVUPS (SI), Y0
	VSUBPS Y7, Y0, Y0
	EXP
	VADDPS Y0, Y5, Y5
	TESTL AX, AX
	JZ   next
	VMOVUPS Y0, (SI)

next:
	ADDQ $32, SI
	JMP  loop

done:
	FOLD
	VMOVSS X5, ret+24(FP)
	VZEROUPPER
	RET

// func softChunkAVX2(s *float32, from, end int, scale float32) (top, sum float32)
//
// Lanes outside [from, end) take no part: -Inf in the maximum, 0 in the sum. Y12 holds
// end, Y10 holds from.
TEXT ·softChunkAVX2(SB), NOSPLIT, $0-40
	MOVQ s+0(FP), SI
	MOVQ from+8(FP), AX
	VMOVD AX, X10
	VPBROADCASTD X10, Y10
	MOVQ end+16(FP), AX
	VMOVD AX, X12
	VPBROADCASTD X12, Y12
	VBROADCASTSS scale+24(FP), Y11
	VMOVDQU lanes<>(SB), Y13
	MOVL $8, BX
	VMOVD BX, X14
	VPBROADCASTD X14, Y14
	INFS(Y15)
	VMOVAPS Y15, Y7
	VMOVDQA Y13, Y8
	MOVQ SI, DI
	MOVQ $8, CX

scaled:
	VMULPS (DI), Y11, Y0
	VMOVUPS Y0, (DI)
	VPCMPGTD Y8, Y12, Y9
	VPCMPGTD Y8, Y10, Y6
	VPANDN Y9, Y6, Y9
	VBLENDVPS Y9, Y0, Y15, Y0
	VMAXPS Y7, Y0, Y7
	VPADDD Y14, Y8, Y8
	ADDQ $32, DI
	DECQ CX
	JNZ  scaled
	TOP

	VXORPS Y5, Y5, Y5
	VMOVDQA Y13, Y8
	MOVQ $8, CX

terms:
	VMOVUPS (SI), Y0
	VSUBPS Y7, Y0, Y0
	EXP
	VPCMPGTD Y8, Y12, Y9
	VPCMPGTD Y8, Y10, Y6
	VPANDN Y9, Y6, Y9
	VANDPS Y9, Y0, Y0
	VMOVUPS Y0, (SI)
	VADDPS Y0, Y5, Y5
	VPADDD Y14, Y8, Y8
	ADDQ $32, SI
	DECQ CX
	JNZ  terms
	FOLD
	VMOVSS X7, top+32(FP)
	VMOVSS X5, sum+36(FP)
	VZEROUPPER
	RET

// func swigluAVX2(dst, gate, up *float32, n int)
TEXT ·swigluAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ gate+8(FP), SI
	MOVQ up+16(FP), DX
	MOVQ n+24(FP), CX
	VPCMPEQD Y8, Y8, Y8
	VPSLLD $31, Y8, Y8

loop:
	VMOVUPS (SI), Y5
	VXORPS Y8, Y5, Y0
	EXP
	VADDPS expOne<>(SB), Y0, Y0
	VDIVPS Y0, Y5, Y0
	VMULPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  loop
	VZEROUPPER
	RET

// func foldAVX2(top, sum, pageTop, pageSum, keep, gain *float32, n int)
TEXT ·foldAVX2(SB), NOSPLIT, $0-56
	MOVQ top+0(FP), DI
	MOVQ sum+8(FP), SI
	MOVQ pageTop+16(FP), DX
	MOVQ pageSum+24(FP), BX
	MOVQ keep+32(FP), R8
	MOVQ gain+40(FP), R9
	MOVQ n+48(FP), CX
	XORQ AX, AX

loop:
	VMOVUPS (DI)(AX*4), Y5
	VMOVUPS (DX)(AX*4), Y6
	VMAXPS Y5, Y6, Y7
	VMOVUPS Y7, (DI)(AX*4)
	VSUBPS Y7, Y5, Y0
	EXP
	VMOVUPS Y0, (R8)(AX*4)
	VMOVAPS Y0, Y8
	VSUBPS Y7, Y6, Y0
	EXP
	VMOVUPS Y0, (R9)(AX*4)
	VMULPS (BX)(AX*4), Y0, Y0
	VFMADD231PS (SI)(AX*4), Y8, Y0
	VMOVUPS Y0, (SI)(AX*4)
	ADDQ $8, AX
	CMPQ AX, CX
	JB   loop
	VZEROUPPER
	RET
