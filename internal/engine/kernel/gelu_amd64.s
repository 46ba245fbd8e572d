#include "textflag.h"
#include "exp_amd64.h"

// The tanh-approximated GELU; order: gelu.go.

// 1.5957691
DATA geluLinear<>+0(SB)/8, $0x3fcc42293fcc4229
DATA geluLinear<>+8(SB)/8, $0x3fcc42293fcc4229
DATA geluLinear<>+16(SB)/8, $0x3fcc42293fcc4229
DATA geluLinear<>+24(SB)/8, $0x3fcc42293fcc4229
GLOBL geluLinear<>(SB), RODATA|NOPTR, $32

// 0.07135481
DATA geluCubic<>+0(SB)/8, $0x3d9222783d922278
DATA geluCubic<>+8(SB)/8, $0x3d9222783d922278
DATA geluCubic<>+16(SB)/8, $0x3d9222783d922278
DATA geluCubic<>+24(SB)/8, $0x3d9222783d922278
GLOBL geluCubic<>(SB), RODATA|NOPTR, $32

// func gegluAVX2(dst, gate, up *float32, n int)
TEXT ·gegluAVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ gate+8(FP), SI
	MOVQ up+16(FP), DX
	MOVQ n+24(FP), CX
	VPCMPEQD Y8, Y8, Y8
	VPSLLD $31, Y8, Y8
	VMOVUPS geluCubic<>(SB), Y9
	VMOVUPS geluLinear<>(SB), Y10

loop:
	VMOVUPS (SI), Y5
	VMULPS Y5, Y5, Y0
	VFMADD213PS Y10, Y9, Y0
	VMULPS Y0, Y5, Y0
	VXORPS Y8, Y0, Y0
	EXP
	VADDPS expOne<>(SB), Y0, Y0
	VDIVPS Y0, Y5, Y0
	VMULPS (DX), Y0, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, SI
	ADDQ $32, DX
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  loop
	VZEROUPPER
	RET
