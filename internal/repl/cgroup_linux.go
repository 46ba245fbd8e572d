package repl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// made numbers the groups of this process, whatever pool they are of.
var made atomic.Int64

// cgroups makes a control group for each sandbox: of version 2 where memory and pids
// can be had there, else of version 1.
type cgroups struct {
	version int
	memory  string // directory below which groups are made
	pids    string // the same one in version 2
}

// cgroup is the group of one sandbox.
type cgroup struct {
	of           *cgroups
	memory, pids string
}

// findCgroups looks below root, which is /sys/fs/cgroup, with self, the text of
// /proc/self/cgroup. It makes and removes a group to know that it can.
func findCgroups(root, self string) (*cgroups, error) {
	v2, err2 := findV2(root, self)
	if err2 == nil {
		return v2, nil
	}
	v1, err1 := findV1(root, self)
	if err1 == nil {
		return v1, nil
	}
	return nil, fmt.Errorf("version 2: %w; version 1: %w", err2, err1)
}

// own gives the path of this process in the hierarchy of a controller; "" names version 2.
func own(self, controller string) string {
	for line := range strings.Lines(self) {
		if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 && hasWord(f[1], controller) {
			return f[2]
		}
	}
	return "/"
}

func hasWord(list, word string) bool {
	for w := range strings.SplitSeq(list, ",") {
		if w == word {
			return true
		}
	}
	return false
}

// below are the places to try: the process's own group, then the root, as a container
// sees the one or the other.
func below(root, path string) []string {
	dirs := []string{filepath.Join(root, filepath.Clean("/"+path)), root}
	return dirs
}

func findV2(root, self string) (*cgroups, error) {
	err := errors.New("not mounted")
	for _, dir := range below(root, own(self, "")) {
		has, e := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		if e != nil {
			continue
		}
		if words := strings.Fields(string(has)); !contains(words, "memory") || !contains(words, "pids") {
			err = fmt.Errorf("%s has no memory and pids controllers", dir)
			continue
		}
		// Fails where dir itself holds processes, which version 2 allows at the root only.
		if err = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+memory +pids"), 0); err != nil {
			continue
		}
		c := &cgroups{version: 2, memory: dir, pids: dir}
		if err = c.try(); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func findV1(root, self string) (*cgroups, error) {
	err := errors.New("not mounted")
	for _, memory := range below(filepath.Join(root, "memory"), own(self, "memory")) {
		for _, pids := range below(filepath.Join(root, "pids"), own(self, "pids")) {
			c := &cgroups{version: 1, memory: memory, pids: pids}
			if err = c.try(); err == nil {
				return c, nil
			}
		}
	}
	return nil, err
}

func (c *cgroups) try() error {
	g, err := c.make(Default)
	if err != nil {
		return err
	}
	return g.remove()
}

// make gives a group with limits and nobody in it.
func (c *cgroups) make(l Limits) (*cgroup, error) {
	name := fmt.Sprintf("macaron-%d-%d", os.Getpid(), made.Add(1))
	g := &cgroup{of: c, memory: filepath.Join(c.memory, name), pids: filepath.Join(c.pids, name)}
	for _, dir := range g.dirs() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, errors.Join(err, g.remove())
		}
	}
	if err := g.limit(l); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func (g *cgroup) dirs() []string {
	if g.of.version == 2 {
		return []string{g.memory}
	}
	return []string{g.memory, g.pids}
}

func (g *cgroup) limit(l Limits) error {
	bytes := strconv.Itoa(l.MemoryMB << 20)
	type setting struct {
		dir, file, value string
		optional         bool // swap is not accounted everywhere
	}
	list := []setting{{g.memory, "memory.max", bytes, false}, {g.memory, "memory.swap.max", "0", true}, {g.memory, "memory.oom.group", "1", true}}
	if g.of.version == 1 {
		list = []setting{{g.memory, "memory.limit_in_bytes", bytes, false}, {g.memory, "memory.memsw.limit_in_bytes", bytes, true}}
	}
	// Two more than the sandbox may have: bwrap's own two processes.
	list = append(list, setting{g.pids, "pids.max", strconv.Itoa(l.PIDs + 2), false})
	for _, s := range list {
		if err := os.WriteFile(filepath.Join(s.dir, s.file), []byte(s.value), 0); err != nil && !(s.optional && errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	return nil
}

// add moves processes into the group; what they start is born there.
func (g *cgroup) add(pids ...int) error {
	for _, dir := range g.dirs() {
		for _, p := range pids {
			if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(p)), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// starved tells whether the kernel killed a process of the group for its memory.
func (g *cgroup) starved() bool {
	file := "memory.events"
	if g.of.version == 1 {
		file = "memory.oom_control"
	}
	text, _ := os.ReadFile(filepath.Join(g.memory, file)) // gone with the group: then nobody asks
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "oom_kill" {
			return f[1] != "0"
		}
	}
	return false
}

// remove deletes the group; the kernel refuses while a process is in it.
func (g *cgroup) remove() error {
	var list []error
	for _, dir := range g.dirs() {
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			list = append(list, err)
		}
	}
	return errors.Join(list...)
}

// sweep removes empty groups of processes that are no more.
func (c *cgroups) sweep() {
	for _, parent := range []string{c.memory, c.pids} {
		dirs, _ := filepath.Glob(filepath.Join(parent, "macaron-*-*")) // the pattern is a good one
		for _, dir := range dirs {
			var pid, n int
			if _, err := fmt.Sscanf(filepath.Base(dir), "macaron-%d-%d", &pid, &n); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
				_ = os.Remove(dir) // refused while somebody is in it, and tried again at the next start
			}
		}
	}
}
