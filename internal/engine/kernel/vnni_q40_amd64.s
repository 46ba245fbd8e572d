#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"

// Q4_0: nibbles are unsigned as they are, m = -8*d.

#define BEGIN \
	BYTES(0x0f0f0f0f, Z31) \
	BYTES(0xc1000000, Z30)

#define GROUPS 1
#define BLOCK NOTHING
#define REST NOTHING
#define GROUP 288
#define ENTER AHEAD5
#define LO LO4
#define HI HI4
#define UNPACK NIBBLES

#define START UNBIASED
#define STARTS UNBIASED2
#define JOIN ADDSUMS

#define SCALES \
	VCVTPH2PS 256(DX), Z26 \
	VMULPS Z30, Z26, Z27

#define OFFSET ADDM

// func q40x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q40x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q40x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q40x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_amd64.h"

// func q40x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q40x12VNNI(SB), NOSPLIT, $0-48
#include "vnni_x12_amd64.h"
