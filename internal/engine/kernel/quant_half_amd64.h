// The body of one tile times panels of four columns, for weights of 5 and 6 bits, packed
// or not; see quant_amd64.h. The frame holds the accumulators, at 256 the sums of the first
// half, at 512 what START leaves. WEIGHTS0 and WEIGHTS1 read the factors of a half, WEIGH(h,
// c, a, b) turns the word sums of half h and column c into integers.

#define FOUR(c0, c1, c2, c3, o) \
	c0 \
	FIRSTHALF(o, Y0, Y1) \
	FIRSTHALF(o+32, Y2, Y3) \
	FIRSTHALF(o+64, Y4, Y5) \
	FIRSTHALF(o+96, Y6, Y7) \
	c1 \
	FOURMORE(o+4) \
	c2 \
	FOURMORE(o+8) \
	c3 \
	FOURMORE(o+12)

#define FOURMORE(o) \
	NEXTHALF(o, Y8, Y9, Y0, Y1) \
	NEXTHALF(o+32, Y8, Y9, Y2, Y3) \
	NEXTHALF(o+64, Y8, Y9, Y4, Y5) \
	NEXTHALF(o+96, Y8, Y9, Y6, Y7)

#define KEEP(c, a, b) \
	WEIGH(0, c, a, b) \
	VMOVDQA a, (256+64*c)(R11) \
	VMOVDQA b, (288+64*c)(R11)

#define JOIN(c, a, b) \
	WEIGH(1, c, a, b) \
	VPADDD (256+64*c)(R11), a, a \
	VPADDD (288+64*c)(R11), b, b

	SETUP
	MASKS
	FRAME(672)
	MOVQ DX, R12

panel:
	MOVQ R12, DX
	MOVQ R8, R10
	CLEAR8

block:
	BLOCK

group:
	AHEAD
	START
	FOUR(L0, L1, L2, L3, 0)
	WEIGHTS0
	KEEP(0, Y0, Y1)
	KEEP(1, Y2, Y3)
	KEEP(2, Y4, Y5)
	KEEP(3, Y6, Y7)
	FOUR(H0, H1, H2, H3, 16)
	WEIGHTS1
	JOIN(0, Y0, Y1)
	JOIN(1, Y2, Y3)
	JOIN(2, Y4, Y5)
	JOIN(3, Y6, Y7)
	SCALES
	SPILL(128, 144, Y0, Y1, 0)
	SPILL(132, 148, Y2, Y3, 64)
	SPILL(136, 152, Y4, Y5, 128)
	SPILL(140, 156, Y6, Y7, 192)
	ADDQ $GROUP, DX
	ADDQ $(4*const_qColumn), CX
	REST
	DECQ R10
	JNZ  block

	STORE8
	DECQ R9
	JNZ  panel
	VZEROUPPER
	RET

#undef FOUR
#undef FOURMORE
#undef KEEP
#undef JOIN
