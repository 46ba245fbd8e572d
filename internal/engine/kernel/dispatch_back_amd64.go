package kernel

// Kernels of training; see dispatch_float_amd64.go.

func rmsNormBack(dst, dy, x, w []float32, eps float32) {
	if n := len(x); accelerated && n%8 == 0 {
		need(len(dst) >= n && len(dy) >= n && len(w) >= n)
		rmsNormBackAVX2(&dst[0], &dy[0], &x[0], &w[0], eps, n)
		return
	}
	rmsNormBackRef(dst, dy, x, w, eps)
}

func swigluBack(dGate, dUp, dy, gate, up []float32) {
	n := len(gate) &^ 7
	if !accelerated || n == 0 {
		swigluBackRef(dGate, dUp, dy, gate, up)
		return
	}
	need(len(dGate) >= n && len(dUp) >= n && len(dy) >= n && len(up) >= n)
	swigluBackAVX2(&dGate[0], &dUp[0], &dy[0], &gate[0], &up[0], n)
	swigluBackRef(dGate[n:], dUp[n:], dy[n:], gate[n:], up[n:])
}

func gegluBack(dGate, dUp, dy, gate, up []float32) {
	n := len(gate) &^ 7
	if !accelerated || n == 0 {
		gegluBackRef(dGate, dUp, dy, gate, up)
		return
	}
	need(len(dGate) >= n && len(dUp) >= n && len(dy) >= n && len(up) >= n)
	gegluBackAVX2(&dGate[0], &dUp[0], &dy[0], &gate[0], &up[0], n)
	gegluBackRef(dGate[n:], dUp[n:], dy[n:], gate[n:], up[n:])
}

func softBack(s, dp, top, inv, d []float32, scale float32) {
	n := len(s)
	if !accelerated || n == 0 {
		softBackRef(s, dp, top, inv, d, scale)
		return
	}
	need(n%8 == 0 && len(dp) >= n && len(top) >= n && len(inv) >= n && len(d) >= n)
	softBackAVX2(&s[0], &dp[0], &top[0], &inv[0], &d[0], scale, n)
}

func dot(x, y []float32) float32 {
	if n := len(x); accelerated && n > 0 && n%8 == 0 {
		need(len(y) >= n)
		return dotAVX2(&x[0], &y[0], n)
	}
	return dotLanesRef(x, y)
}

func transpose(dst []float32, ldd int, src []float32, lds, rows, columns int) {
	r, c := rows&^7, columns&^7
	if !accelerated || r == 0 || c == 0 {
		transposeRef(dst, ldd, src, lds, rows, columns)
		return
	}
	need(len(src) >= (rows-1)*lds+columns && len(dst) >= (columns-1)*ldd+rows)
	for i := 0; i < r; i += 8 {
		transposeAVX2(&dst[i], ldd, &src[i*lds], lds, c)
	}
	if c < columns {
		transposeRef(dst[c*ldd:], ldd, src[c:], lds, r, columns-c)
	}
	if r < rows {
		transposeRef(dst[r:], ldd, src[r*lds:], lds, rows-r, columns)
	}
}

func rows(dst []float32, step int, cells []byte, f *rowFactors) {
	if !accelerated {
		rowsRef(dst, step, cells, f)
		return
	}
	need(step >= tileRows*tileRows && len(dst) >= step+tileRows*tileRows && len(cells) >= qBlock*tileRows)
	rowsAVX2(&dst[0], step, &cells[0], f)
}

//go:noescape
func rmsNormBackAVX2(dst, dy, x, w *float32, eps float32, n int)

//go:noescape
func swigluBackAVX2(dGate, dUp, dy, gate, up *float32, n int)

//go:noescape
func gegluBackAVX2(dGate, dUp, dy, gate, up *float32, n int)

//go:noescape
func softBackAVX2(s, dp, top, inv, d *float32, scale float32, n int)

//go:noescape
func dotAVX2(x, y *float32, n int) float32

//go:noescape
func transposeAVX2(dst *float32, ldd int, src *float32, lds, columns int)

//go:noescape
func rowsAVX2(dst *float32, step int, cells *byte, f *rowFactors)
