package pgtest

import (
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
)

// runAs says as whom the cluster runs, and gives that user the directory: this user,
// or, since Postgres refuses root, an unprivileged one.
func runAs(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	endWithParent(attr)
	if os.Getuid() != 0 {
		return attr, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, int(uid), int(gid))
}

// child starts a program and gives what ends it. The thread that starts it lives as
// long, since a child may be tied to the thread that is its parent.
func child(cmd *exec.Cmd) (end func(), err error) {
	started, over := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer close(over)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it ends because it was told to
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // fast shutdown; an error means that it has ended
		<-over
	}, nil
}
