#include "textflag.h"

// Products of a page's keys or values with a few columns: queries, or softened scores.
// The order is that of gemm_ref.go: even k in Y0-Y5, odd k in Y6-Y11.

#define MAC(a, b) \
	VFMADD231PS Y14, Y12, a \
	VFMADD231PS Y14, Y13, b

#define STEP3(o, a, b, c, d, e, f) \
	VBROADCASTSS (o)(AX), Y14 \
	MAC(a, b) \
	VBROADCASTSS (o)(AX)(R9*1), Y14 \
	MAC(c, d) \
	VBROADCASTSS (o)(AX)(R9*2), Y14 \
	MAC(e, f)

#define STEP1(o, a, b) \
	VBROADCASTSS (o)(AX), Y14 \
	MAC(a, b)

// ZERO12 clears the accumulators.
#define ZERO12 \
	VXORPS Y0, Y0, Y0 \
	VXORPS Y1, Y1, Y1 \
	VXORPS Y2, Y2, Y2 \
	VXORPS Y3, Y3, Y3 \
	VXORPS Y4, Y4, Y4 \
	VXORPS Y5, Y5, Y5 \
	VXORPS Y6, Y6, Y6 \
	VXORPS Y7, Y7, Y7 \
	VXORPS Y8, Y8, Y8 \
	VXORPS Y9, Y9, Y9 \
	VXORPS Y10, Y10, Y10 \
	VXORPS Y11, Y11, Y11

// func pageF16AVX2(dst *float32, ldd int, w *uint16, ldw, tiles int, x *float32, ldx, k, cols int, next *uint16)
//
// It asks for the lines at R14 on, which follow, R15 bytes apart; R15 is 0 from the
// second pass over a tile on.
TEXT ·pageF16AVX2(SB), NOSPLIT, $0-80
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), SI
	SHLQ $2, SI
	MOVQ w+16(FP), DX
	MOVQ ldw+24(FP), R8
	SHLQ $1, R8
	MOVQ tiles+32(FP), R10
	MOVQ ldx+48(FP), R9
	SHLQ $2, R9
	MOVQ next+72(FP), R14

tile:
	MOVQ x+40(FP), CX
	MOVQ cols+64(FP), R11
	MOVQ DI, R13
	MOVQ $64, R15

three:
	CMPQ R11, $3
	JB one
	MOVQ DX, BX
	MOVQ CX, AX
	ZERO12
	MOVQ k+56(FP), R12
	SUBQ $2, R12
	JB odd3

pair3:
	PREFETCHT0 (R14)
	ADDQ R15, R14
	VCVTPH2PS (BX), Y12
	VCVTPH2PS 16(BX), Y13
	STEP3(0, Y0, Y1, Y2, Y3, Y4, Y5)
	ADDQ R8, BX
	VCVTPH2PS (BX), Y12
	VCVTPH2PS 16(BX), Y13
	STEP3(4, Y6, Y7, Y8, Y9, Y10, Y11)
	ADDQ R8, BX
	ADDQ $8, AX
	SUBQ $2, R12
	JAE pair3

odd3:
	TESTQ $1, R12
	JZ sum3
	VCVTPH2PS (BX), Y12
	VCVTPH2PS 16(BX), Y13
	STEP3(0, Y0, Y1, Y2, Y3, Y4, Y5)

sum3:
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	VADDPS Y8, Y2, Y2
	VADDPS Y9, Y3, Y3
	VADDPS Y10, Y4, Y4
	VADDPS Y11, Y5, Y5
	VMOVUPS Y0, (R13)
	VMOVUPS Y1, 32(R13)
	ADDQ SI, R13
	VMOVUPS Y2, (R13)
	VMOVUPS Y3, 32(R13)
	ADDQ SI, R13
	VMOVUPS Y4, (R13)
	VMOVUPS Y5, 32(R13)
	ADDQ SI, R13
	LEAQ (R9)(R9*2), AX
	ADDQ AX, CX
	XORQ R15, R15
	SUBQ $3, R11
	JMP three

one:
	TESTQ R11, R11
	JZ next
	MOVQ DX, BX
	MOVQ CX, AX
	ZERO12
	MOVQ k+56(FP), R12
	SUBQ $2, R12
	JB odd1

pair1:
	PREFETCHT0 (R14)
	ADDQ R15, R14
	VCVTPH2PS (BX), Y12
	VCVTPH2PS 16(BX), Y13
	STEP1(0, Y0, Y1)
	ADDQ R8, BX
	VCVTPH2PS (BX), Y12
	VCVTPH2PS 16(BX), Y13
	STEP1(4, Y6, Y7)
	ADDQ R8, BX
	ADDQ $8, AX
	SUBQ $2, R12
	JAE pair1

odd1:
	TESTQ $1, R12
	JZ sum1
	VCVTPH2PS (BX), Y12
	VCVTPH2PS 16(BX), Y13
	STEP1(0, Y0, Y1)

sum1:
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	VMOVUPS Y0, (R13)
	VMOVUPS Y1, 32(R13)
	ADDQ SI, R13
	ADDQ R9, CX
	XORQ R15, R15
	DECQ R11
	JMP one

next:
	ADDQ $32, DX
	ADDQ $64, DI
	DECQ R10
	JNZ tile
	VZEROUPPER
	RET
