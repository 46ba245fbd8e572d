// The body of one tile times panels of four columns, for weights of 4 bits, packed or
// not: CELLS reads cell g of 16 rows; see quant_amd64.h.
//
// The eight word sums take half of the registers, so the float accumulators stand in
// the frame.

	SETUP
	MASKS
	FRAME(288)
	MOVQ DX, R12

panel:
	MOVQ R12, DX
	MOVQ R8, R10
	CLEAR8

block:
	BLOCK

group:
	AHEAD
	CELLS(0)
	FIRST(0, Y0, Y1)
	FIRST(32, Y2, Y3)
	FIRST(64, Y4, Y5)
	FIRST(96, Y6, Y7)
	CELLS(1)
	NEXT(4, Y0, Y1)
	NEXT(36, Y2, Y3)
	NEXT(68, Y4, Y5)
	NEXT(100, Y6, Y7)
	CELLS(2)
	NEXT(8, Y0, Y1)
	NEXT(40, Y2, Y3)
	NEXT(72, Y4, Y5)
	NEXT(104, Y6, Y7)
	CELLS(3)
	NEXT(12, Y0, Y1)
	NEXT(44, Y2, Y3)
	NEXT(76, Y4, Y5)
	NEXT(108, Y6, Y7)
	SCALES
	VPMADDWD Y14, Y0, Y0
	VPMADDWD Y14, Y1, Y1
	SPILL(128, 144, Y0, Y1, 0)
	VPMADDWD Y14, Y2, Y2
	VPMADDWD Y14, Y3, Y3
	SPILL(132, 148, Y2, Y3, 64)
	VPMADDWD Y14, Y4, Y4
	VPMADDWD Y14, Y5, Y5
	SPILL(136, 152, Y4, Y5, 128)
	VPMADDWD Y14, Y6, Y6
	VPMADDWD Y14, Y7, Y7
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
