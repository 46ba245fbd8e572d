#include "textflag.h"
#include "go_asm.h"
#include "quant_amd64.h"

// Q4_0, Q4_1 and Q4_K.

#define SUMS1 \
	NIBBLES(0) \
	FIRST(0, Y0, Y1) \
	NIBBLES(1) \
	NEXT(4, Y0, Y1) \
	NIBBLES(2) \
	NEXT(8, Y0, Y1) \
	NIBBLES(3) \
	NEXT(12, Y0, Y1) \
	VPMADDWD Y14, Y0, Y0 \
	VPMADDWD Y14, Y1, Y1

#define SUMS2 \
	NIBBLES(0) \
	FIRST(0, Y0, Y1) \
	FIRST(32, Y2, Y3) \
	NIBBLES(1) \
	NEXT(4, Y0, Y1) \
	NEXT(36, Y2, Y3) \
	NIBBLES(2) \
	NEXT(8, Y0, Y1) \
	NEXT(40, Y2, Y3) \
	NIBBLES(3) \
	NEXT(12, Y0, Y1) \
	NEXT(44, Y2, Y3) \
	VPMADDWD Y14, Y0, Y0 \
	VPMADDWD Y14, Y1, Y1 \
	VPMADDWD Y14, Y2, Y2 \
	VPMADDWD Y14, Y3, Y3

#define CELLS NIBBLES
#define AHEAD FETCH
#define OFFSET ADDOFFSET

#define BLOCK NOTHING
#define REST NOTHING

// Q4_0: m = -8*d.

#define GROUP 288
#define SCALES SCALES0(256, 0xc1000000)

// func q40x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q40x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

// func q40x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x4AVX2(SB), NOSPLIT, $288-48
#include "quant_full_amd64.h"

#undef GROUP
#undef SCALES

// Q4_1.

#define GROUP 320
#define SCALES SCALES1(256)

// func q41x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q41x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

// func q41x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x4AVX2(SB), NOSPLIT, $288-48
#include "quant_full_amd64.h"

#undef GROUP
#undef SCALES
#undef BLOCK
#undef REST

// Q4_K.

#define TILE 2304
#define GROUP 256
#define BLOCK BLOCKK(2048)
#define REST RESTK(24, 256)
#define SCALES SCALESK(2240)

// func q4kx1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q4kx2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

// func q4kx4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx4AVX2(SB), NOSPLIT, $288-48
#include "quant_full_amd64.h"

#define WIDENCELL(g) \
	NIBBLES(g) \
	VMOVDQU Y8, (128*g)(DI) \
	VMOVDQU Y9, (128*g+32)(DI) \
	VMOVDQU Y10, (128*g+64)(DI) \
	VMOVDQU Y11, (128*g+96)(DI)

#define WIDEN \
	WIDENCELL(0) \
	WIDENCELL(1) \
	WIDENCELL(2) \
	WIDENCELL(3)

#define FACTORS \
	SCALES \
	VMOVUPS Y8, 512(DI) \
	VMOVUPS Y9, 544(DI) \
	VMOVUPS Y10, 576(DI) \
	VMOVUPS Y11, 608(DI)

#define WIDE 640

// func q4kWidenAVX2(dst, w *byte, blocks int)
TEXT ·q4kWidenAVX2(SB), NOSPLIT, $0-24
#include "quant_widen_amd64.h"

#undef GROUP
#undef BLOCK
#undef REST
#undef SCALES
#undef AHEAD
#undef CELLS

// Unpacked weights of Q4_K. Those of Q4_0 and Q4_1 are as fast packed.

#define CELLS(g) \
	VMOVDQU (128*g)(DX), Y8 \
	VMOVDQU (128*g+32)(DX), Y9 \
	VMOVDQU (128*g+64)(DX), Y10 \
	VMOVDQU (128*g+96)(DX), Y11

#define SCALES \
	VMOVUPS 512(DX), Y8 \
	VMOVUPS 544(DX), Y9 \
	VMOVUPS 576(DX), Y10 \
	VMOVUPS 608(DX), Y11

#define GROUP WIDE
#define BLOCK NOTHING
#define REST NOTHING
#define AHEAD NOTHING

// func q4kx4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx4WideAVX2(SB), NOSPLIT, $288-48
#include "quant_full_amd64.h"
