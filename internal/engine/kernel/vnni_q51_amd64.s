#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"

// Q5_1: five bits are unsigned as they are.

#define BEGIN \
	BYTES(0x0f0f0f0f, Z31) \
	BYTES(0x10101010, Z30)

#define GROUPS 1
#define BLOCK NOTHING
#define REST NOTHING
#define GROUP 384
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
	VCVTPH2PS 352(DX), Z27

#define OFFSET ADDM

// func q51x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q51x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q51x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q51x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_amd64.h"

// func q51x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q51x12VNNI(SB), NOSPLIT, $0-48
#include "vnni_x12_amd64.h"
