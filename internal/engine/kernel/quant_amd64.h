// Integer products with AVX2. Rows lie in lanes: a 4-byte cell of weights per row meets
// the same 4 activations, broadcast. Layouts: pack_quant.go, pack_k.go and acts.go; order:
// quant_ref.go. Bodies, included once per format: quant_x1_amd64.h and quant_x2_amd64.h
// (one and two columns), quant_widen_amd64.h (unpacking a tile for panels of four),
// quant_full_amd64.h and quant_half_amd64.h (panels of four). A format defines
//
//	BLOCK, REST     what comes before the groups of a block and after each group
//	GROUP           bytes of 16 rows and 32 values
//	AHEAD           asks for weights ahead of use
//	L0-L3, H0-H3    for weights of 5 and 6 bits, the low and high halves of the four cells
//	                of 16 rows, in Y8, Y9
//	SUMS1, SUMS2    the integer sums of one column in Y0, Y1 (rows 0-7, 8-15), of two
//	                in Y0-Y3
//	SCALES          d of 16 rows in Y8, Y9, m in Y10, Y11
//	OFFSET(os, f, g) adds m times the s of a column at os to f, g
//
// A word holds the sum of 16 products of 4-bit weights (16*15*127 = 30,480), or 8 of
// 5-bit ones (8*31*127 = 31,496), so these take half of the values at a time: those of
// low nibbles, then those of high ones.

#include "repeat_amd64.h"

REPEAT4(bytes10, 0x1010101010101010)
REPEAT4(bytes30, 0x3030303030303030)
REPEAT4(signs, 0x8000000080000000)

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

// FRAME points R11 at the local memory, on a 32-byte boundary.
#define FRAME(size) \
	LEAQ local-size(SP), R11 \
	ADDQ $31, R11 \
	ANDQ $~31, R11

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

#define FETCH6 \
	FETCH \
	PREFETCHT0 4416(DX)

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

// LOW and HIGH unpack the one or the other half of cell g to Y8, Y9.
#define LOW(g) \
	VPAND (64*g)(DX), Y15, Y8 \
	VPAND (64*g+32)(DX), Y15, Y9

#define HIGH(g) \
	VMOVDQU (64*g)(DX), Y8 \
	VMOVDQU (64*g+32)(DX), Y9 \
	VPSRLW $4, Y8, Y8 \
	VPSRLW $4, Y9, Y9 \
	VPAND Y15, Y8, Y8 \
	VPAND Y15, Y9, Y9

// FIRST starts the word sums a, b (rows 0-7, 8-15) of a column at x offset o with the
// cells in Y8-Y11, NEXT adds to them.
#define FIRST(o, a, b) \
	VPBROADCASTD (o)(CX), Y12 \
	VPMADDUBSW Y12, Y8, a \
	VPMADDUBSW Y12, Y9, b \
	NEXTHALF(o+16, Y10, Y11, a, b)

#define NEXT(o, a, b) \
	NEXTHALF(o, Y8, Y9, a, b) \
	NEXTHALF(o+16, Y10, Y11, a, b)

// FIRSTHALF and NEXTHALF take one half of a cell.
#define FIRSTHALF(o, a, b) \
	VPBROADCASTD (o)(CX), Y12 \
	VPMADDUBSW Y12, Y8, a \
	VPMADDUBSW Y12, Y9, b

#define NEXTHALF(o, v, w, a, b) \
	VPBROADCASTD (o)(CX), Y12 \
	VPMADDUBSW Y12, v, Y13 \
	VPADDW Y13, a, a \
	VPMADDUBSW Y12, w, Y13 \
	VPADDW Y13, b, b

// SUM1 and SUM2 are the word sums of one half, whose cells are c0 to c3, for one column in
// Y0, Y1 and for two in Y0-Y3.
#define SUM1(c0, c1, c2, c3, o) \
	c0 \
	FIRSTHALF(o, Y0, Y1) \
	c1 \
	NEXTHALF(o+4, Y8, Y9, Y0, Y1) \
	c2 \
	NEXTHALF(o+8, Y8, Y9, Y0, Y1) \
	c3 \
	NEXTHALF(o+12, Y8, Y9, Y0, Y1)

#define SUM2(c0, c1, c2, c3, o) \
	c0 \
	FIRSTHALF(o, Y0, Y1) \
	FIRSTHALF(o+32, Y2, Y3) \
	c1 \
	NEXTHALF(o+4, Y8, Y9, Y0, Y1) \
	NEXTHALF(o+36, Y8, Y9, Y2, Y3) \
	c2 \
	NEXTHALF(o+8, Y8, Y9, Y0, Y1) \
	NEXTHALF(o+40, Y8, Y9, Y2, Y3) \
	c3 \
	NEXTHALF(o+12, Y8, Y9, Y0, Y1) \
	NEXTHALF(o+44, Y8, Y9, Y2, Y3)

// KEEP2 puts the integers of a first half away, JOIN2 adds them to those of the second.
#define KEEP2 \
	VMOVDQA Y0, (R11) \
	VMOVDQA Y1, 32(R11) \
	VMOVDQA Y2, 64(R11) \
	VMOVDQA Y3, 96(R11)

#define JOIN2 \
	VPADDD (R11), Y0, Y0 \
	VPADDD 32(R11), Y1, Y1 \
	VPADDD 64(R11), Y2, Y2 \
	VPADDD 96(R11), Y3, Y3

// UNPACKED reads half a cell of an unpacked tile, PUT writes it.
#define UNPACKED(o) \
	VMOVDQU (o)(DX), Y8 \
	VMOVDQU (o+32)(DX), Y9

#define PUT(o) \
	VMOVDQU Y8, (o)(DI) \
	VMOVDQU Y9, (o+32)(DI)

// FOLD adds the integer sums a, b of a column, scaled by d of the rows and of the
// column at od, to f, g, and the offset.
#define FOLD(od, os, a, b, f, g) \
	VCVTDQ2PS a, a \
	VCVTDQ2PS b, b \
	VBROADCASTSS (od)(CX), Y12 \
	VMULPS Y12, Y8, Y13 \
	VFMADD231PS a, Y13, f \
	VMULPS Y12, Y9, Y13 \
	VFMADD231PS b, Y13, g \
	OFFSET(os, f, g)

// SPILL is FOLD with the accumulators in memory at R11+o.
#define SPILL(od, os, a, b, o) \
	VCVTDQ2PS a, a \
	VCVTDQ2PS b, b \
	VBROADCASTSS (od)(CX), Y12 \
	VMULPS Y12, Y8, Y13 \
	VFMADD213PS (o)(R11), Y13, a \
	VMULPS Y12, Y9, Y13 \
	VFMADD213PS (o+32)(R11), Y13, b \
	OFFSET(os, a, b) \
	VMOVAPS a, (o)(R11) \
	VMOVAPS b, (o+32)(R11)

#define ADDOFFSET(os, f, g) \
	VBROADCASTSS (os)(CX), Y12 \
	VFMADD231PS Y12, Y10, f \
	VFMADD231PS Y12, Y11, g

// CLEAR8 zeroes the accumulators of four columns at R11.
#define CLEAR8 \
	VXORPS Y0, Y0, Y0 \
	VMOVAPS Y0, (R11) \
	VMOVAPS Y0, 32(R11) \
	VMOVAPS Y0, 64(R11) \
	VMOVAPS Y0, 96(R11) \
	VMOVAPS Y0, 128(R11) \
	VMOVAPS Y0, 160(R11) \
	VMOVAPS Y0, 192(R11) \
	VMOVAPS Y0, 224(R11)

// STORE8 writes the results of four columns and moves DI to the next panel's.
#define STORE8 \
	LEAQ (DI)(SI*2), BX \
	VMOVUPS Y0, (DI) \
	VMOVUPS Y1, 32(DI) \
	VMOVUPS Y2, (DI)(SI*1) \
	VMOVUPS Y3, 32(DI)(SI*1) \
	VMOVUPS Y4, (BX) \
	VMOVUPS Y5, 32(BX) \
	VMOVUPS Y6, (BX)(SI*1) \
	VMOVUPS Y7, 32(BX)(SI*1) \
	LEAQ (BX)(SI*2), DI

// NOTHING stands for a part that a format does not have.
#define NOTHING

// BLOCKK and RESTK walk through the 8 groups of a block of 256: AX is the block, R13 the
// group's sub-scales, which begin at subs and take step bytes each, end is the size of
// what follows the groups.
#define BLOCKK(subs) \
	MOVQ DX, AX \
	LEAQ (subs)(DX), R13 \
	MOVQ $8, BX

#define RESTK(step, end) \
	ADDQ $step, R13 \
	DECQ BX \
	JNZ  group \
	ADDQ $end, DX

// SCALESK makes d*sc and -e*mn of the sub-scales at R13; d and e stand at AX+o.
#define SCALESK(o) \
	VPMOVZXBD (R13), Y8 \
	VPMOVZXBD 8(R13), Y9 \
	VPMOVZXBD 16(R13), Y12 \
	VPSRLD $4, Y8, Y10 \
	VPSRLD $4, Y9, Y11 \
	VPAND Y15, Y8, Y8 \
	VPAND Y15, Y9, Y9 \
	VPSLLD $4, Y12, Y13 \
	VPAND bytes30<>(SB), Y13, Y13 \
	VPOR Y13, Y8, Y8 \
	VPSLLD $2, Y12, Y13 \
	VPAND bytes30<>(SB), Y13, Y13 \
	VPOR Y13, Y10, Y10 \
	VPAND bytes30<>(SB), Y12, Y13 \
	VPOR Y13, Y9, Y9 \
	VPSRLD $2, Y12, Y13 \
	VPAND bytes30<>(SB), Y13, Y13 \
	VPOR Y13, Y11, Y11 \
	VCVTDQ2PS Y8, Y8 \
	VCVTDQ2PS Y9, Y9 \
	VCVTDQ2PS Y10, Y10 \
	VCVTDQ2PS Y11, Y11 \
	VCVTPH2PS (o)(AX), Y12 \
	VCVTPH2PS (o+16)(AX), Y13 \
	VMULPS Y12, Y8, Y8 \
	VMULPS Y13, Y9, Y9 \
	VCVTPH2PS (o+32)(AX), Y12 \
	VCVTPH2PS (o+48)(AX), Y13 \
	VXORPS signs<>(SB), Y12, Y12 \
	VXORPS signs<>(SB), Y13, Y13 \
	VMULPS Y12, Y10, Y10 \
	VMULPS Y13, Y11, Y11

// SCALES1 reads d and m of 16 rows at DX+o.
#define SCALES1(o) \
	VCVTPH2PS (o)(DX), Y8 \
	VCVTPH2PS (o+16)(DX), Y9 \
	VCVTPH2PS (o+32)(DX), Y10 \
	VCVTPH2PS (o+48)(DX), Y11

// SCALES0 reads d at DX+o and makes m = d*centre; bits is the float32 centre.
#define SCALES0(o, bits) \
	MOVL $bits, AX \
	VMOVD AX, X10 \
	VPBROADCASTD X10, Y11 \
	VCVTPH2PS (o)(DX), Y8 \
	VCVTPH2PS (o+16)(DX), Y9 \
	VMULPS Y11, Y8, Y10 \
	VMULPS Y11, Y9, Y11
