package disktest

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launch is the variable that makes a test binary the launcher of a watched process; descriptor
// 3 is then a socket to the test.
const launch = "DISKTEST_LAUNCH"

// Main turns the process into the one that is watched if it was started by Start, else it does
// nothing. Call it before anything else: from an init of the test that uses Start.
func Main() {
	if os.Getenv(launch) == "" {
		return
	}
	runtime.LockOSThread()
	err := os.Unsetenv(launch)
	var listener int
	if err == nil {
		listener, err = install()
	}
	if err == nil {
		err = unix.Sendmsg(3, []byte{0}, unix.UnixRights(listener), nil, 0)
	}
	if err == nil {
		err = unix.Close(3)
	}
	if err == nil {
		err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
	}
	panic(err)
}

// The places of struct seccomp_data that a filter reads.
const (
	placeNumber = 0
	placeArch   = 4
)

// filter hands the calls of the table to the listener and lets all others pass.
func filter() []unix.SockFilter {
	numbers := slices.Sorted(maps.Keys(calls))
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	program := []unix.SockFilter{
		load(placeArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: native, Jf: uint8(len(numbers) + 1)},
		load(placeNumber),
	}
	for i, n := range numbers {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(n), Jt: uint8(len(numbers) - i)})
	}
	return append(program,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
	)
}

// install sets the filter on this thread and gives the listener.
func install() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	program := filter()
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&p)))
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}
