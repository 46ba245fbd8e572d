#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"

// Q6_K: six bits are unsigned with 32 too much, so the sums start at -32*sum(q). Each half
// of a group has its sub-scale: sc0 in Z24 and sc1 in Z25 once the weights are done with.

#define BEGIN \
	BYTES(0x0f0f0f0f, Z31) \
	BYTES(0x30303030, Z30)

#define GROUPS 8
#define BLOCK BLOCKK(3072)
#define REST RESTK(32, 288)
#define GROUP 384
#define LO LO4
#define HI HI4

#define ENTER \
	AHEAD5 \
	PREFETCHT0 4416(DX) \
	VMOVDQU32 256(DX), Z29

// Upper bits 2g, 2g+1 turn to bits 4, 5; 0xf8 is a | b&c.
#define UNPACK(g) \
	NIBBLES(g) \
	VPROLD $(36-2*g), Z29, Z28 \
	VPTERNLOGD $0xf8, Z30, Z28, Z24 \
	VPROLD $(36-2*g), 320(DX), Z28 \
	VPTERNLOGD $0xf8, Z30, Z28, Z25

#define STARTS(p, on, of, i, j) \
	VPSLLD.BCST $5, (of)p, i \
	VPSLLD.BCST $5, (on)p, j \
	VPSUBD i, j, j

#define SCALES \
	VPMOVSXBW (R13), Z25 \
	VPSLLD $16, Z25, Z24 \
	VPSRAD $16, Z24, Z24 \
	VPSRAD $16, Z25, Z25 \
	VCVTPH2PS 3328(AX), Z26

#define JOIN(i, j) \
	VPMULLD Z24, i, i \
	VPMULLD Z25, j, j \
	VPADDD j, i, i

#define OFFSET(p, os, f)

// func q6kx1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q6kx2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q6kx4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q6kx8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q6kx8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_halves_amd64.h"
