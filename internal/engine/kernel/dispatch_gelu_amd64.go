package kernel

func geglu(dst, gate, up []float32) {
	n := len(gate) &^ 7
	if !accelerated || n == 0 {
		gegluRef(dst, gate, up)
		return
	}
	need(len(dst) >= n && len(up) >= n)
	gegluAVX2(&dst[0], &gate[0], &up[0], n)
	gegluRef(dst[n:], gate[n:], up[n:])
}

func gelu(x []float32) {
	n := len(x) &^ 7
	if !accelerated || n == 0 {
		geluRef(x)
		return
	}
	geluAVX2(&x[0], n)
	geluRef(x[n:])
}
