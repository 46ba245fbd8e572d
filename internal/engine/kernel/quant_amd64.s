#include "textflag.h"
#include "go_asm.h"

// Integer products. Rows lie in lanes: a 4-byte cell of weights per row meets the
// same 4 activations, broadcast. Layouts: pack.go and acts.go; order: quant_ref.go.

// SETUP loads the arguments: DI dst, SI row stride in bytes, DX weights, CX
// activations, R8 blocks, R9 count.
#define SETUP \
	MOVQ dst+0(FP), DI \
	MOVQ ldd+8(FP), SI \
	SHLQ $2, SI \
	MOVQ w+16(FP), DX \
	MOVQ x+24(FP), CX \
	MOVQ blocks+32(FP), R8 \
	MOVQ count+40(FP), R9

// MASKS sets Y15 to bytes of 15 and Y14 to words of 1.
#define MASKS \
	MOVL $0x0f0f0f0f, AX \
	VMOVD AX, X15 \
	VPBROADCASTD X15, Y15 \
	VPCMPEQW Y14, Y14, Y14 \
	VPSRLW $15, Y14, Y14

// FETCH asks for weights ahead of use: 4 KB is what the memory needs at the speed of
// these loops, and further than the hardware looks, which stops at page ends.
#define FETCH \
	PREFETCHT0 4096(DX) \
	PREFETCHT0 4160(DX) \
	PREFETCHT0 4224(DX) \
	PREFETCHT0 4288(DX) \
	PREFETCHT0 4352(DX)

// NIBBLES unpacks cell g of 16 rows: low nibbles in Y8, Y9, high ones in Y10, Y11.
#define NIBBLES(g) \
	VMOVDQU (64*g)(DX), Y8 \
	VMOVDQU (64*g+32)(DX), Y9 \
	VPSRLW $4, Y8, Y10 \
	VPSRLW $4, Y9, Y11 \
	VPAND Y15, Y8, Y8 \
	VPAND Y15, Y9, Y9 \
	VPAND Y15, Y10, Y10 \
	VPAND Y15, Y11, Y11

// FIRST starts the word sums a, b (rows 0-7, 8-15) of a column at x offset o.
#define FIRST(o, a, b) \
	VPBROADCASTD (o)(CX), Y12 \
	VPMADDUBSW Y12, Y8, a \
	VPMADDUBSW Y12, Y9, b \
	VPBROADCASTD (o+16)(CX), Y12 \
	VPMADDUBSW Y12, Y10, Y13 \
	VPADDW Y13, a, a \
	VPMADDUBSW Y12, Y11, Y13 \
	VPADDW Y13, b, b

#define NEXT(o, a, b) \
	VPBROADCASTD (o)(CX), Y12 \
	VPMADDUBSW Y12, Y8, Y13 \
	VPADDW Y13, a, a \
	VPMADDUBSW Y12, Y9, Y13 \
	VPADDW Y13, b, b \
	VPBROADCASTD (o+16)(CX), Y12 \
	VPMADDUBSW Y12, Y10, Y13 \
	VPADDW Y13, a, a \
	VPMADDUBSW Y12, Y11, Y13 \
	VPADDW Y13, b, b

// SCALES41 widens d of 16 rows to Y8, Y9 and m to Y10, Y11.
#define SCALES41 \
	VCVTPH2PS 256(DX), Y8 \
	VCVTPH2PS 272(DX), Y9 \
	VCVTPH2PS 288(DX), Y10 \
	VCVTPH2PS 304(DX), Y11

// FLUSH41 turns the word sums of a column into float results. od, os are the offsets
// of its d and s; f, g the accumulators (registers).
#define FLUSH41(od, os, a, b, f, g) \
	VPMADDWD Y14, a, a \
	VPMADDWD Y14, b, b \
	VCVTDQ2PS a, a \
	VCVTDQ2PS b, b \
	VBROADCASTSS (od)(CX), Y12 \
	VMULPS Y12, Y8, Y13 \
	VFMADD231PS a, Y13, f \
	VMULPS Y12, Y9, Y13 \
	VFMADD231PS b, Y13, g \
	VBROADCASTSS (os)(CX), Y12 \
	VFMADD231PS Y12, Y10, f \
	VFMADD231PS Y12, Y11, g

// SPILL41 is FLUSH41 with the accumulators in memory at R11+o.
#define SPILL41(od, os, a, b, o) \
	VPMADDWD Y14, a, a \
	VPMADDWD Y14, b, b \
	VCVTDQ2PS a, a \
	VCVTDQ2PS b, b \
	VBROADCASTSS (od)(CX), Y12 \
	VMULPS Y12, Y8, Y13 \
	VFMADD213PS (o)(R11), Y13, a \
	VMULPS Y12, Y9, Y13 \
	VFMADD213PS (o+32)(R11), Y13, b \
	VBROADCASTSS (os)(CX), Y12 \
	VFMADD231PS Y12, Y10, a \
	VFMADD231PS Y12, Y11, b \
	VMOVAPS a, (o)(R11) \
	VMOVAPS b, (o+32)(R11)

// func q41x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x1AVX2(SB), NOSPLIT, $0-48
	SETUP
	MASKS
	MOVQ CX, R12

tile:
	MOVQ R12, CX
	MOVQ R8, R10
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3

block:
	FETCH
	NIBBLES(0)
	FIRST(0, Y0, Y1)
	NIBBLES(1)
	NEXT(4, Y0, Y1)
	NIBBLES(2)
	NEXT(8, Y0, Y1)
	NIBBLES(3)
	NEXT(12, Y0, Y1)
	SCALES41
	FLUSH41(32, 36, Y0, Y1, Y2, Y3)
	ADDQ $320, DX
	ADDQ $const_qColumn, CX
	DECQ R10
	JNZ  block

	VMOVUPS Y2, (DI)
	VMOVUPS Y3, 32(DI)
	ADDQ $64, DI
	DECQ R9
	JNZ  tile
	VZEROUPPER
	RET

// func q41x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x2AVX2(SB), NOSPLIT, $0-48
	SETUP
	MASKS
	MOVQ CX, R12

tile:
	MOVQ R12, CX
	MOVQ R8, R10
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

block:
	FETCH
	NIBBLES(0)
	FIRST(0, Y0, Y1)
	FIRST(32, Y2, Y3)
	NIBBLES(1)
	NEXT(4, Y0, Y1)
	NEXT(36, Y2, Y3)
	NIBBLES(2)
	NEXT(8, Y0, Y1)
	NEXT(40, Y2, Y3)
	NIBBLES(3)
	NEXT(12, Y0, Y1)
	NEXT(44, Y2, Y3)
	SCALES41
	FLUSH41(64, 72, Y0, Y1, Y4, Y5)
	FLUSH41(68, 76, Y2, Y3, Y6, Y7)
	ADDQ $320, DX
	ADDQ $(2*const_qColumn), CX
	DECQ R10
	JNZ  block

	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	VMOVUPS Y6, (DI)(SI*1)
	VMOVUPS Y7, 32(DI)(SI*1)
	ADDQ $64, DI
	DECQ R9
	JNZ  tile
	VZEROUPPER
	RET

// LOADWIDE reads cell g of 16 rows, unpacked before.
#define LOADWIDE(g) \
	VMOVDQU (128*g)(DX), Y8 \
	VMOVDQU (128*g+32)(DX), Y9 \
	VMOVDQU (128*g+64)(DX), Y10 \
	VMOVDQU (128*g+96)(DX), Y11

#define SCALESWIDE \
	VMOVUPS 512(DX), Y8 \
	VMOVUPS 544(DX), Y9 \
	VMOVUPS 576(DX), Y10 \
	VMOVUPS 608(DX), Y11

// func q41x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x4AVX2(SB), NOSPLIT, $288-48
#define CELLS NIBBLES
#define SCALES SCALES41
#define TILE 320
#define AHEAD FETCH
#include "quant41_amd64.h"
#undef CELLS
#undef SCALES
#undef TILE
#undef AHEAD

// func q41x4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x4WideAVX2(SB), NOSPLIT, $288-48
#define CELLS LOADWIDE
#define SCALES SCALESWIDE
#define TILE 640
#define AHEAD
#include "quant41_amd64.h"
#undef CELLS
#undef SCALES
#undef TILE
#undef AHEAD

// WIDEN stores cell g of 16 rows unpacked.
#define WIDEN(g) \
	NIBBLES(g) \
	VMOVDQU Y8, (128*g)(DI) \
	VMOVDQU Y9, (128*g+32)(DI) \
	VMOVDQU Y10, (128*g+64)(DI) \
	VMOVDQU Y11, (128*g+96)(DI)

// func q41WidenAVX2(dst, w *byte, blocks int)
//
// It asks for the next tile as well, which will be wanted after all panels of this one.
TEXT ·q41WidenAVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), DX
	MOVQ blocks+16(FP), CX
	IMUL3Q $320, CX, BX
	ADDQ DX, BX
	MASKS

block:
	PREFETCHT0 (BX)
	PREFETCHT0 64(BX)
	PREFETCHT0 128(BX)
	PREFETCHT0 192(BX)
	PREFETCHT0 256(BX)
	ADDQ $320, BX
	WIDEN(0)
	WIDEN(1)
	WIDEN(2)
	WIDEN(3)
	SCALES41
	VMOVUPS Y8, 512(DI)
	VMOVUPS Y9, 544(DI)
	VMOVUPS Y10, 576(DI)
	VMOVUPS Y11, 608(DI)
	ADDQ $320, DX
	ADDQ $640, DI
	DECQ CX
	JNZ  block
	VZEROUPPER
	RET
