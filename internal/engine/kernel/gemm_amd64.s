#include "textflag.h"
#include "gemm_steps_amd64.h"
#include "repeat_amd64.h"

// Float products of one tile of 16 weight columns (gemm_amd64.h), and of a run of tiles
// with one row (gemv_amd64.h); order: gemm_ref.go.

REPEAT4(uppers, 0xffff0000ffff0000)

#define SETUP \
	MOVQ dst+0(FP), DI \
	MOVQ ldd+8(FP), SI \
	SHLQ $2, SI \
	MOVQ w+16(FP), DX \
	MOVQ x+32(FP), CX \
	MOVQ ldx+40(FP), R9 \
	SHLQ $2, R9 \
	MOVQ k+48(FP), R10 \
	MOVQ cols+56(FP), R11 \
	MOVQ scale+64(FP), R13

#define LOADF16 \
	VCVTPH2PS (BX), Y12 \
	VCVTPH2PS 16(BX), Y13

// BRAIN widens 16 bfloat16 at p, each the upper half of a float32: rows 0-7 are the lower
// halves of dwords, rows 8-15 the upper ones.
#define BRAIN(p, a, b) \
	VMOVDQU p, b \
	VPSLLD $16, b, a \
	VPAND uppers<>(SB), b, b

#define LOADBF16 BRAIN((BX), Y12, Y13)

#define LOADF32 \
	VMOVUPS (BX), Y12 \
	VMOVUPS 32(BX), Y13

// ADDTO is a = a*scale + memory, for the two registers of a column at p.
#define ADDTO(p, a, b) \
	VFMADD213PS (p), Y15, a \
	VFMADD213PS 32(p), Y15, b

// func gemmF16AVX2(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32)
TEXT ·gemmF16AVX2(SB), NOSPLIT, $0-72
	MOVQ ldw+24(FP), R8
	SHLQ $1, R8

#define LOAD LOADF16
#include "gemm_amd64.h"
#undef LOAD

// func gemmBF16AVX2(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32)
TEXT ·gemmBF16AVX2(SB), NOSPLIT, $0-72
	MOVQ ldw+24(FP), R8
	SHLQ $1, R8

#define LOAD LOADBF16
#include "gemm_amd64.h"
#undef LOAD

// func gemmF32AVX2(dst *float32, ldd int, w *float32, ldw int, x *float32, ldx, k, cols int, scale *float32)
TEXT ·gemmF32AVX2(SB), NOSPLIT, $0-72
	MOVQ ldw+24(FP), R8
	SHLQ $2, R8

#define LOAD LOADF32
#include "gemm_amd64.h"
#undef LOAD

// Weights are asked for 4 KB ahead; see quant_amd64.h.
#define PAIR16 \
	PREFETCHT0 4096(BX) \
	VBROADCASTSS (AX), Y14 \
	VBROADCASTSS 4(AX), Y13 \
	VCVTPH2PS (BX), Y4 \
	VCVTPH2PS 16(BX), Y5 \
	VCVTPH2PS 32(BX), Y6 \
	VCVTPH2PS 48(BX), Y7 \
	VFMADD231PS Y14, Y4, Y0 \
	VFMADD231PS Y14, Y5, Y1 \
	VFMADD231PS Y13, Y6, Y2 \
	VFMADD231PS Y13, Y7, Y3 \
	ADDQ $64, BX

#define SINGLE16 \
	VBROADCASTSS (AX), Y14 \
	VCVTPH2PS (BX), Y4 \
	VCVTPH2PS 16(BX), Y5 \
	VFMADD231PS Y14, Y4, Y0 \
	VFMADD231PS Y14, Y5, Y1 \
	ADDQ $32, BX

#define PAIRB16 \
	PREFETCHT0 4096(BX) \
	VBROADCASTSS (AX), Y14 \
	VBROADCASTSS 4(AX), Y13 \
	BRAIN((BX), Y4, Y5) \
	BRAIN(32(BX), Y6, Y7) \
	VFMADD231PS Y14, Y4, Y0 \
	VFMADD231PS Y14, Y5, Y1 \
	VFMADD231PS Y13, Y6, Y2 \
	VFMADD231PS Y13, Y7, Y3 \
	ADDQ $64, BX

#define SINGLEB16 \
	VBROADCASTSS (AX), Y14 \
	BRAIN((BX), Y4, Y5) \
	VFMADD231PS Y14, Y4, Y0 \
	VFMADD231PS Y14, Y5, Y1 \
	ADDQ $32, BX

#define PAIR32 \
	VBROADCASTSS (AX), Y14 \
	VBROADCASTSS 4(AX), Y13 \
	VFMADD231PS (BX), Y14, Y0 \
	VFMADD231PS 32(BX), Y14, Y1 \
	VFMADD231PS 64(BX), Y13, Y2 \
	VFMADD231PS 96(BX), Y13, Y3 \
	ADDQ $128, BX

#define SINGLE32 \
	VBROADCASTSS (AX), Y14 \
	VFMADD231PS (BX), Y14, Y0 \
	VFMADD231PS 32(BX), Y14, Y1 \
	ADDQ $64, BX

// func gemvF16AVX2(dst *float32, w *uint16, x *float32, k, tiles int, scale *float32)
TEXT ·gemvF16AVX2(SB), NOSPLIT, $0-48
#define PAIR PAIR16
#define SINGLE SINGLE16
#include "gemv_amd64.h"
#undef PAIR
#undef SINGLE

// func gemvBF16AVX2(dst *float32, w *uint16, x *float32, k, tiles int, scale *float32)
TEXT ·gemvBF16AVX2(SB), NOSPLIT, $0-48
#define PAIR PAIRB16
#define SINGLE SINGLEB16
#include "gemv_amd64.h"
#undef PAIR
#undef SINGLE

// func gemvF32AVX2(dst, w, x *float32, k, tiles int, scale *float32)
TEXT ·gemvF32AVX2(SB), NOSPLIT, $0-48
#define PAIR PAIR32
#define SINGLE SINGLE32
#include "gemv_amd64.h"
#undef PAIR
#undef SINGLE
