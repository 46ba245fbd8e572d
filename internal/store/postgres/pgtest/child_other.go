//go:build !linux

package pgtest

import "syscall"

// endWithParent has no way to do it here.
func endWithParent(*syscall.SysProcAttr) {}
