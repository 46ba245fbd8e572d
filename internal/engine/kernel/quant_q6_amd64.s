#include "textflag.h"
#include "go_asm.h"
#include "quant_amd64.h"

// Q6_K: 8 products of 6-bit weights overflow a word, but those of q-32 do not
// (8*32*127 = 32,512), and words wrap around: so 32 times the sum of the activations
// that a word meets is taken from it at the end.

// The words sc0 of 8 rows out of pairs sc0, sc1, and the words sc1.
DATA sub0<>+0(SB)/8, $0x0504050401000100
DATA sub0<>+8(SB)/8, $0x0d0c0d0c09080908
DATA sub0<>+16(SB)/8, $0x0504050401000100
DATA sub0<>+24(SB)/8, $0x0d0c0d0c09080908
GLOBL sub0<>(SB), RODATA|NOPTR, $32
DATA sub1<>+0(SB)/8, $0x0706070603020302
DATA sub1<>+8(SB)/8, $0x0f0e0f0e0b0a0b0a
DATA sub1<>+16(SB)/8, $0x0706070603020302
DATA sub1<>+24(SB)/8, $0x0f0e0f0e0b0a0b0a
GLOBL sub1<>(SB), RODATA|NOPTR, $32
REPEAT4(bytes20, 0x2020202020202020)

// SIXTHS adds the upper bits to cell g; those of low cells stand at 256, of high ones at
// 320. g is 0 to 3, shifted where it leaves them in bits 4 and 5.
#define SIXTHS(o, op, n) \
	VMOVDQU (o)(DX), Y12 \
	VMOVDQU (o+32)(DX), Y13 \
	op $n, Y12, Y12 \
	op $n, Y13, Y13 \
	VPAND bytes30<>(SB), Y12, Y12 \
	VPAND bytes30<>(SB), Y13, Y13 \
	VPOR Y12, Y8, Y8 \
	VPOR Y13, Y9, Y9

#define L0 LOW(0); SIXTHS(256, VPSLLD, 4)
#define L1 LOW(1); SIXTHS(256, VPSLLD, 2)
#define L2 LOW(2); SIXTHS(256, VPSLLD, 0)
#define L3 LOW(3); SIXTHS(256, VPSRLD, 2)
#define H0 HIGH(0); SIXTHS(320, VPSLLD, 4)
#define H1 HIGH(1); SIXTHS(320, VPSLLD, 2)
#define H2 HIGH(2); SIXTHS(320, VPSLLD, 0)
#define H3 HIGH(3); SIXTHS(320, VPSRLD, 2)

// BIAS sets both words of each dword of y to what they have too much from the column at
// o: in the lower lane for low cells, in the upper one for high cells.
#define BIAS(o, y) \
	VMOVDQU bytes20<>(SB), Y13 \
	VPMADDUBSW (o)(CX), Y13, y \
	VPSHUFD $0x4e, y, Y13 \
	VPADDW Y13, y, y \
	VPSHUFD $0xb1, y, Y13 \
	VPADDW Y13, y, y

// UNBIAS takes lane pair (0x44 the lower, 0xee the upper) of y from a, b.
#define UNBIAS(pair, y, a, b) \
	VPERMQ $pair, y, Y12 \
	VPSUBW Y12, a, a \
	VPSUBW Y12, b, b

// SUBS reads the sub-scales of one half as words.
#define SUBS(sub) \
	VPMOVSXBW (R13), Y8 \
	VPMOVSXBW 16(R13), Y9 \
	VPSHUFB sub, Y8, Y8 \
	VPSHUFB sub, Y9, Y9

#define SCALE(a, b) \
	VPMADDWD Y8, a, a \
	VPMADDWD Y9, b, b

#define SUMS1 \
	BIAS(0, Y4) \
	SUM1(L0, L1, L2, L3, 0) \
	UNBIAS(0x44, Y4, Y0, Y1) \
	SUBS(sub0<>(SB)) \
	VPMADDWD Y8, Y0, Y2 \
	VPMADDWD Y9, Y1, Y3 \
	SUM1(H0, H1, H2, H3, 16) \
	UNBIAS(0xee, Y4, Y0, Y1) \
	SUBS(sub1<>(SB)) \
	SCALE(Y0, Y1) \
	VPADDD Y2, Y0, Y0 \
	VPADDD Y3, Y1, Y1

#define SUMS2 \
	BIAS(0, Y10) \
	BIAS(32, Y11) \
	SUM2(L0, L1, L2, L3, 0) \
	UNBIAS(0x44, Y10, Y0, Y1) \
	UNBIAS(0x44, Y11, Y2, Y3) \
	SUBS(sub0<>(SB)) \
	SCALE(Y0, Y1) \
	SCALE(Y2, Y3) \
	KEEP2 \
	SUM2(H0, H1, H2, H3, 16) \
	UNBIAS(0xee, Y10, Y0, Y1) \
	UNBIAS(0xee, Y11, Y2, Y3) \
	SUBS(sub1<>(SB)) \
	SCALE(Y0, Y1) \
	SCALE(Y2, Y3) \
	JOIN2

#define SCALES \
	VCVTPH2PS 3328(AX), Y8 \
	VCVTPH2PS 3344(AX), Y9

#define OFFSET(os, f, g)

#define TILE 3360
#define GROUP 384
#define WIDE 704
#define BLOCK BLOCKK(3072)
#define REST RESTK(32, 288)
#define AHEAD FETCH6

// func q6kx1AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx1AVX2(SB), NOSPLIT, $0-48
#include "quant_x1_amd64.h"

// func q6kx2AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx2AVX2(SB), NOSPLIT, $160-48
#include "quant_x2_amd64.h"

#define KEEPBIAS(c) \
	BIAS(32*c, Y0) \
	VMOVDQA Y0, (512+32*c)(R11)

#define START \
	KEEPBIAS(0) \
	KEEPBIAS(1) \
	KEEPBIAS(2) \
	KEEPBIAS(3)

#define WEIGH(h, c, a, b) \
	VPBROADCASTD (512+32*c+16*h)(R11), Y12 \
	VPSUBW Y12, a, a \
	VPSUBW Y12, b, b \
	SCALE(a, b)

#define WEIGHTS0 SUBS(sub0<>(SB))
#define WEIGHTS1 SUBS(sub1<>(SB))

// func q6kx4AVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx4AVX2(SB), NOSPLIT, $672-48
#include "quant_half_amd64.h"

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
	SUBS(sub0<>(SB)) \
	PUT(512) \
	SUBS(sub1<>(SB)) \
	PUT(576) \
	SCALES \
	PUT(640)

// func q6kWidenAVX2(dst, w *byte, blocks int)
TEXT ·q6kWidenAVX2(SB), NOSPLIT, $0-24
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
#undef WEIGHTS0
#undef WEIGHTS1

// Unpacked weights.

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

#define WEIGHTS0 UNPACKED(512)
#define WEIGHTS1 UNPACKED(576)
#define SCALES UNPACKED(640)

// func q6kx4WideAVX2(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx4WideAVX2(SB), NOSPLIT, $672-48
#include "quant_half_amd64.h"
