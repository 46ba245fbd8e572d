//go:build !linux

package repl

import (
	"context"

	"macaron/internal/errs"
)

func open(_ context.Context, o Options) (backend, error) {
	if o.Backend == "starlark" {
		return openStarlark(o)
	}
	return nil, errs.New(errs.Unsupported, "the sandbox needs Linux: namespaces, control groups and filters of system calls are its own", "run the harness in a Linux machine or container, or set sandbox.backend = \"starlark\"")
}

func alive(int) bool { return true }
