// The body of one Q4_1 tile times panels of four columns, included once for packed
// weights and once for unpacked ones: CELLS reads cell g of 16 rows, SCALES their d and
// m, TILE is the size of a block, AHEAD fetches weights.
//
// The eight word sums take half of the registers, so the float accumulators stand in
// the frame, on a 32-byte boundary.

	SETUP
	MASKS
	LEAQ acc-288(SP), R11
	ADDQ $31, R11
	ANDQ $~31, R11
	MOVQ DX, R12

panel:
	MOVQ R12, DX
	MOVQ R8, R10
	VXORPS Y0, Y0, Y0
	VMOVAPS Y0, (R11)
	VMOVAPS Y0, 32(R11)
	VMOVAPS Y0, 64(R11)
	VMOVAPS Y0, 96(R11)
	VMOVAPS Y0, 128(R11)
	VMOVAPS Y0, 160(R11)
	VMOVAPS Y0, 192(R11)
	VMOVAPS Y0, 224(R11)

block:
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
	SPILL41(128, 144, Y0, Y1, 0)
	SPILL41(132, 148, Y2, Y3, 64)
	SPILL41(136, 152, Y4, Y5, 128)
	SPILL41(140, 156, Y6, Y7, 192)
	ADDQ $TILE, DX
	ADDQ $(4*const_qColumn), CX
	DECQ R10
	JNZ  block

	LEAQ (DI)(SI*2), BX
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, (DI)(SI*1)
	VMOVUPS Y3, 32(DI)(SI*1)
	VMOVUPS Y4, (BX)
	VMOVUPS Y5, 32(BX)
	VMOVUPS Y6, (BX)(SI*1)
	VMOVUPS Y7, 32(BX)(SI*1)
	LEAQ (BX)(SI*2), DI
	DECQ R9
	JNZ  panel
	VZEROUPPER
	RET
