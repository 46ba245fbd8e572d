package disktest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notice is struct seccomp_notif of linux/seccomp.h; the kernel demands it zeroed.
type notice struct {
	id          uint64
	pid, flags  uint32
	number      int32
	arch        uint32
	instruction uint64
	args        [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	errno int32 // negative
	flags uint32
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		if errno == 0 {
			return nil
		}
		if errno != unix.EINTR {
			return errno
		}
	}
}

// file gives the file that a call is about, "" if that cannot be told: it is a socket, or the
// caller is gone.
func (n *notice) file() string {
	switch c := calls[n.number]; c.form {
	case byFD:
		return n.link("fd/%d", int32(n.args[0]))
	case byTarget:
		return n.link("fd/%d", int32(n.args[2]))
	case byPath:
		return n.at(unix.AT_FDCWD, n.args[0])
	case byNew:
		return n.at(unix.AT_FDCWD, n.args[1])
	case byAt:
		return n.at(int32(n.args[0]), n.args[1])
	default:
		return n.at(int32(n.args[2]), n.args[3])
	}
}

// link reads a link below /proc of the caller.
func (n *notice) link(format string, a ...any) string {
	to, err := os.Readlink(fmt.Sprintf("/proc/%d/", n.pid) + fmt.Sprintf(format, a...))
	if err != nil || !filepath.IsAbs(to) {
		return ""
	}
	return to
}

// at joins a directory's descriptor and the path at an address of the caller.
func (n *notice) at(dir int32, address uint64) string {
	b := n.memory(address, unix.PathMax)
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		return ""
	}
	path := string(b[:end])
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	from := n.link("cwd")
	if dir != unix.AT_FDCWD {
		from = n.link("fd/%d", dir)
	}
	if from == "" {
		return ""
	}
	return filepath.Join(from, path)
}

// memory reads what there is of up to size bytes of the caller.
func (n *notice) memory(address uint64, size int) []byte {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.pid))
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, size)
	for done := 0; done < size; { // page by page: the next one may not be there
		step := min(size-done, os.Getpagesize()-int((address+uint64(done))%uint64(os.Getpagesize())))
		got, err := f.ReadAt(b[done:done+step], int64(address)+int64(done))
		if done += got; err != nil {
			return b[:done]
		}
	}
	return b
}

// process is the caller's process id; the notice has its thread's.
func (n *notice) process() (pid int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "\nTgid:")
	_, err = fmt.Sscan(rest, &pid)
	return pid, err
}

// half carries out half of a write for the caller, and gives how much that is.
func (n *notice) half() (int, error) {
	c := calls[n.number]
	size := int(n.args[2])
	if !c.write || size < 2 {
		return 0, unix.ENOSPC
	}
	b := n.memory(n.args[1], size/2)
	pid, err := n.process()
	if err != nil {
		return 0, err
	}
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(process)
	fd, err := unix.PidfdGetfd(process, int(int32(n.args[0])), 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	if n.number == unix.SYS_PWRITE64 {
		return unix.Pwrite(fd, b, int64(n.args[3]))
	}
	return unix.Write(fd, b)
}
