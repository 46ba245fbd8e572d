package pgtest

import "syscall"

// endWithParent ends the server when the test's process ends, however it does.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGINT }
