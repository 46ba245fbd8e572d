package kernel

// ISA names the instruction set whose kernels are in use: "avx2+fma" or "generic"
// (plain Go, same bits, many times slower).
func ISA() string {
	if accelerated {
		return "avx2+fma"
	}
	return "generic"
}
