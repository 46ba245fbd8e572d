#include "textflag.h"
#include "exp_amd64.h"

// EXPZ replaces x by exp of its lanes where mask k is set, and by 0 elsewhere; see EXP. It
// uses n, p and K5; Z30 is 88 in every lane, Z31 the first coefficient.
#define EXPZ(x, n, p, k) \
	VCMPPS.BCST $1, expLow<>(SB), x, K5 \
	KANDNW k, K5, k \
	VMINPS x, Z30, x \
	VMULPS.BCST expLog2e<>(SB), x, n \
	VRNDSCALEPS $0, n, n \
	VFMADD231PS.BCST expLn2hi<>(SB), n, x \
	VFMADD231PS.BCST expLn2lo<>(SB), n, x \
	VMOVAPS Z31, p \
	VFMADD213PS.BCST expPoly1<>(SB), x, p \
	VFMADD213PS.BCST expPoly2<>(SB), x, p \
	VFMADD213PS.BCST expPoly3<>(SB), x, p \
	VFMADD213PS.BCST expPoly4<>(SB), x, p \
	VFMADD213PS.BCST expPoly5<>(SB), x, p \
	VCVTPS2DQ n, n \
	VMULPS x, x, Z29 \
	VFMADD213PS x, Z29, p \
	VADDPS.BCST expOne<>(SB), p, p \
	VPSLLD $23, n, n \
	VPADDD.Z n, p, k, x

// ADDLANES adds 16 terms to the 8 sums in Y5, the first 8 first.
#define ADDLANES(y, z) \
	VADDPS y, Y5, Y5 \
	VEXTRACTF64X4 $1, z, Y6 \
	VADDPS Y6, Y5, Y5

// func softChunkAVX512(s *float32, from, end int, scale float32) (top, sum float32)
//
// K1-K4 are the 64 lanes' part in [from, end).
TEXT ·softChunkAVX512(SB), NOSPLIT, $0-40
	MOVQ s+0(FP), SI
	MOVQ from+8(FP), CX
	MOVQ $-1, AX
	SHLQ CX, AX
	MOVQ $64, CX
	SUBQ end+16(FP), CX
	MOVQ $-1, BX
	SHRQ CX, BX
	ANDQ BX, AX
	KMOVW AX, K1
	SHRQ $16, AX
	KMOVW AX, K2
	SHRQ $16, AX
	KMOVW AX, K3
	SHRQ $16, AX
	KMOVW AX, K4
	VBROADCASTSS scale+24(FP), Z8
	VBROADCASTSS expHigh<>(SB), Z30
	VBROADCASTSS expPoly0<>(SB), Z31
	VMULPS (SI), Z8, Z0
	VMULPS 64(SI), Z8, Z1
	VMULPS 128(SI), Z8, Z2
	VMULPS 192(SI), Z8, Z3
	MOVL $0xff800000, AX
	VPBROADCASTD AX, Z7
	VMAXPS Z7, Z0, K1, Z7
	VMAXPS Z7, Z1, K2, Z7
	VMAXPS Z7, Z2, K3, Z7
	VMAXPS Z7, Z3, K4, Z7
	VEXTRACTF64X4 $1, Z7, Y6
	VMAXPS Y6, Y7, Y7
	TOP
	VBROADCASTSS X7, Z8
	VSUBPS Z8, Z0, Z0
	VSUBPS Z8, Z1, Z1
	VSUBPS Z8, Z2, Z2
	VSUBPS Z8, Z3, Z3
	EXPZ(Z0, Z16, Z17, K1)
	EXPZ(Z1, Z18, Z19, K2)
	EXPZ(Z2, Z20, Z21, K3)
	EXPZ(Z3, Z22, Z23, K4)
	VMOVUPS Z0, (SI)
	VMOVUPS Z1, 64(SI)
	VMOVUPS Z2, 128(SI)
	VMOVUPS Z3, 192(SI)
	VXORPS Y5, Y5, Y5
	ADDLANES(Y0, Z0)
	ADDLANES(Y1, Z1)
	ADDLANES(Y2, Z2)
	ADDLANES(Y3, Z3)
	FOLD
	VMOVSS X7, top+32(FP)
	VMOVSS X5, sum+36(FP)
	VZEROUPPER
	RET
