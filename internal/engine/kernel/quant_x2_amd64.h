// A run of tiles times two columns; see quant_amd64.h. The accumulators are Y4, Y5 and
// Y6, Y7; sums of a first half wait in the frame.

	SETUP
	MASKS
	FRAME(160)
	MOVQ CX, R12

tile:
	MOVQ R12, CX
	MOVQ R8, R10
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7

block:
	BLOCK

group:
	AHEAD
	SUMS2
	SCALES
	FOLD(64, 72, Y0, Y1, Y4, Y5)
	FOLD(68, 76, Y2, Y3, Y6, Y7)
	ADDQ $GROUP, DX
	ADDQ $(2*const_qColumn), CX
	REST
	DECQ R10
	JNZ  block

	VMOVUPS Y4, (DI)
	VMOVUPS Y5, 32(DI)
	VMOVUPS Y6, (DI)(SI*1)
	VMOVUPS Y7, 32(DI)(SI*1)
	ADDQ $64, DI
	DECQ R9
	JNZ  tile
	VZEROUPPER
	RET
