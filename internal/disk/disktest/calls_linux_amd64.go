package disktest

import "golang.org/x/sys/unix"

const native = unix.AUDIT_ARCH_X86_64

// older are calls that newer processors do without.
var older = map[int32]call{
	unix.SYS_OPEN: {name: "open", form: byPath}, unix.SYS_CREAT: {name: "creat", form: byPath}, unix.SYS_MKDIR: {name: "mkdir", form: byPath}, unix.SYS_RMDIR: {name: "rmdir", form: byPath},
	unix.SYS_UNLINK: {name: "unlink", form: byPath}, unix.SYS_CHMOD: {name: "chmod", form: byPath}, unix.SYS_RENAME: {name: "rename", form: byNew}, unix.SYS_LINK: {name: "link", form: byNew},
}
