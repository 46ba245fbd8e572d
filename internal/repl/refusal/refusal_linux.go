package refusal

import (
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

// Receive takes the next call that waits at a listener. It blocks if none does: ask poll(2)
// first, and read from one goroutine only. ENOENT means that the caller is gone.
func Receive(listener int) (Call, error) {
	var n notice
	if err := ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
		return Call{}, err
	}
	return Call{ID: n.id, Number: n.number, Arch: n.arch}, nil
}

// Refuse has the call fail with an error. ENOENT means that the caller is gone.
func Refuse(listener int, c Call, as unix.Errno) error {
	a := answer{id: c.ID, errno: -int32(as)}
	return ioctl(listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a))
}

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}
