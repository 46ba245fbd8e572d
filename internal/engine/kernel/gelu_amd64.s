#include "textflag.h"
#include "exp_amd64.h"

// GELU by error function and by tanh; order: gelu.go.

REPEAT4(geluLinear, 0x3fcc42293fcc4229) // 1.5957691
REPEAT4(geluCubic, 0x3d9222783d922278) // 0.07135481

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

REPEAT4(geluRoot, 0x3f3504f33f3504f3) // 0.70710678
REPEAT4(geluAbs, 0x7fffffff7fffffff) // all but the sign
REPEAT4(geluHalf, 0x3f0000003f000000) // 0.5
REPEAT4(erfcP, 0x3ea7ba053ea7ba05) // 0.3275911
REPEAT4(erfcPoly0, 0x3f87dc223f87dc22) // 1.061405429
REPEAT4(erfcPoly1, 0xbfba00e3bfba00e3) // -1.453152027
REPEAT4(erfcPoly2, 0x3fb5f0e33fb5f0e3) // 1.421413741
REPEAT4(erfcPoly3, 0xbe91a98ebe91a98e) // -0.284496736
REPEAT4(erfcPoly4, 0x3e8279063e827906) // 0.254829592

// func geluAVX2(x *float32, n int)
TEXT ·geluAVX2(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), CX
	VXORPS Y12, Y12, Y12

loop:
	VMOVUPS (DI), Y5
	VMULPS geluRoot<>(SB), Y5, Y6
	VANDPS geluAbs<>(SB), Y6, Y6
	VMULPS Y6, Y6, Y0
	VPCMPEQD Y8, Y8, Y8
	VPSLLD $31, Y8, Y8
	VXORPS Y8, Y0, Y0
	EXP
	VMOVUPS expOne<>(SB), Y7
	VMOVUPS erfcP<>(SB), Y8
	VFMADD213PS Y7, Y6, Y8
	VDIVPS Y8, Y7, Y8
	VMOVUPS erfcPoly0<>(SB), Y9
	VFMADD213PS erfcPoly1<>(SB), Y8, Y9
	VFMADD213PS erfcPoly2<>(SB), Y8, Y9
	VFMADD213PS erfcPoly3<>(SB), Y8, Y9
	VFMADD213PS erfcPoly4<>(SB), Y8, Y9
	VMULPS Y8, Y9, Y9
	VMULPS Y0, Y9, Y9
	VMULPS geluHalf<>(SB), Y9, Y9
	VMULPS Y9, Y5, Y10
	VFNMADD213PS Y5, Y5, Y9
	VCMPPS $1, Y12, Y5, Y11
	VBLENDVPS Y11, Y10, Y9, Y9
	VMOVUPS Y9, (DI)
	ADDQ $32, DI
	SUBQ $8, CX
	JNZ  loop
	VZEROUPPER
	RET
