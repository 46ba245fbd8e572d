// Unpacks a tile; see quant_amd64.h. WIDEN writes a group's cells to DI, FACTORS what they
// are multiplied with, WIDE bytes in all. TILE is the size of a block.
//
// It asks for the next tile as well, which will be wanted after all panels of this one.

	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), DX
	MOVQ blocks+16(FP), R10
	IMUL3Q $TILE, R10, R9
	ADDQ DX, R9
	MASKS

block:
	BLOCK

group:
	PREFETCHT0 (R9)
	PREFETCHT0 64(R9)
	PREFETCHT0 128(R9)
	PREFETCHT0 192(R9)
	PREFETCHT0 256(R9)
	PREFETCHT0 320(R9)
	ADDQ $GROUP, R9
	WIDEN
	FACTORS
	ADDQ $GROUP, DX
	ADDQ $WIDE, DI
	REST
	DECQ R10
	JNZ  block
	VZEROUPPER
	RET
