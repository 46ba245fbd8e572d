package repl

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// run runs a command in a sandbox of its own until it ends or a limit ends it.
func (b *bubblewrap) run(ctx context.Context, c Command, l Limits, out *output) (Exit, error) {
	out.begin(l.OutputBytes, 0, nil)
	args := c.Args
	for k, v := range c.Env {
		args = append([]string{"/usr/bin/env", k + "=" + v}, args...)
	}
	proc, err := b.start(ctx, program{args: b.limited(l, args...), dir: cmp.Or(c.Dir, "/"), binds: append(slices.Clone(c.Binds), b.interpreterTree()...), stdin: c.Stdin, output: out, limits: l})
	if err != nil {
		return Exit{}, err
	}
	wall := time.Duration(l.WallMS) * time.Millisecond
	limit := time.AfterFunc(wall, func() { proc.kill("it ran longer than " + wall.String()) })
	defer limit.Stop()
	stop := context.AfterFunc(ctx, func() { proc.kill("it was canceled") })
	defer stop()
	proc.attend(c, l)
	exit := Exit{uid: proc.uid}
	exit.Output, exit.Truncated, _ = out.take()
	exit.Code = proc.state.ExitCode()
	exit.Refused = proc.refusals.take()
	proc.mu.Lock()
	exit.Reason = proc.reason
	proc.mu.Unlock()
	if exit.Code < 0 {
		exit.Code = 128 + int(unix.SIGKILL)
	}
	return exit, nil
}

// attend waits for the end and looks at what the kernel does not bound.
func (p *process) attend(c Command, l Limits) {
	for {
		select {
		case <-p.done:
			return
		case <-time.After(lookRunning):
		}
		if why := p.excess(c, l); why != "" {
			p.kill(why)
		}
	}
}

func (p *process) excess(c Command, l Limits) string {
	u := p.usage()
	switch {
	case u.cpu > float64(l.CPUSeconds):
		return "it used more CPU time than it may"
	case u.memory > int64(l.MemoryMB)<<20:
		return "it used more memory than it may"
	}
	for _, bind := range c.Binds {
		if !bind.Writable {
			continue
		}
		if bytes, files := diskUse(bind.From, int64(l.DiskMB)<<20); bytes > int64(l.DiskMB)<<20 || files > mostFiles {
			return "it wrote more than it may to " + bind.To
		}
	}
	return ""
}

// own gives a file that this process made to the sandbox's user.
func (b *bubblewrap) own(f *os.File) error {
	if !b.root {
		return nil
	}
	return f.Chown(sandboxUID, sandboxUID)
}
