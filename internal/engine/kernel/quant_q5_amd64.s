#include "textflag.h"
#include "go_asm.h"
#include "quant_amd64.h"

// Q5_0, Q5_1 and Q5_K: fifth bits stand behind the nibbles, bit g for low cell g and bit
// 4+g for high cell g.

#define ADDFIFTHS \
	VPAND bytes10<>(SB), Y12, Y12 \
	VPAND bytes10<>(SB), Y13, Y13 \
	VPOR Y12, Y8, Y8 \
	VPOR Y13, Y9, Y9

#define LOW5(g) \
	LOW(g) \
	VMOVDQU 256(DX), Y12 \
	VMOVDQU 288(DX), Y13 \
	VPSLLD $(4-g), Y12, Y12 \
	VPSLLD $(4-g), Y13, Y13 \
	ADDFIFTHS

#define HIGH5(g) \
	HIGH(g) \
	VMOVDQU 256(DX), Y12 \
	VMOVDQU 288(DX), Y13 \
	VPSRLD $g, Y12, Y12 \
	VPSRLD $g, Y13, Y13 \
	ADDFIFTHS

#define WEIGH(h, c, a, b) \
	VPMADDWD Y14, a, a \
	VPMADDWD Y14, b, b

#define HALF1(cell, o) \
	cell(0) \
	FIRSTHALF(o, Y0, Y1) \
	cell(1) \
	NEXTHALF(o+4, Y8, Y9, Y0, Y1) \
	cell(2) \
	NEXTHALF(o+8, Y8, Y9, Y0, Y1) \
	cell(3) \
	NEXTHALF(o+12, Y8, Y9, Y0, Y1) \
	WEIGH(0, 0, Y0, Y1)

#define SUMS1 \
	HALF1(LOW5, 0) \
	VMOVDQA Y0, Y2 \
	VMOVDQA Y1, Y3 \
	HALF1(HIGH5, 16) \
	VPADDD Y2, Y0, Y0 \
	VPADDD Y3, Y1, Y1

#define HALF2(cell, o) \
	cell(0) \
	FIRSTHALF(o, Y0, Y1) \
	FIRSTHALF(o+32, Y2, Y3) \
	cell(1) \
	NEXTHALF(o+4, Y8, Y9, Y0, Y1) \
	NEXTHALF(o+36, Y8, Y9, Y2, Y3) \
	cell(2) \
	NEXTHALF(o+8, Y8, Y9, Y0, Y1) \
	NEXTHALF(o+40, Y8, Y9, Y2, Y3) \
	cell(3) \
	NEXTHALF(o+12, Y8, Y9, Y0, Y1) \
	NEXTHALF(o+44, Y8, Y9, Y2, Y3) \
	WEIGH(0, 0, Y0, Y1) \
	WEIGH(0, 1, Y2, Y3)

#define SUMS2 \
	HALF2(LOW5, 0) \
	VMOVDQA Y0, (R11) \
	VMOVDQA Y1, 32(R11) \
	VMOVDQA Y2, 64(R11) \
	VMOVDQA Y3, 96(R11) \
	HALF2(HIGH5, 16) \
	VPADDD (R11), Y0, Y0 \
	VPADDD 32(R11), Y1, Y1 \
	VPADDD 64(R11), Y2, Y2 \
	VPADDD 96(R11), Y3, Y3

#define WIDENCELL(g) \
	LOW5(g) \
	VMOVDQU Y8, (64*g)(DI) \
	VMOVDQU Y9, (64*g+32)(DI) \
	HIGH5(g) \
	VMOVDQU Y8, (256+64*g)(DI) \
	VMOVDQU Y9, (288+64*g)(DI)

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
#define AHEAD FETCH6
#define OFFSET ADDOFFSET

#define BLOCK NOTHING
#define REST NOTHING

// Q5_0: m = -16*d.

#define TILE 352
#define GROUP 352
#define SCALES SCALES0(320, 0xc1800000)

// func q50x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q50x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

// func q50WidenAVX2(dst, w *byte, blocks int)
TEXT ·q50WidenAVX2(SB), NOSPLIT, $0-24
#include "quant_widen_amd64.h"

#undef TILE
#undef GROUP
#undef SCALES

// Q5_1.

#define TILE 384
#define GROUP 384
#define SCALES SCALES1(320)

// func q51x1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q51x2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

// func q51WidenAVX2(dst, w *byte, blocks int)
TEXT ·q51WidenAVX2(SB), NOSPLIT, $0-24
#include "quant_widen_amd64.h"

#undef TILE
#undef GROUP
#undef SCALES
#undef BLOCK
#undef REST

// Q5_K.

#define TILE 2816
#define GROUP 320
#define BLOCK BLOCKK(2560)
#define REST RESTK(24, 256)
#define SCALES SCALESK(2752)

// func q5kx1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q5kx2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

// func q5kWidenAVX2(dst, w *byte, blocks int)
TEXT ·q5kWidenAVX2(SB), NOSPLIT, $0-24
#include "quant_widen_amd64.h"

#undef SCALES

// Unpacked weights of all three.

#define SCALES \
	VMOVUPS 512(DX), Y8 \
	VMOVUPS 544(DX), Y9 \
	VMOVUPS 576(DX), Y10 \
	VMOVUPS 608(DX), Y11

#define START NOTHING
#define WEIGHTS(h)

// func q5x4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5x4WideAVX2(SB), NOSPLIT, $672-48
#include "quant_half_amd64.h"
