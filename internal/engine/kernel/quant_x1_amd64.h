// A run of tiles times one column; see quant_amd64.h. The accumulators are Y6, Y7.

	SETUP
	MASKS
	MOVQ CX, R12

tile:
	MOVQ R12, CX
	MOVQ R8, R10
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

block:
	BLOCK

group:
	AHEAD
	SUMS1
	SCALES
	FOLD(32, 36, Y0, Y1, Y6, Y7)
	ADDQ $GROUP, DX
	ADDQ $const_qColumn, CX
	REST
	DECQ R10
	JNZ  block

	VMOVUPS Y6, (DI)
	VMOVUPS Y7, 32(DI)
	ADDQ $64, DI
	DECQ R9
	JNZ  tile
	VZEROUPPER
	RET
