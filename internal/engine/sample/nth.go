package sample

// Nth is the seed of the i-th of several answers to one prompt; the first's is the seed
// itself.
func Nth(seed uint64, i int) uint64 {
	x := seed + uint64(i)*0x9E3779B97F4A7C15 // a step of the golden ratio, then mixed: neighbouring seeds share no answers
	if i == 0 {
		return x
	}
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
