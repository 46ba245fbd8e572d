#include "textflag.h"

// Arrays turned: a transpose, and dequantised rows out of tiles whose lanes are rows.

// func transposeAVX2(dst *float32, ldd int, src *float32, lds, columns int)
//
// Eight rows of src, a multiple of eight columns, become eight columns of dst.
TEXT ·transposeAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ ldd+8(FP), R8
	SHLQ $2, R8
	MOVQ src+16(FP), SI
	MOVQ lds+24(FP), R9
	SHLQ $2, R9
	MOVQ columns+32(FP), CX
	LEAQ (R8)(R8*2), R10
	LEAQ (R9)(R9*2), R11

block:
	LEAQ (SI)(R9*4), AX
	VMOVUPS (SI), Y0
	VMOVUPS (SI)(R9*1), Y1
	VMOVUPS (SI)(R9*2), Y2
	VMOVUPS (SI)(R11*1), Y3
	VMOVUPS (AX), Y4
	VMOVUPS (AX)(R9*1), Y5
	VMOVUPS (AX)(R9*2), Y6
	VMOVUPS (AX)(R11*1), Y7
	VUNPCKLPS Y1, Y0, Y8
	VUNPCKHPS Y1, Y0, Y9
	VUNPCKLPS Y3, Y2, Y10
	VUNPCKHPS Y3, Y2, Y11
	VUNPCKLPS Y5, Y4, Y12
	VUNPCKHPS Y5, Y4, Y13
	VUNPCKLPS Y7, Y6, Y14
	VUNPCKHPS Y7, Y6, Y15
	VSHUFPS $0x44, Y10, Y8, Y0
	VSHUFPS $0xee, Y10, Y8, Y1
	VSHUFPS $0x44, Y11, Y9, Y2
	VSHUFPS $0xee, Y11, Y9, Y3
	VSHUFPS $0x44, Y14, Y12, Y4
	VSHUFPS $0xee, Y14, Y12, Y5
	VSHUFPS $0x44, Y15, Y13, Y6
	VSHUFPS $0xee, Y15, Y13, Y7
	VPERM2F128 $0x20, Y4, Y0, Y8
	VPERM2F128 $0x20, Y5, Y1, Y9
	VPERM2F128 $0x20, Y6, Y2, Y10
	VPERM2F128 $0x20, Y7, Y3, Y11
	VPERM2F128 $0x31, Y4, Y0, Y12
	VPERM2F128 $0x31, Y5, Y1, Y13
	VPERM2F128 $0x31, Y6, Y2, Y14
	VPERM2F128 $0x31, Y7, Y3, Y15
	LEAQ (DI)(R8*4), AX
	VMOVUPS Y8, (DI)
	VMOVUPS Y9, (DI)(R8*1)
	VMOVUPS Y10, (DI)(R8*2)
	VMOVUPS Y11, (DI)(R10*1)
	VMOVUPS Y12, (AX)
	VMOVUPS Y13, (AX)(R8*1)
	VMOVUPS Y14, (AX)(R8*2)
	VMOVUPS Y15, (AX)(R10*1)
	LEAQ (DI)(R8*8), DI
	ADDQ $32, SI
	SUBQ $8, CX
	JA   block
	VZEROUPPER
	RET

// VALUES writes 8 values of row r, of the bytes in x, at p: d*(q-centre) + m, d at DX+o.
#define VALUES(x, o, r, p) \
	VPMOVSXBD x, Y0 \
	VCVTDQ2PS Y0, Y0 \
	VSUBPS Y15, Y0, Y0 \
	VBROADCASTSS (128+4*r)(DX), Y1 \
	VBROADCASTSS (o+4*r)(DX), Y2 \
	VFMADD213PS Y1, Y2, Y0 \
	VMOVUPS Y0, p

// ROW writes 16 values of row r, whose bytes are in x.
#define ROW(x, o, r) \
	VALUES(x, o, r, (64*r)(DI)) \
	VPSRLDQ $8, x, x \
	VALUES(x, o, r, (64*r+32)(DI))

// HALF turns the cells of four rows at CX+c, 16 values each, with the factors at o.
#define HALF(c, o) \
	VMOVDQU (c)(CX), X8 \
	VMOVDQU (c+64)(CX), X9 \
	VMOVDQU (c+128)(CX), X10 \
	VMOVDQU (c+192)(CX), X11 \
	VPUNPCKLDQ X9, X8, X4 \
	VPUNPCKHDQ X9, X8, X5 \
	VPUNPCKLDQ X11, X10, X6 \
	VPUNPCKHDQ X11, X10, X7 \
	VPUNPCKLQDQ X6, X4, X8 \
	VPUNPCKHQDQ X6, X4, X9 \
	VPUNPCKLQDQ X7, X5, X10 \
	VPUNPCKHQDQ X7, X5, X11 \
	ROW(X8, o, 0) \
	ROW(X9, o, 1) \
	ROW(X10, o, 2) \
	ROW(X11, o, 3)

// func rowsAVX2(dst *float32, step int, cells *byte, f *rowFactors)
TEXT ·rowsAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ step+8(FP), R8
	SHLQ $2, R8
	MOVQ cells+16(FP), CX
	MOVQ f+24(FP), DX
	VBROADCASTSS 192(DX), Y15
	MOVQ $4, BX

four:
	HALF(0, 0)
	ADDQ R8, DI
	HALF(256, 64)
	SUBQ R8, DI
	ADDQ $256, DI
	ADDQ $16, CX
	ADDQ $16, DX
	DECQ BX
	JNZ  four
	VZEROUPPER
	RET
