//go:build !amd64

package kernel

// eachISA runs f with all that there is on this machine.
func eachISA(f func()) { f() }
