package repl

import (
	"context"

	"golang.org/x/sys/unix"

	"macaron/internal/errs"
)

func open(ctx context.Context, o Options) (backend, error) {
	switch o.Backend {
	case "", "auto", "bubblewrap":
		return openBubblewrap(ctx, o)
	case "starlark":
		return openStarlark(o)
	}
	return nil, errs.Newf(errs.InvalidRequest, "sandbox.backend is %q; it can be auto, bubblewrap or starlark", errs.Clip(o.Backend))
}

func alive(pid int) bool { return unix.Kill(pid, 0) != unix.ESRCH }
