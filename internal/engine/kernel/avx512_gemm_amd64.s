#include "textflag.h"

// A bfloat16 is the upper half of a float32.
DATA brains<>+0(SB)/8, $0x0504808001008080
DATA brains<>+8(SB)/8, $0x0d0c808009088080
DATA brains<>+16(SB)/8, $0x0504808001008080
DATA brains<>+24(SB)/8, $0x0d0c808009088080
DATA brains<>+32(SB)/8, $0x0706808003028080
DATA brains<>+40(SB)/8, $0x0f0e80800b0a8080
DATA brains<>+48(SB)/8, $0x0706808003028080
DATA brains<>+56(SB)/8, $0x0f0e80800b0a8080
GLOBL brains<>(SB), RODATA|NOPTR, $64

// MACn adds the weights (Z16) times activations at offset o of n columns, into e.. of even
// or odd k.
#define MAC1(o, a, b, c, d, e, f, g, h) \
	VFMADD231PS.BCST (o)(AX), Z16, a

#define MAC2(o, a, b, c, d, e, f, g, h) \
	MAC1(o, a, b, c, d, e, f, g, h) \
	VFMADD231PS.BCST (o)(AX)(R9*1), Z16, b

#define MAC3(o, a, b, c, d, e, f, g, h) \
	MAC2(o, a, b, c, d, e, f, g, h) \
	VFMADD231PS.BCST (o)(AX)(R9*2), Z16, c

#define MAC4(o, a, b, c, d, e, f, g, h) \
	MAC3(o, a, b, c, d, e, f, g, h) \
	VFMADD231PS.BCST (o)(AX)(R13*1), Z16, d

#define MAC8(o, a, b, c, d, e, f, g, h) \
	MAC4(o, a, b, c, d, e, f, g, h) \
	VFMADD231PS.BCST (o)(AX)(R9*4), Z16, e \
	VFMADD231PS.BCST (o)(AX)(R14*1), Z16, f \
	VFMADD231PS.BCST (o)(AX)(R13*2), Z16, g \
	VFMADD231PS.BCST (o)(AX)(R15*1), Z16, h

#define EVEN(mac) mac(0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
#define ODD(mac) mac(4, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15)

// SUM sums over k with a MAC, from zero for the first four columns.
#define SUM(pair, odd, out, mac) \
	MOVQ DX, BX \
	MOVQ CX, AX \
	VPXORD Z0, Z0, Z0 \
	VPXORD Z1, Z1, Z1 \
	VPXORD Z2, Z2, Z2 \
	VPXORD Z3, Z3, Z3 \
	VPXORD Z8, Z8, Z8 \
	VPXORD Z9, Z9, Z9 \
	VPXORD Z10, Z10, Z10 \
	VPXORD Z11, Z11, Z11 \
	MOVQ R10, R12 \
	SUBQ $2, R12 \
	JB   odd \
pair: \
	PREFETCHT0 4096(BX) \
	LOAD \
	EVEN(mac) \
	ADDQ R8, BX \
	LOAD \
	ODD(mac) \
	ADDQ R8, BX \
	ADDQ $8, AX \
	SUBQ $2, R12 \
	JAE  pair \
odd: \
	TESTQ $1, R10 \
	JZ   out \
	LOAD \
	EVEN(mac) \
out:

// JOINn makes one sum of the two of each column, SCALEn fma(scale, sum, memory) of it, and
// PUTn stores it; DI moves on behind the last column.
#define JOIN1 \
	VADDPS Z8, Z0, Z0

#define JOIN2 \
	JOIN1 \
	VADDPS Z9, Z1, Z1

#define JOIN3 \
	JOIN2 \
	VADDPS Z10, Z2, Z2

#define JOIN4 \
	JOIN3 \
	VADDPS Z11, Z3, Z3

#define JOIN8 \
	JOIN4 \
	VADDPS Z12, Z4, Z4 \
	VADDPS Z13, Z5, Z5 \
	VADDPS Z14, Z6, Z6 \
	VADDPS Z15, Z7, Z7

#define SCALE1 \
	MOVQ DI, AX \
	VFMADD213PS (AX), Z31, Z0 \
	ADDQ SI, AX

#define SCALE2 \
	SCALE1 \
	VFMADD213PS (AX), Z31, Z1 \
	ADDQ SI, AX

#define SCALE3 \
	SCALE2 \
	VFMADD213PS (AX), Z31, Z2 \
	ADDQ SI, AX

#define SCALE4 \
	SCALE3 \
	VFMADD213PS (AX), Z31, Z3 \
	ADDQ SI, AX

#define SCALE8 \
	SCALE4 \
	VFMADD213PS (AX), Z31, Z4 \
	ADDQ SI, AX \
	VFMADD213PS (AX), Z31, Z5 \
	ADDQ SI, AX \
	VFMADD213PS (AX), Z31, Z6 \
	ADDQ SI, AX \
	VFMADD213PS (AX), Z31, Z7 \
	ADDQ SI, AX

#define PUT1 \
	VMOVUPS Z0, (DI) \
	ADDQ SI, DI

#define PUT2 \
	PUT1 \
	VMOVUPS Z1, (DI) \
	ADDQ SI, DI

#define PUT3 \
	PUT2 \
	VMOVUPS Z2, (DI) \
	ADDQ SI, DI

#define PUT4 \
	PUT3 \
	VMOVUPS Z3, (DI) \
	ADDQ SI, DI

#define PUT8 \
	PUT4 \
	VMOVUPS Z4, (DI) \
	ADDQ SI, DI \
	VMOVUPS Z5, (DI) \
	ADDQ SI, DI \
	VMOVUPS Z6, (DI) \
	ADDQ SI, DI \
	VMOVUPS Z7, (DI) \
	ADDQ SI, DI

// OUT finishes a group of columns.
#define OUT(join, scaled, put, plain) \
	join \
	CMPQ scale+64(FP), $0 \
	JEQ  plain \
	scaled \
plain: \
	put

// func gemmF16AVX512(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32, tiles int)
TEXT ·gemmF16AVX512(SB), NOSPLIT, $0-80
	MOVQ ldw+24(FP), R8
	SHLQ $1, R8

#define LOAD VCVTPH2PS (BX), Z16
#include "avx512_gemm_amd64.h"
#undef LOAD

// func gemmBF16AVX512(dst *float32, ldd int, w *uint16, ldw int, x *float32, ldx, k, cols int, scale *float32, tiles int)
TEXT ·gemmBF16AVX512(SB), NOSPLIT, $0-80
	MOVQ ldw+24(FP), R8
	SHLQ $1, R8

	VMOVDQU32 brains<>(SB), Z30

// Rows 0-7 are the lower halves of eight dwords, rows 8-15 the upper ones.
#define LOAD \
	VBROADCASTI64X4 (BX), Z16 \
	VPSHUFB Z30, Z16, Z16
#include "avx512_gemm_amd64.h"
#undef LOAD

// func gemmF32AVX512(dst *float32, ldd int, w *float32, ldw int, x *float32, ldx, k, cols int, scale *float32, tiles int)
TEXT ·gemmF32AVX512(SB), NOSPLIT, $0-80
	MOVQ ldw+24(FP), R8
	SHLQ $2, R8

#define LOAD VMOVUPS (BX), Z16
#include "avx512_gemm_amd64.h"
#undef LOAD
