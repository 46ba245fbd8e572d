package disktest

import "golang.org/x/sys/unix"

const native = unix.AUDIT_ARCH_AARCH64

// older is empty: this processor never had them.
var older map[int32]call
