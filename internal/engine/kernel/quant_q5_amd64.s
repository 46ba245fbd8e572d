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

#define L0 LOW5(0)
#define L1 LOW5(1)
#define L2 LOW5(2)
#define L3 LOW5(3)
#define H0 HIGH5(0)
#define H1 HIGH5(1)
#define H2 HIGH5(2)
#define H3 HIGH5(3)

#define SUMS1 \
	SUM1(L0, L1, L2, L3, 0) \
	VPMADDWD Y14, Y0, Y2 \
	VPMADDWD Y14, Y1, Y3 \
	SUM1(H0, H1, H2, H3, 16) \
	WEIGH(1, 0, Y0, Y1) \
	VPADDD Y2, Y0, Y0 \
	VPADDD Y3, Y1, Y1

#define SUMS2 \
	SUM2(L0, L1, L2, L3, 0) \
	WEIGH(0, 0, Y0, Y1) \
	WEIGH(0, 1, Y2, Y3) \
	KEEP2 \
	SUM2(H0, H1, H2, H3, 16) \
	WEIGH(1, 0, Y0, Y1) \
	WEIGH(1, 1, Y2, Y3) \
	JOIN2

#define START NOTHING
#define WEIGHTS0 NOTHING
#define WEIGHTS1 NOTHING

#define WIDEN \
	L0 \
	PUT(0) \
	L1 \
	PUT(64) \
	L2 \
	PUT(128) \
	L3 \
	PUT(192) \
	H0 \
	PUT(256) \
	H1 \
	PUT(320) \
	H2 \
	PUT(384) \
	H3 \
	PUT(448)

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

// func q50x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x4AVX2(SB), NOSPLIT, $672-48
#include "quant_half_amd64.h"

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

// func q51x4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x4AVX2(SB), NOSPLIT, $672-48
#include "quant_half_amd64.h"

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

// func q5kx4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx4AVX2(SB), NOSPLIT, $672-48
#include "quant_half_amd64.h"

// func q5kWidenAVX2(dst, w *byte, blocks int)
TEXT ·q5kWidenAVX2(SB), NOSPLIT, $0-24
#include "quant_widen_amd64.h"

#undef GROUP
#undef BLOCK
#undef REST
#undef AHEAD
#undef SCALES
#undef L0
#undef L1
#undef L2
#undef L3
#undef H0
#undef H1
#undef H2
#undef H3

// Unpacked weights of all three.

#define SCALES \
	VMOVUPS 512(DX), Y8 \
	VMOVUPS 544(DX), Y9 \
	VMOVUPS 576(DX), Y10 \
	VMOVUPS 608(DX), Y11

#define L0 UNPACKED(0)
#define L1 UNPACKED(64)
#define L2 UNPACKED(128)
#define L3 UNPACKED(192)
#define H0 UNPACKED(256)
#define H1 UNPACKED(320)
#define H2 UNPACKED(384)
#define H3 UNPACKED(448)

#define GROUP WIDE
#define BLOCK NOTHING
#define REST NOTHING
#define AHEAD NOTHING

// func q5x4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5x4WideAVX2(SB), NOSPLIT, $672-48
#include "quant_half_amd64.h"
