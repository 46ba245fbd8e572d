package repl

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// usage adds up what the processes below the first one of the sandbox use.
func (p *process) usage() usage {
	var u usage
	todo := []int{p.initID}
	for seen := 0; len(todo) > 0 && seen < 4096; seen++ {
		pid := todo[0]
		todo = append(todo[1:], children(pid)...)
		cpu, memory := one(pid)
		u.cpu += cpu
		if p.group == nil {
			u.memory += memory
		}
	}
	return u
}

// children are the processes that the threads of one have started and that live. What
// loses its parent becomes the first process's.
func children(pid int) (list []int) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // gone: it has none
	for _, t := range threads {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for _, f := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(f); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// one gives a process's CPU time with that of children it has waited for, in seconds,
// and the memory that it shares with no file.
func one(pid int) (cpu float64, memory int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // gone: it uses nothing
	if i := strings.LastIndexByte(string(text), ')'); i >= 0 {
		f := strings.Fields(string(text[i+1:]))
		for k := 11; k < 15 && k < len(f); k++ { // utime, stime, cutime, cstime
			n, _ := strconv.ParseFloat(f[k], 64) // a number, as the kernel says
			cpu += n / 100                       // USER_HZ
		}
	}
	text, _ = os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if f := strings.Fields(string(text)); len(f) > 2 {
		resident, _ := strconv.ParseInt(f[1], 10, 64) // as above
		shared, _ := strconv.ParseInt(f[2], 10, 64)
		memory = (resident - shared) * int64(os.Getpagesize())
	}
	return cpu, memory
}
