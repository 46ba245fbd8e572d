#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"
#include "vnni_subs_amd64.h"

// Q5_K: five bits are unsigned as they are.

#define BEGIN \
	BYTES(0x0f0f0f0f, Z31) \
	BYTES(0x10101010, Z30)

#define GROUPS 8
#define BLOCK BLOCKK(2560)
#define REST RESTK(24, 256)
#define GROUP 320
#define LO LO4
#define HI HI4
#define UNPACK FIVEBITS
#define START UNBIASED
#define STARTS UNBIASED2
#define JOIN ADDSUMS
#define OFFSET ADDM
#define SCALES SUBSCALES(2752)

#define ENTER \
	AHEAD5 \
	PREFETCHT0 4416(DX) \
	VMOVDQU32 256(DX), Z29

// func q5kx1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q5kx2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q5kx4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q5kx8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_amd64.h"

// func q5kx12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q5kx12VNNI(SB), NOSPLIT, $0-48
#include "vnni_x12_amd64.h"
