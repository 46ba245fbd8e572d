package repl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"macaron/internal/errs"
)

// sandboxUID is the user and group that a sandbox of root runs as: of those that
// systemd's table of ids leaves to nobody.
const sandboxUID = 60578

// program is what to run in a new sandbox.
type program struct {
	args   func(listener string) []string // of enter.py's socket, "-1" if there is none
	dir    string
	binds  []Bind
	files  []*os.File // descriptors 3, 4, ... inside; closed here
	stdin  io.Reader
	output *output
	limits Limits
}

// process is a sandbox with a program in it.
type process struct {
	cmd      *exec.Cmd
	init     int    // descriptor of the first process of the sandbox's pid namespace
	initID   int    // its id here
	uid      uint32 // of its user here
	group    *cgroup
	output   *output
	refusals *refusals     // nil: they are not named
	done     chan struct{} // closed when no process of the sandbox is left
	state    *os.ProcessState

	mu     sync.Mutex
	reason string // why it was killed
}

// start runs a program in a sandbox of its own. It returns when the limits hold and the
// program is about to begin.
func (b *bubblewrap) start(ctx context.Context, p program) (*process, error) {
	pipes, err := b.pipes(p.files)
	if err != nil {
		return nil, err
	}
	defer pipes.close()
	cmd := exec.Command(b.bwrap) //nolint:noctx // it outlives the call that starts it
	cmd.Env = []string{}         // not nil, which would inherit: /proc/1/environ of the sandbox shows it
	cmd.ExtraFiles = pipes.inherited
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.stdin, pipes.outputW, pipes.outputW
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if b.root {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: sandboxUID, Gid: sandboxUID}
	}
	proc := &process{cmd: cmd, output: p.output, refusals: pipes.refusals, done: make(chan struct{}), init: -1}
	if b.groups != nil {
		if proc.group, err = b.groups.make(p.limits); err != nil {
			pipes.refusals.close()
			return nil, errs.Wrap(errs.Unsupported, err, "a control group for the sandbox cannot be made: "+err.Error(), "macaron doctor says which layers hold")
		}
	}
	err = b.launch(ctx, proc, p, pipes)
	if err != nil {
		proc.abandon()
		pipes.closeInherited()
		_ = pipes.outputR.SetReadDeadline(time.Now().Add(time.Second)) // what waits at a closed door is killed by the kernel, soon
		said, _ := io.ReadAll(io.LimitReader(pipes.outputR, 4096))     // what bwrap wrote; none is none
		return nil, errs.Wrap(errs.Unsupported, fmt.Errorf("%w: %s", err, said), "the sandbox does not start: "+strings.TrimSpace(err.Error()+" "+string(said)), "macaron doctor says which layers hold")
	}
	p.output.read(pipes.takeOutput())
	go proc.wait()
	return proc, nil
}

// launch does what must happen on the launcher's thread, until bwrap has its own mounts.
func (b *bubblewrap) launch(ctx context.Context, proc *process, p program, pipes *pipes) error {
	return b.launcher.do(func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		placed, undo, err := b.launcher.place(p.binds)
		if err != nil {
			return err
		}
		defer undo()
		// This process may have been born with descriptors that are not its own to pass on.
		if err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
			return fmt.Errorf("closing what is inherited: %w", err)
		}
		proc.cmd.Args = append([]string{"bwrap"}, b.arguments(p, placed, pipes)...)
		if err := proc.cmd.Start(); err != nil {
			return err
		}
		pipes.closeInherited()
		if proc.initID, err = firstProcess(pipes.infoR); err != nil {
			return err
		}
		return proc.confine(pipes.blockW)
	})
}

// firstProcess reads the message of bwrap --info-fd.
func firstProcess(r *os.File) (int, error) {
	if err := r.SetReadDeadline(time.Now().Add(starting)); err != nil {
		return 0, err
	}
	var info struct {
		PID int `json:"child-pid"`
	}
	if err := json.NewDecoder(io.LimitReader(r, 4096)).Decode(&info); err != nil || info.PID <= 1 {
		return 0, errors.New("bwrap stopped before its program began")
	}
	return info.PID, nil
}

// confine puts the sandbox into its control group while bwrap waits at --block-fd, then
// lets it go on.
func (p *process) confine(block *os.File) (err error) {
	if p.init, err = unix.PidfdOpen(p.initID, 0); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d", p.initID), &st); err != nil {
		return err
	}
	p.uid = st.Uid
	if p.group != nil {
		if err := p.group.add(p.cmd.Process.Pid, p.initID); err != nil {
			return fmt.Errorf("joining the control group: %w", err)
		}
	}
	_, err = block.Write([]byte{1})
	return err
}

// kill ends every process of the sandbox. The first reason stands.
func (p *process) kill(reason string) {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = reason
	}
	defer p.mu.Unlock()
	if p.init >= 0 {
		_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0) // gone already is as good
	}
	_ = p.cmd.Process.Kill() // the same
}

// wait waits until bwrap and then the whole pid namespace are gone.
func (p *process) wait() {
	_ = p.cmd.Wait() // the state tells the same
	p.kill("")       // a bwrap that was killed from outside leaves its child to the kernel; make sure
	poll := []unix.PollFd{{Fd: int32(p.init), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(poll, -1); err != unix.EINTR {
			break
		}
	}
	p.mu.Lock()
	_ = unix.Close(p.init)
	p.init = -1
	p.state = p.cmd.ProcessState
	if p.reason == "" && p.group != nil && p.group.starved() {
		p.reason = "it used more memory than it may"
	}
	p.mu.Unlock()
	if p.group != nil {
		_ = p.group.remove() // an empty group that stays is swept at the next start
	}
	p.output.close()
	p.refusals.close()
	close(p.done)
}

// abandon takes back what a failed start left.
func (p *process) abandon() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // gone is as good
		_ = p.cmd.Wait()
	}
	if p.init >= 0 {
		_ = unix.PidfdSendSignal(p.init, unix.SIGKILL, nil, 0)
		_ = unix.Close(p.init)
	}
	if p.group != nil {
		_ = p.group.remove() // swept at the next start
	}
	p.refusals.close()
}

// why says how the sandbox ended.
func (p *process) why() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.reason != "":
		return p.reason
	case p.state == nil:
		return "it was killed"
	}
	code := p.state.ExitCode()
	switch code {
	case 128 + int(unix.SIGKILL), -1:
		return "it was killed, as the kernel does at the limits of memory and CPU time"
	case 128 + int(unix.SIGXCPU):
		return "it used more CPU time than it may"
	}
	return "its Python ended by itself, with status " + strconv.Itoa(code)
}
