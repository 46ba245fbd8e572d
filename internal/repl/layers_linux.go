package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// probe runs in a sandbox and tells what it finds there.
const probe = `
import ctypes, json, os, resource
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
c = ctypes.CDLL(None, use_errno=True)
def refused(call):
    try:
        return call() == -1
    except OSError:
        return True
print(json.dumps({
    "caps": int(status["CapEff"], 16) | int(status["CapBnd"], 16), "filter": int(status["Seccomp"]), "privs": int(status["NoNewPrivs"]),
    "pid": os.getpid(), "files": [p for p in ("/root", "/home", "/etc", "/sys", "/var") if os.path.exists(p)], "userns": refused(lambda: c.unshare(0x10000000)),
    "net": open("/proc/net/dev").read().count(":"), "env": sorted(os.environ), "host": open("/proc/1/environ").read(),
    "nproc": resource.getrlimit(resource.RLIMIT_NPROC)[1], "cpu": resource.getrlimit(resource.RLIMIT_CPU)[1],
}))
`

type probed struct {
	Caps   uint64   `json:"caps"`
	Filter int      `json:"filter"`
	Privs  int      `json:"privs"`
	UID    uint32   `json:"-"`
	PID    int      `json:"pid"`
	Files  []string `json:"files"`
	Userns bool     `json:"userns"`
	Net    int      `json:"net"`
	Env    []string `json:"env"`
	Host   string   `json:"host"`
	NProc  int64    `json:"nproc"`
	CPU    int64    `json:"cpu"`

	refused Refusals
	naming  string
}

// layers starts a sandbox and asks from within what holds.
func (b *bubblewrap) layers(ctx context.Context) []Layer {
	got, err := b.tryNaming(ctx)
	return []Layer{
		{"namespaces", err == nil && got.PID <= 3 && got.Net == 1 && len(got.Files) == 0, true, told(err, "processes, mounts, network, users, names and control groups of its own")},
		{"capabilities", err == nil && got.Caps == 0 && got.Privs == 1 && got.Userns, true, told(err, "none, none to be had, no user namespace within")},
		{"seccomp", err == nil && got.Filter == 2, true, told(err, "%d system calls are allowed", len(allowed)+len(conditional()))},
		{"variables", err == nil && got.Host == "" && len(got.Env) <= len(environment)+1, true, told(err, "none of this process")},
		{"uid", err == nil && got.UID != 0, b.root, told(err, "inside is user %d of this machine", got.UID)},
		{"rlimits", err == nil && got.NProc > 0 && got.CPU > 0, true, told(err, "processes, CPU time, file size, descriptors")},
		{"cgroup", b.groups != nil, b.root, b.aboutGroups()},
		{"refusals", err == nil && b.naming, false, told(err, "%s", got.naming)},
	}
}

// tryNaming probes with the filter that names what it refuses, and without it where the
// kernel gives no listener: it has none, or something around this process has taken the
// only one, or the Python lacks a module.
func (b *bubblewrap) tryNaming(ctx context.Context) (probed, error) {
	b.naming = true
	got, err := b.probe(ctx)
	if err == nil && got.refused["unshare"] == 1 {
		got.naming = "each refused system call is named and counted"
		return got, nil
	}
	b.naming = false
	why := "the kernel does not tell of them"
	if err != nil {
		why = err.Error()
	}
	got, err = b.probe(ctx)
	got.naming = "refused system calls fail with EPERM and are not named: " + why
	return got, err
}

func told(err error, format string, args ...any) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf(format, args...)
}

func (b *bubblewrap) aboutGroups() string {
	if b.groups == nil {
		return "no control group can be made: memory is bounded by address space for each process, and looked at ten times a second for all together"
	}
	return fmt.Sprintf("memory and processes, version %d", b.groups.version)
}

func (b *bubblewrap) probe(ctx context.Context) (probed, error) {
	ctx, stop := context.WithTimeout(ctx, starting)
	defer stop()
	out := newOutput()
	c := Command{Args: []string{b.python, "-I", "-S", "-B", "-c", probe}}
	exit, err := b.run(ctx, c, Limits{WallMS: int(starting / time.Millisecond)}.or(Default), out)
	if err != nil {
		return probed{}, err
	}
	if exit.Code != 0 {
		return probed{}, errors.New("its Python failed: " + strings.TrimSpace(exit.Output))
	}
	got := probed{UID: exit.uid, refused: exit.Refused}
	err = json.Unmarshal([]byte(exit.Output), &got)
	return got, err
}

// policy names what decides the confinement beside limits.
func (b *bubblewrap) policy() []string {
	list := []string{"bubblewrap", fmt.Sprintf("%x", b.filters.strict), "driver " + driver, fmt.Sprint(environment)}
	if b.groups == nil {
		list = append(list, "no control groups")
	}
	if b.root {
		list = append(list, "another user")
	}
	return list
}
