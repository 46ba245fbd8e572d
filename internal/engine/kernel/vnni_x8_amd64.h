// A tile times a run of panels, two at a time; see vnni_amd64.h.

#define CELL8(g) \
	UNPACK(g) \
	DOT4(P0, LO(g), Z24, Z0, Z1, Z2, Z3) \
	DOT4(P1, LO(g), Z24, Z4, Z5, Z6, Z7) \
	DOT4(P0, HI(g), Z25, Z0, Z1, Z2, Z3) \
	DOT4(P1, HI(g), Z25, Z4, Z5, Z6, Z7)

	SETUP
	BEGIN
	MOVQ DX, R12

panel:
	MOVQ R12, DX
	MOVQ R8, R10
	ZERO4(Z12, Z13, Z14, Z15)
	ZERO4(Z16, Z17, Z18, Z19)

block:
	BLOCK

group:
	ENTER
	START4(P0, Z0, Z1, Z2, Z3)
	START4(P1, Z4, Z5, Z6, Z7)
	CELL8(0)
	CELL8(1)
	CELL8(2)
	CELL8(3)
	SCALES
	FOLD4(P0, Z0, Z1, Z2, Z3, Z12, Z13, Z14, Z15)
	FOLD4(P1, Z4, Z5, Z6, Z7, Z16, Z17, Z18, Z19)
	ADDQ $GROUP, DX
	ADDQ $(4*const_qColumn), CX
	REST
	DECQ R10
	JNZ  block

	ADDQ R11, CX
	STORE4(Z12, Z13, Z14, Z15)
	STORE4(Z16, Z17, Z18, Z19)
	DECQ R9
	JNZ  panel
	VZEROUPPER
	RET

#undef CELL8
