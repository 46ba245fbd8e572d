// Package disktest has the disk fail under a real process. Its calls to the kernel that open,
// write, sync, rename or remove files below a directory are handed to the test
// (seccomp_unotify(2)), which lets each go on, fails it with EIO or ENOSPC, carries out half of
// a write, or kills the process there. Whoever made the call, the SQLite library or the Go
// runtime, sees what a failing disk shows. Linux only; memory that is mapped is not seen.
package disktest

import (
	"path/filepath"
	"strings"
)

// Fault is what happens at a call.
type Fault string

// The faults.
const (
	Broken Fault = "EIO"
	Full   Fault = "ENOSPC"
	Torn   Fault = "half a write, then ENOSPC" // a call that is not a write fails with ENOSPC
	Killed Fault = "SIGKILL"                   // before the call is made
)

// Plan says which call of a process meets which fault.
type Plan struct {
	Fault Fault
	At    int             // the At-th call from now on, from 1; 0: none
	Stays bool            // every call behind it fails as well
	Of    func(Call) bool // the calls that count; nil: all
}

// Call is one call of the process that a disk answers.
type Call struct {
	Name string // of the system call
	Path string // of the file, relative to the directory that is watched
}

func (c Call) String() string { return c.Name + " " + c.Path }

// Below is a Plan's Of: calls on files whose path begins so.
func Below(prefix string) func(Call) bool {
	return func(c Call) bool { return strings.HasPrefix(c.Path, prefix) }
}

// inside gives a path relative to a directory, if it lies there.
func inside(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, strings.TrimSuffix(path, " (deleted)"))
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
