// What float products of three columns or one are made of. For every k
//
//	w[0..15] = 16 weights at BX                    LOAD, Y12 and Y13
//	for each column c: acc[c][k%2] += w * x[c][k]  STEP3, STEP1; x in Y14
//
// and in the end out = acc[0] + acc[1]. Even k have Y0-Y5, odd k Y6-Y11, two registers a
// column; AX is at x[0][k], R9 bytes lie between columns, Y15 holds the factor of a sum.

#define MAC(a, b) \
	VFMADD231PS Y14, Y12, a \
	VFMADD231PS Y14, Y13, b

#define STEP3(o, a, b, c, d, e, f) \
	VBROADCASTSS (o)(AX), Y14 \
	MAC(a, b) \
	VBROADCASTSS (o)(AX)(R9*1), Y14 \
	MAC(c, d) \
	VBROADCASTSS (o)(AX)(R9*2), Y14 \
	MAC(e, f)

#define STEP1(o, a, b) \
	VBROADCASTSS (o)(AX), Y14 \
	MAC(a, b)

#define ZERO12 \
	VXORPS Y0, Y0, Y0 \
	VXORPS Y1, Y1, Y1 \
	VXORPS Y2, Y2, Y2 \
	VXORPS Y3, Y3, Y3 \
	VXORPS Y4, Y4, Y4 \
	VXORPS Y5, Y5, Y5 \
	VXORPS Y6, Y6, Y6 \
	VXORPS Y7, Y7, Y7 \
	VXORPS Y8, Y8, Y8 \
	VXORPS Y9, Y9, Y9 \
	VXORPS Y10, Y10, Y10 \
	VXORPS Y11, Y11, Y11
