package disktest

import "golang.org/x/sys/unix"

// form says where a call names its file.
type form int

const (
	byFD     form = iota // argument 0 is a descriptor
	byTarget             // argument 2 is the descriptor that is written
	byPath               // argument 0 is a path
	byAt                 // argument 0 is the directory, 1 the path in it
	byNewAt              // argument 2 is the directory, 3 the path in it: where it will be
	byNew                // argument 1 is the path where it will be
)

// call is a row of the table.
type call struct {
	name  string
	form  form
	write bool // arguments 1 and 2 are bytes and their number
}

// calls are the system calls that change files, and those that open them.
var calls = func() map[int32]call {
	all := map[int32]call{
		unix.SYS_WRITE: {"write", byFD, true}, unix.SYS_PWRITE64: {"pwrite64", byFD, true}, unix.SYS_WRITEV: {name: "writev"}, unix.SYS_PWRITEV: {name: "pwritev"},
		unix.SYS_FSYNC: {name: "fsync"}, unix.SYS_FDATASYNC: {name: "fdatasync"}, unix.SYS_FTRUNCATE: {name: "ftruncate"}, unix.SYS_FALLOCATE: {name: "fallocate"}, unix.SYS_FCHMOD: {name: "fchmod"},
		unix.SYS_COPY_FILE_RANGE: {"copy_file_range", byTarget, false}, unix.SYS_SENDFILE: {name: "sendfile"}, unix.SYS_TRUNCATE: {name: "truncate", form: byPath},
		unix.SYS_OPENAT: {name: "openat", form: byAt}, unix.SYS_MKDIRAT: {name: "mkdirat", form: byAt}, unix.SYS_UNLINKAT: {name: "unlinkat", form: byAt}, unix.SYS_FCHMODAT: {name: "fchmodat", form: byAt},
		unix.SYS_RENAMEAT: {name: "renameat", form: byNewAt}, unix.SYS_RENAMEAT2: {name: "renameat2", form: byNewAt}, unix.SYS_LINKAT: {name: "linkat", form: byNewAt},
	}
	for n, c := range older {
		all[n] = c
	}
	return all
}()
