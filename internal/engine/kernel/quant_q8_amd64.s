#include "textflag.h"
#include "go_asm.h"
#include "quant_amd64.h"

// Q8_0: both sides are signed, so the weight's sign moves to the activation:
// |w| * sign(x, w). A pair sum reaches 2*128*127 and fits a word; more would not,
// so each is widened at once.

// CELL multiplies weights w (|w| in v) with the activations at x offset o into i.
#define CELL(o, w, v, i) \
	VPBROADCASTD (o)(CX), Y12 \
	VPSIGNB w, Y12, Y13 \
	VPMADDUBSW Y13, v, Y13 \
	VPMADDWD Y14, Y13, Y13 \
	VPADDD Y13, i, i

// BOTH is CELL for rows 0-7 (Y8, |Y9|) and 8-15 (Y10, |Y11|) sharing a broadcast.
#define BOTH(o, i, k) \
	VPBROADCASTD (o)(CX), Y12 \
	VPSIGNB Y8, Y12, Y13 \
	VPSIGNB Y10, Y12, Y15 \
	VPMADDUBSW Y13, Y9, Y13 \
	VPMADDUBSW Y15, Y11, Y15 \
	VPMADDWD Y14, Y13, Y13 \
	VPMADDWD Y14, Y15, Y15 \
	VPADDD Y13, i, i \
	VPADDD Y15, k, k

#define LOAD16(g) \
	VMOVDQU (64*g)(DX), Y8 \
	VMOVDQU (64*g+32)(DX), Y10 \
	VPABSB Y8, Y9 \
	VPABSB Y10, Y11

#define LOAD8(g) \
	VMOVDQU (64*g)(BX), Y8 \
	VPABSB Y8, Y9

#define ONE(g) LOAD16(g); BOTH(4*g, Y0, Y1)
#define TWO(g) LOAD16(g); BOTH(4*g, Y0, Y1); BOTH(4*g+32, Y2, Y3)

#define FOUR(g) \
	LOAD8(g) \
	CELL(4*g, Y8, Y9, Y0) \
	CELL(4*g+32, Y8, Y9, Y1) \
	CELL(4*g+64, Y8, Y9, Y2) \
	CELL(4*g+96, Y8, Y9, Y3)

#define EIGHT(cell) cell(0); cell(1); cell(2); cell(3); cell(4); cell(5); cell(6); cell(7)

#define CLEAR2 \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y1, Y1, Y1

#define CLEAR4 \
	CLEAR2 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y3, Y3, Y3

#define SUMS1 CLEAR2; EIGHT(ONE)
#define SUMS2 CLEAR4; EIGHT(TWO)

#define SCALES \
	VCVTPH2PS 512(DX), Y8 \
	VCVTPH2PS 528(DX), Y9

#define OFFSET(os, f, g)

// FETCH9 asks for nine lines, 4 KB ahead, from p on; see quant_amd64.h.
#define FETCH9(p) \
	PREFETCHT0 4096(p) \
	PREFETCHT0 4160(p) \
	PREFETCHT0 4224(p) \
	PREFETCHT0 4288(p) \
	PREFETCHT0 4352(p) \
	PREFETCHT0 4416(p) \
	PREFETCHT0 4480(p) \
	PREFETCHT0 4544(p) \
	PREFETCHT0 4608(p)

#define AHEAD FETCH9(DX)
#define GROUP 544
#define BLOCK NOTHING
#define REST NOTHING

// func q80x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q80x1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q80x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q80x2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

// FOLD8 adds integer sums i, scaled by row scales s and the column's d at od, to f.
#define FOLD8(od, s, i, f) \
	VCVTDQ2PS i, i \
	VBROADCASTSS (od)(CX), Y12 \
	VMULPS Y12, s, Y13 \
	VFMADD231PS i, Y13, f

// func q80x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
//
// Rows 0-7 of the tile, then rows 8-15: R13 steps over the two halves.
TEXT ·q80x4AVX2(SB), NOSPLIT, $0-48
	SETUP
	MASKS

panel:
	MOVQ CX, R12
	XORQ R13, R13

half:
	MOVQ R12, CX
	MOVQ R8, R10
	LEAQ (DX)(R13*2), BX
	LEAQ 512(DX)(R13*1), AX
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

block:
	CLEAR4
	FETCH9(BX)
	EIGHT(FOUR)
	VCVTPH2PS (AX), Y8
	FOLD8(128, Y8, Y0, Y4)
	FOLD8(132, Y8, Y1, Y5)
	FOLD8(136, Y8, Y2, Y6)
	FOLD8(140, Y8, Y3, Y7)
	ADDQ $544, BX
	ADDQ $544, AX
	ADDQ $(4*const_qColumn), CX
	DECQ R10
	JNZ  block

	LEAQ (DI)(R13*2), AX
	LEAQ (AX)(SI*2), BX
	VMOVUPS Y4, (AX)
	VMOVUPS Y5, (AX)(SI*1)
	VMOVUPS Y6, (BX)
	VMOVUPS Y7, (BX)(SI*1)
	ADDQ $16, R13
	CMPQ R13, $32
	JB   half
	LEAQ (DI)(SI*4), DI
	DECQ R9
	JNZ  panel
	VZEROUPPER
	RET
