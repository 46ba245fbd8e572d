// Products of integer tiles with VPDPBUSD: 16 rows in the lanes of a 512-bit register,
// each adding 4 unsigned weights times 4 signed activations, broadcast from the panel.
// Layouts: pack.go and acts.go; order: quant_ref.go. Bodies: vnni_x*_amd64.h, included
// once per format with these definitions:
//
//	BEGIN           constants in Z30, Z31
//	GROUPS          groups of 32 values in a block
//	BLOCK, REST     what comes before the groups of a block and after each group
//	GROUP           bytes of 16 rows and 32 values
//	ENTER           asks for weights ahead of use, reads what quarters share into Z29
//	UNPACK(g)       a quarter of the group: 4 unsigned weights per row in Z24, 4 in Z25
//	LO(g), HI(g)    the first of the activations that they meet
//	START(p, on, i) sets the sum i of a column whose neg is at on
//	STARTS(p, on, of, i, j) the same for two sums, of Z24 and of Z25; neg16 is at of
//	JOIN(i, j)      makes one sum i of the two
//	SCALES          d in Z26, m in Z27
//	OFFSET(p, os, f) adds m times the s of a column at os to f
//
// Sums of up to three panels of 4 columns stand in Z0-Z11, the float accumulators of
// the same columns in Z12-Z23.

// SETUP loads the arguments: DI dst, SI column stride in bytes, DX weights, CX
// activations, R8 blocks, R9 count; R11 is the size of a panel.
#define SETUP \
	MOVQ dst+0(FP), DI \
	MOVQ ldd+8(FP), SI \
	SHLQ $2, SI \
	MOVQ w+16(FP), DX \
	MOVQ x+24(FP), CX \
	MOVQ blocks+32(FP), R8 \
	MOVQ count+40(FP), R9 \
	IMUL3Q $(4*GROUPS*const_qColumn), R8, R11

// BYTES sets z to copies of a pattern of four bytes.
#define BYTES(pattern, z) \
	MOVL $pattern, AX \
	VPBROADCASTD AX, z

// AHEAD5 asks for five lines of weights, 4 KB ahead; see quant_amd64.s.
#define AHEAD5 \
	PREFETCHT0 4096(DX) \
	PREFETCHT0 4160(DX) \
	PREFETCHT0 4224(DX) \
	PREFETCHT0 4288(DX) \
	PREFETCHT0 4352(DX)

// Nibbles: the low ones of quarter g, then the high ones. Z31 is bytes of 0x0f.
#define LO4(g) (4*g)
#define HI4(g) (4*g+16)

#define NIBBLES(g) \
	VMOVDQU32 (64*g)(DX), Z24 \
	VPSRLW $4, Z24, Z25 \
	VPANDD Z31, Z24, Z24 \
	VPANDD Z31, Z25, Z25

// FIVEBITS adds fifth bits, in Z29: bit g for the low nibbles, bit g+4 for the high ones.
// Z30 is bytes of 0x10; 0xf8 is a | b&c.
#define FIVEBITS(g) \
	NIBBLES(g) \
	VPSLLW $(4-g), Z29, Z28 \
	VPTERNLOGD $0xf8, Z30, Z28, Z24 \
	VPSRLW $g, Z29, Z28 \
	VPTERNLOGD $0xf8, Z30, Z28, Z25

// What formats with unsigned codes and an offset have in common.
#define UNBIASED(p, on, i) VPXORD i, i, i
#define UNBIASED2(p, on, of, i, j) \
	VPXORD i, i, i \
	VPXORD j, j, j
#define ADDSUMS(i, j) VPADDD j, i, i
#define ADDM(p, os, f) VFMADD231PS.BCST (os)p, Z27, f

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

// The panels of a group.
#define P0 (CX)
#define P1 (CX)(R11*1)
#define P2 (CX)(R11*2)

#define ZERO4(a, b, c, d) \
	VPXORD a, a, a \
	VPXORD b, b, b \
	VPXORD c, c, c \
	VPXORD d, d, d

#define START4(p, a, b, c, d) \
	START(p, 160, a) \
	START(p, 164, b) \
	START(p, 168, c) \
	START(p, 172, d)

#define STARTS4(p, a, b, c, d, e, f, g, h) \
	STARTS(p, 160, 176, a, e) \
	STARTS(p, 164, 180, b, f) \
	STARTS(p, 168, 184, c, g) \
	STARTS(p, 172, 188, d, h)

#define JOIN4(a, b, c, d, e, f, g, h) \
	JOIN(a, e) \
	JOIN(b, f) \
	JOIN(c, g) \
	JOIN(d, h)

// DOT4 multiplies 4 weights per row with a panel's activations from o on.
#define DOT4(p, o, w, a, b, c, d) \
	VPDPBUSD.BCST (o)p, w, a \
	VPDPBUSD.BCST (o+32)p, w, b \
	VPDPBUSD.BCST (o+64)p, w, c \
	VPDPBUSD.BCST (o+96)p, w, d

// FOLD adds the sums i, scaled by the rows' d and the column's at od, to f.
#define FOLD(p, od, i, f) \
	VCVTDQ2PS i, i \
	VMULPS.BCST (od)p, Z26, Z28 \
	VFMADD231PS i, Z28, f

#define FOLD4(p, a, b, c, d, e, f, g, h) \
	FOLD(p, 128, a, e) \
	FOLD(p, 132, b, f) \
	FOLD(p, 136, c, g) \
	FOLD(p, 140, d, h) \
	OFFSET(p, 144, e) \
	OFFSET(p, 148, f) \
	OFFSET(p, 152, g) \
	OFFSET(p, 156, h)

// STORE4 writes a panel's results and moves DI to the next panel's.
#define STORE4(a, b, c, d) \
	LEAQ (DI)(SI*2), BX \
	VMOVUPS a, (DI) \
	VMOVUPS b, (DI)(SI*1) \
	VMOVUPS c, (BX) \
	VMOVUPS d, (BX)(SI*1) \
	LEAQ (DI)(SI*4), DI
