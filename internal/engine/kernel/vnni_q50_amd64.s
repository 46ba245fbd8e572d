#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"

// Q5_0: five bits are unsigned as they are, m = -16*d.

DATA minus16<>+0(SB)/4, $0xc1800000
GLOBL minus16<>(SB), RODATA|NOPTR, $4

#define BEGIN \
	BYTES(0x0f0f0f0f, Z31) \
	BYTES(0x10101010, Z30)

#define GROUPS 1
#define BLOCK NOTHING
#define REST NOTHING
#define GROUP 352
#define LO LO4
#define HI HI4
#define UNPACK FIVEBITS
#define START UNBIASED
#define STARTS UNBIASED2
#define JOIN ADDSUMS

#define ENTER \
	AHEAD5 \
	PREFETCHT0 4416(DX) \
	VMOVDQU32 256(DX), Z29

#define SCALES \
	VCVTPH2PS 320(DX), Z26 \
	VMULPS.BCST minus16<>(SB), Z26, Z27

#define OFFSET ADDM

// func q50x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q50x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q50x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q50x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_amd64.h"

// func q50x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q50x12VNNI(SB), NOSPLIT, $0-48
#include "vnni_x12_amd64.h"
