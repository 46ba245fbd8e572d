package repl

import (
	"encoding/json"
)

// limited is a command line that lowers the limits of the kernel for itself and then
// becomes the program. It runs inside: a process of another user cannot be limited from
// here without CAP_SYS_RESOURCE, and limits of this process are not the sandbox's.
func (b *bubblewrap) limited(l Limits, args ...string) func(string) []string {
	return func(listener string) []string {
		return append([]string{b.python, "-I", "-S", "-c", b.enter + limiter, rlimits(l, b.groups == nil), listener}, args...)
	}
}

// limiter lowers each limit, soft and hard, never above what it is.
const limiter = `
import json, os, resource as r, sys
if sys.argv[2] != "-1":
    enter(int(sys.argv[2]))
for name, most in json.loads(sys.argv[1]).items():
    hard = r.getrlimit(getattr(r, name))[1]
    most = most if hard == r.RLIM_INFINITY else min(most, hard)
    r.setrlimit(getattr(r, name), (most, most))
try:
    os.execvp(sys.argv[3], sys.argv[3:])
except OSError as e:
    print(sys.argv[3] + ": " + e.strerror, file=sys.stderr)
    sys.exit(127)`

// rlimits are the limits of every process inside, as JSON. address bounds the address
// space too, which is the kernel's only bound of memory where there is no control group:
// loosely, because stacks of threads and the like are reserved and never used.
func rlimits(l Limits, address bool) string {
	m := map[string]uint64{"RLIMIT_NPROC": uint64(l.PIDs), "RLIMIT_CPU": uint64(l.CPUSeconds), "RLIMIT_FSIZE": uint64(l.DiskMB) << 20,
		"RLIMIT_NOFILE": 256, "RLIMIT_CORE": 0, "RLIMIT_MEMLOCK": 64 << 10, "RLIMIT_MSGQUEUE": 0, "RLIMIT_SIGPENDING": 256, "RLIMIT_NICE": 0, "RLIMIT_RTPRIO": 0}
	if address {
		m["RLIMIT_AS"] = uint64(2*l.MemoryMB+1024) << 20
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // numbers
	}
	return string(text)
}
