package repl

import (
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const limitsHold = true

// startAlone starts a worker away from the terminal, with no descriptor that this process
// was born with.
func startAlone(cmd *exec.Cmd) error {
	if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// limitSelf bounds the worker's own process: memory beyond what its program reserved at
// its start, CPU time, and no files or processes at all.
func limitSelf(text string) error {
	l, err := limitsOf(text)
	if err != nil {
		return err
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	pages, err := strconv.ParseUint(strings.Fields(string(statm))[0], 10, 64)
	if err != nil {
		return err
	}
	// Twice the limit and what the Go runtime reserves; the watch has the limit itself.
	memory := pages*uint64(os.Getpagesize()) + uint64(2*l.MemoryMB+512)<<20
	for which, n := range map[int]uint64{unix.RLIMIT_AS: memory, unix.RLIMIT_CPU: uint64(l.CPUSeconds), unix.RLIMIT_FSIZE: 0, unix.RLIMIT_CORE: 0} {
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
