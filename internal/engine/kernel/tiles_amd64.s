#include "textflag.h"
#include "gemm_steps_amd64.h"

// Products of a run of half-precision tiles with a few columns: of a page's keys with
// queries, its values with softened scores, an adapter's halves with some rows. The order
// is that of gemm_ref.go.

#define LOAD \
	VCVTPH2PS (BX), Y12 \
	VCVTPH2PS 16(BX), Y13

// func tilesF16AVX2(dst *float32, ldd int, w *uint16, ldw, step, tiles int, x *float32, ldx, k, cols int, scale *float32, next *uint16)
//
// It asks for the lines at R14 on, which follow, R15 bytes apart; R15 is 0 from the
// second pass over a tile on.
TEXT ·tilesF16AVX2(SB), NOSPLIT, $0-96
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), SI
	SHLQ $2, SI
	MOVQ w+16(FP), DX
	MOVQ ldw+24(FP), R8
	SHLQ $1, R8
	MOVQ tiles+40(FP), R10
	MOVQ ldx+56(FP), R9
	SHLQ $2, R9
	MOVQ scale+80(FP), AX
	MOVQ next+88(FP), R14
	TESTQ AX, AX
	JZ tile
	VBROADCASTSS (AX), Y15

tile:
	MOVQ x+48(FP), CX
	MOVQ cols+72(FP), R11
	MOVQ DI, R13
	MOVQ $64, R15

three:
	CMPQ R11, $3
	JB one
	MOVQ DX, BX
	MOVQ CX, AX
	ZERO12
	MOVQ k+64(FP), R12
	SUBQ $2, R12
	JB odd3

pair3:
	PREFETCHT0 (R14)
	ADDQ R15, R14
	LOAD
	STEP3(0, Y0, Y1, Y2, Y3, Y4, Y5)
	ADDQ R8, BX
	LOAD
	STEP3(4, Y6, Y7, Y8, Y9, Y10, Y11)
	ADDQ R8, BX
	ADDQ $8, AX
	SUBQ $2, R12
	JAE pair3

odd3:
	TESTQ $1, R12
	JZ sum3
	LOAD
	STEP3(0, Y0, Y1, Y2, Y3, Y4, Y5)

sum3:
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	VADDPS Y8, Y2, Y2
	VADDPS Y9, Y3, Y3
	VADDPS Y10, Y4, Y4
	VADDPS Y11, Y5, Y5
	CMPQ scale+80(FP), $0
	JEQ store3
	VFMADD213PS (R13), Y15, Y0
	VFMADD213PS 32(R13), Y15, Y1
	VFMADD213PS (R13)(SI*1), Y15, Y2
	VFMADD213PS 32(R13)(SI*1), Y15, Y3
	VFMADD213PS (R13)(SI*2), Y15, Y4
	VFMADD213PS 32(R13)(SI*2), Y15, Y5

store3:
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
	JZ done
	MOVQ DX, BX
	MOVQ CX, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	MOVQ k+64(FP), R12
	SUBQ $2, R12
	JB odd1

pair1:
	PREFETCHT0 (R14)
	ADDQ R15, R14
	LOAD
	STEP1(0, Y0, Y1)
	ADDQ R8, BX
	LOAD
	STEP1(4, Y6, Y7)
	ADDQ R8, BX
	ADDQ $8, AX
	SUBQ $2, R12
	JAE pair1

odd1:
	TESTQ $1, R12
	JZ sum1
	LOAD
	STEP1(0, Y0, Y1)

sum1:
	VADDPS Y6, Y0, Y0
	VADDPS Y7, Y1, Y1
	CMPQ scale+80(FP), $0
	JEQ store1
	VFMADD213PS (R13), Y15, Y0
	VFMADD213PS 32(R13), Y15, Y1

store1:
	VMOVUPS Y0, (R13)
	VMOVUPS Y1, 32(R13)
	ADDQ SI, R13
	ADDQ R9, CX
	XORQ R15, R15
	DECQ R11
	JMP one

done:
	ADDQ step+32(FP), DX
	ADDQ $64, DI
	DECQ R10
	JNZ tile
	VZEROUPPER
	RET
