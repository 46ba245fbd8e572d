#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"

// Q4_1: nibbles are unsigned as they are.

#define BEGIN BYTES(0x0f0f0f0f, Z31)
#define GROUPS 1
#define BLOCK NOTHING
#define REST NOTHING
#define GROUP 320
#define ENTER AHEAD5
#define LO LO4
#define HI HI4
#define UNPACK NIBBLES

#define START UNBIASED
#define STARTS UNBIASED2
#define JOIN ADDSUMS

#define SCALES \
	VCVTPH2PS 256(DX), Z26 \
	VCVTPH2PS 288(DX), Z27

#define OFFSET ADDM

// func q41x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q41x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q41x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q41x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_amd64.h"

// func q41x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q41x12VNNI(SB), NOSPLIT, $0-48
#include "vnni_x12_amd64.h"
