package kernel

// ISA names the instruction set whose kernels are in use: "avx512+vnni", "avx2+fma" or
// "generic" (plain Go, same bits, many times slower).
func ISA() string {
	switch {
	case !accelerated:
		return "generic"
	case vnni:
		return "avx512+vnni"
	}
	return "avx2+fma"
}
