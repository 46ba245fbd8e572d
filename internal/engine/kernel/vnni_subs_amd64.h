// The factors of Q4_K and Q5_K, from the sub-scales at R13; see pack_k.go.

DATA upper<>+0(SB)/8, $0
DATA upper<>+8(SB)/8, $0
DATA upper<>+16(SB)/8, $0
DATA upper<>+24(SB)/8, $0
DATA upper<>+32(SB)/8, $0x0000000400000004
DATA upper<>+40(SB)/8, $0x0000000400000004
DATA upper<>+48(SB)/8, $0x0000000400000004
DATA upper<>+56(SB)/8, $0x0000000400000004
GLOBL upper<>(SB), RODATA|NOPTR, $64
DATA dword30<>+0(SB)/4, $0x30
GLOBL dword30<>(SB), RODATA|NOPTR, $4
DATA sign<>+0(SB)/4, $0x80000000
GLOBL sign<>(SB), RODATA|NOPTR, $4

// SUBSCALES makes d*sc and -e*mn; d and e stand at AX+o, Z31 is bytes of 0x0f. Upper
// bits go to bits 4 and 5; 0xf8 is a | b&c.
#define SUBSCALES(o) \
	VPMOVZXBD (R13), Z26 \
	VPBROADCASTQ 16(R13), X28 \
	VPMOVZXBD X28, Z28 \
	VPSRLVD upper<>(SB), Z28, Z28 \
	VPSRLD $4, Z26, Z27 \
	VPANDD Z31, Z26, Z26 \
	VPSLLD $4, Z28, Z24 \
	VPSLLD $2, Z28, Z25 \
	VPTERNLOGD.BCST $0xf8, dword30<>(SB), Z24, Z26 \
	VPTERNLOGD.BCST $0xf8, dword30<>(SB), Z25, Z27 \
	VCVTDQ2PS Z26, Z26 \
	VCVTDQ2PS Z27, Z27 \
	VCVTPH2PS (o)(AX), Z24 \
	VCVTPH2PS (o+32)(AX), Z25 \
	VMULPS Z24, Z26, Z26 \
	VMULPS Z25, Z27, Z27 \
	VPXORD.BCST sign<>(SB), Z27, Z27
