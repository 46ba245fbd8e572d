// The body of a product of tiles with one row, included once per weight format: PAIR
// adds two k (Y0, Y1 the even one, Y2, Y3 the odd one), SINGLE a last even one. BX
// walks through the weights of all tiles, AX through x.

	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), BX
	MOVQ x+16(FP), CX
	MOVQ k+24(FP), R10
	MOVQ tiles+32(FP), R11
	MOVQ scale+40(FP), R13
	TESTQ R13, R13
	JZ   tile
	VBROADCASTSS (R13), Y15

tile:
	MOVQ CX, AX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	MOVQ R10, R12
	SUBQ $2, R12
	JB   odd

pair:
	PAIR
	ADDQ $8, AX
	SUBQ $2, R12
	JAE  pair

odd:
	TESTQ $1, R10
	JZ   sum
	SINGLE

sum:
	VADDPS Y2, Y0, Y0
	VADDPS Y3, Y1, Y1
	TESTQ R13, R13
	JZ   store
	VFMADD213PS (DI), Y15, Y0
	VFMADD213PS 32(DI), Y15, Y1

store:
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	ADDQ $64, DI
	DECQ R11
	JNZ  tile
	VZEROUPPER
	RET
