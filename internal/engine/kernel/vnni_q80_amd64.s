#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"

// Q8_0: weights become unsigned with 128 added; the sums start at -128*sum(q).

#define BEGIN BYTES(0x80808080, Z31)
#define GROUPS 1
#define BLOCK NOTHING
#define REST NOTHING
#define GROUP 544
#define LO(g) (8*g)
#define HI(g) (8*g+4)

#define ENTER \
	AHEAD5 \
	PREFETCHT0 4416(DX) \
	PREFETCHT0 4480(DX) \
	PREFETCHT0 4544(DX) \
	PREFETCHT0 4608(DX)

#define UNPACK(g) \
	VPXORD (128*g)(DX), Z31, Z24 \
	VPXORD (128*g+64)(DX), Z31, Z25

#define START(p, on, i) VPSLLD.BCST $7, (on)p, i

#define STARTS(p, on, of, i, j) \
	START(p, on, i) \
	VPXORD j, j, j

#define JOIN ADDSUMS

#define SCALES VCVTPH2PS 512(DX), Z26

#define OFFSET(p, os, f)

// func q80x1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q80x1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q80x2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q80x2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q80x4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q80x4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q80x8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q80x8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_amd64.h"

// func q80x12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q80x12VNNI(SB), NOSPLIT, $0-48
#include "vnni_x12_amd64.h"
