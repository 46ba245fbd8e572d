// Package refusal takes the system calls that a sandbox's filter hands to user space
// (seccomp_unotify(2)) and refuses each. What it reads is the number that the kernel
// copied: nothing of the caller's memory, which could change meanwhile, and nothing is
// ever allowed to go on.
package refusal

// Call is a system call that waits for its refusal.
type Call struct {
	ID     uint64 // of the kernel, for the answer
	Number int32  // of the processor's table
	Arch   uint32 // AUDIT_ARCH_ of the call
}
