package repl

import (
	"bytes"
	"encoding/binary"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// allowed are the system calls of a sandbox: what Python, a shell, compilers and the
// usual tools need. What is not here fails with EPERM, and is named where it can be, among it every way to another
// namespace, ptrace, bpf, io_uring, keyrings, userfaultfd, perf events, modules, and
// socket itself: socketpair is there for what talks to its own children.
var allowed = []string{
	// files
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "open", "openat", "openat2", "creat", "close", "close_range",
	"stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "lseek", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64",
	"rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat", "link", "linkat", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2",
	"chown", "fchown", "lchown", "fchownat", "umask", "truncate", "ftruncate", "fallocate", "fadvise64", "fsync", "fdatasync", "sync_file_range", "syncfs", "utime", "utimes",
	"utimensat", "futimesat", "copy_file_range", "sendfile", "splice", "tee", "getcwd", "chdir", "fchdir", "fcntl", "flock", "dup", "dup2", "dup3", "pipe", "pipe2",
	"getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "memfd_create", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
	// waiting
	"poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "signalfd", "signalfd4",
	"timerfd_create", "timerfd_settime", "timerfd_gettime", "nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time", "times", "alarm", "getitimer", "setitimer",
	"timer_create", "timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete", "pause", "restart_syscall",
	// memory
	"brk", "mmap", "munmap", "mprotect", "mremap", "madvise", "msync", "mincore", "mlock", "mlock2", "munlock", "membarrier", "pkey_alloc", "pkey_free", "pkey_mprotect",
	// processes
	"fork", "vfork", "execve", "execveat", "exit", "exit_group", "wait4", "waitid", "kill", "tkill", "tgkill", "getpid", "getppid", "gettid", "getpgrp", "getpgid", "setpgid", "getsid", "setsid",
	"set_tid_address", "set_robust_list", "get_robust_list", "rseq", "futex", "futex_waitv", "arch_prctl", "sched_yield", "sched_getaffinity", "sched_setaffinity", "sched_getparam",
	"sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min", "getcpu", "getpriority", "pidfd_open", "pidfd_send_signal",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigsuspend", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "sigaltstack",
	// who and what
	"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups", "setuid", "setgid", "setresuid", "setresgid", "setreuid", "setregid", "setgroups", "setfsuid", "setfsgid",
	"capget", "uname", "sysinfo", "getrlimit", "setrlimit", "getrusage", "getrandom",
	// between processes of the sandbox
	"socketpair", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown", "getsockname", "getpeername", "getsockopt", "setsockopt",
	"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semctl", "semtimedop",
}

// newNamespaces are the flags of clone that make a namespace.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// conditional are allowed for some arguments only.
func conditional() []seccomp.NameWithConditions {
	only := func(name string, argument uint32, op seccomp.Operation, values ...uint64) (list []seccomp.NameWithConditions) {
		for _, v := range values {
			list = append(list, seccomp.NameWithConditions{Name: name, Conditions: seccomp.ArgumentConditions{{Argument: argument, Operation: op, Value: v}}})
		}
		return list
	}
	list := only("clone", 0, seccomp.BitsNotSet, newNamespaces)
	list = append(list, only("prctl", 0, seccomp.Equal, unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_PDEATHSIG, unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_CAPBSET_READ, unix.PR_GET_NO_NEW_PRIVS, unix.PR_SET_VMA)...)
	// Reading or lowering one's own limits; another process's are out of reach.
	list = append(list, only("prlimit64", 0, seccomp.Equal, 0)...)
	// What programs ask of terminals and descriptors; never TIOCSTI or TIOCLINUX.
	return append(list, only("ioctl", 1, seccomp.Equal, unix.TCGETS, unix.TIOCGWINSZ, unix.TIOCGPGRP, fionread, fionbio, fioclex, fionclex)...)
}

// The numbers of asm-generic/ioctls.h, on amd64 and arm64.
const (
	fionread = 0x541b
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451
)

// filters are the programs of a sandbox, in the bytes that the kernel reads.
type filters struct {
	// strict refuses by itself. It stands alone where no listener is to be had.
	strict []byte
	// naming lets the same pass as strict and hands all the rest to refusals: calls of this
	// processor's table, of x32, of another processor's table, and numbers that are in none.
	// enter.py installs it; bwrap installs none beside it, because a filter that refuses by
	// itself has the last word, and then nobody is told.
	naming []byte
}

func newFilters() (f filters, err error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return f, err
	}
	names := make([]string, 0, len(allowed))
	for _, n := range allowed {
		if _, there := info.SyscallNames[n]; there { // open and its like are not on every processor
			names = append(names, n)
		}
	}
	// Its flags lie in memory, which no filter reads: libc then takes clone.
	clone3 := seccomp.SyscallGroup{Names: []string{"clone3"}, Action: absent}
	refuse := seccomp.ActionErrno | seccomp.Action(unix.EPERM)
	pass := seccomp.SyscallGroup{Names: names, NamesWithCondtions: conditional(), Action: seccomp.ActionAllow}
	if f.strict, err = assemble(refuse, pass, clone3); err != nil {
		return f, err
	}
	f.naming, err = assemble(seccomp.ActionUserNotify, pass)
	return f, err
}

// absent is how calls fail that this program has no table for: as in a kernel without them.
const absent = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)

// assemble has otherwise happen to what is in no group. The library knows no default of
// handing out, so that another action, which no group has, stands in its place. It refuses
// x32 by itself: where calls are handed out, those are too.
func assemble(otherwise seccomp.Action, groups ...seccomp.SyscallGroup) ([]byte, error) {
	policy := seccomp.Policy{DefaultAction: seccomp.ActionTrap, Syscalls: groups}
	program, err := policy.Assemble()
	if err != nil {
		return nil, err
	}
	for i, in := range program {
		r, ok := in.(bpf.RetConstant)
		if ok && (r.Val == uint32(seccomp.ActionTrap) || r.Val == uint32(absent) && otherwise == seccomp.ActionUserNotify) {
			program[i] = bpf.RetConstant{Val: uint32(otherwise)}
		}
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = binary.Write(&out, binary.NativeEndian, raw)
	return out.Bytes(), err
}
