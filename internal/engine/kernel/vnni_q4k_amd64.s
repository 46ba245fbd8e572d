#include "textflag.h"
#include "go_asm.h"
#include "vnni_amd64.h"
#include "vnni_subs_amd64.h"

// Q4_K: nibbles are unsigned as they are.

#define BEGIN BYTES(0x0f0f0f0f, Z31)
#define GROUPS 8
#define BLOCK BLOCKK(2048)
#define REST RESTK(24, 256)
#define GROUP 256
#define ENTER AHEAD5
#define LO LO4
#define HI HI4
#define UNPACK NIBBLES
#define START UNBIASED
#define STARTS UNBIASED2
#define JOIN ADDSUMS
#define OFFSET ADDM
#define SCALES SUBSCALES(2240)

// func q4kx1VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx1VNNI(SB), NOSPLIT, $0-48
#include "vnni_x1_amd64.h"

// func q4kx2VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx2VNNI(SB), NOSPLIT, $0-48
#include "vnni_x2_amd64.h"

// func q4kx4VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx4VNNI(SB), NOSPLIT, $0-48
#include "vnni_x4_amd64.h"

// func q4kx8VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx8VNNI(SB), NOSPLIT, $0-48
#include "vnni_x8_amd64.h"

// func q4kx12VNNI(dst *float32, ldd int, w, x *byte, blocks, count int)
TEXT ·q4kx12VNNI(SB), NOSPLIT, $0-48
#include "vnni_x12_amd64.h"
