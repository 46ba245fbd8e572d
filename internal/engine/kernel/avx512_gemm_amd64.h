// The body of a float product of a run of tiles, included once per weight format with LOAD
// defined as widening 16 weights at BX to Z16; order: gemm_ref.go. Eight columns at a
// time, then four, three, two or one: even k in Z0-Z7, odd k in Z8-Z15, a register a
// column, the activation broadcast from memory. R8 is the weights' stride in bytes.

	MOVQ ldd+8(FP), SI
	SHLQ $2, SI
	MOVQ w+16(FP), DX
	MOVQ ldx+40(FP), R9
	SHLQ $2, R9
	MOVQ k+48(FP), R10
	MOVQ scale+64(FP), AX
	LEAQ (R9)(R9*2), R13
	LEAQ (R9)(R9*4), R14
	LEAQ (R13)(R9*4), R15
	TESTQ AX, AX
	JZ    tile
	VBROADCASTSS (AX), Z31

tile:
	MOVQ dst+0(FP), DI
	MOVQ x+32(FP), CX
	MOVQ cols+56(FP), R11

eight:
	CMPQ R11, $8
	JB   four
	VPXORD Z6, Z6, Z6
	VPXORD Z7, Z7, Z7
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z4, Z4, Z4
	VPXORD Z5, Z5, Z5
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	SUM(pair8, odd8, out8, MAC8)
	OUT(JOIN8, SCALE8, PUT8, plain8)
	LEAQ (CX)(R9*8), CX
	SUBQ $8, R11
	JMP  eight

four:
	CMPQ R11, $4
	JB   three
	SUM(pair4, odd4, out4, MAC4)
	OUT(JOIN4, SCALE4, PUT4, plain4)
	LEAQ (CX)(R9*4), CX
	SUBQ $4, R11

three:
	CMPQ R11, $3
	JNE  two
	SUM(pair3, odd3, out3, MAC3)
	OUT(JOIN3, SCALE3, PUT3, plain3)
	JMP  next

two:
	CMPQ R11, $2
	JNE  one
	SUM(pair2, odd2, out2, MAC2)
	OUT(JOIN2, SCALE2, PUT2, plain2)
	JMP  next

one:
	TESTQ R11, R11
	JZ   next
	SUM(pair1, odd1, out1, MAC1)
	OUT(JOIN1, SCALE1, PUT1, plain1)

next:
	ADDQ $64, dst+0(FP)
	MOVQ R8, AX
	IMULQ R10, AX
	ADDQ AX, DX
	DECQ tiles+72(FP)
	JNZ  tile
	VZEROUPPER
	RET
