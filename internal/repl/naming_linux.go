package repl

import (
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"

	"macaron/internal/repl/refusal"
)

// foreign are the tables of 32-bit programs that 64-bit processors still run.
var foreign = []*arch.Info{arch.I386, arch.ARM}

// unnamed stands for every number that is in no table: names are counted, and code must not
// be able to make up new ones.
const unnamed = "unnamed"

// callName is what logs and records say of a call: mount, x32:mount, i386:mount.
func callName(native *arch.Info, c refusal.Call) string {
	if x32(native, c) {
		return "x32:" + named(arch.X32, c.Number&^int32(arch.X32.SeccompMask))
	}
	if c.Arch == uint32(native.ID) {
		return named(native, c.Number)
	}
	for _, other := range foreign {
		if c.Arch == uint32(other.ID) {
			return other.Name + ":" + named(other, c.Number)
		}
	}
	return unnamed
}

func named(table *arch.Info, number int32) string {
	if name, ok := table.SyscallNumbers[int(number)]; ok {
		return name
	}
	return unnamed
}

// x32 tells calls of the processor's own table with 32-bit pointers.
func x32(native *arch.Info, c refusal.Call) bool {
	return native == arch.X86_64 && c.Arch == uint32(native.ID) && c.Number >= int32(arch.X32.SeccompMask)
}

// failure is how a refused call fails: clone3 and x32 as in a kernel that has neither, since
// libc then takes clone.
func failure(native *arch.Info, c refusal.Call) unix.Errno {
	if x32(native, c) || callName(native, c) == "clone3" {
		return unix.ENOSYS
	}
	return unix.EPERM
}
