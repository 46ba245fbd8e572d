// Command macaron is the whole of Macaron in one binary: `macaron up` serves, the
// other sub-commands look after models, adapters and the machine. Exit codes are
// those of package errs; docs/ARCHITECTURE.md lists them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], &env{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
