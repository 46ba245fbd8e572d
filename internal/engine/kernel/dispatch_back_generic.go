//go:build !amd64

package kernel

func rmsNormBack(dst, dy, x, w []float32, eps float32) { rmsNormBackRef(dst, dy, x, w, eps) }
func swigluBack(dGate, dUp, dy, gate, up []float32)    { swigluBackRef(dGate, dUp, dy, gate, up) }
func gegluBack(dGate, dUp, dy, gate, up []float32)     { gegluBackRef(dGate, dUp, dy, gate, up) }
func dot(x, y []float32) float32                       { return dotLanesRef(x, y) }

func softBack(s, dp, top, inv, d []float32, scale float32) { softBackRef(s, dp, top, inv, d, scale) }

func transpose(dst []float32, ldd int, src []float32, lds, rows, columns int) {
	transposeRef(dst, ldd, src, lds, rows, columns)
}

func rows(dst []float32, step int, cells []byte, f *rowFactors) { rowsRef(dst, step, cells, f) }
