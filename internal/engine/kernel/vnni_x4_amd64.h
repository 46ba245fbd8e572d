// A tile times a run of panels, one at a time; see vnni_amd64.h. Four chains of sums are
// too few, so each column has two.

#define CELL4(g) \
	UNPACK(g) \
	DOT4(P0, LO(g), Z24, Z0, Z1, Z2, Z3) \
	DOT4(P0, HI(g), Z25, Z4, Z5, Z6, Z7)

	SETUP
	BEGIN
	MOVQ DX, R12

panel:
	MOVQ R12, DX
	MOVQ R8, R10
	ZERO4(Z12, Z13, Z14, Z15)

block:
	BLOCK

group:
	ENTER
	STARTS4(P0, Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	CELL4(0)
	CELL4(1)
	CELL4(2)
	CELL4(3)
	SCALES
	JOIN4(Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7)
	FOLD4(P0, Z0, Z1, Z2, Z3, Z12, Z13, Z14, Z15)
	ADDQ $GROUP, DX
	ADDQ $(4*const_qColumn), CX
	REST
	DECQ R10
	JNZ  block

	STORE4(Z12, Z13, Z14, Z15)
	DECQ R9
	JNZ  panel
	VZEROUPPER
	RET

#undef CELL4
