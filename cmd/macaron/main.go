// Command macaron is the whole of Macaron in one binary: `macaron up` serves, the
// other sub-commands look after models, adapters and the machine. Exit codes are
// those of package errs; docs/ARCHITECTURE.md lists them.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"macaron/cmd/macaron/cli"
)

func main() {
	stop, hurry, quit := stops()
	code := execute(stop, os.Args[1:], &cli.Env{In: os.Stdin, Out: cli.OnScreen(os.Stdout), Err: cli.OnScreen(os.Stderr), Hurry: hurry})
	quit()
	os.Exit(code)
}

// stops ends a context at the first signal to stop; a second one says that nobody can wait, and
// a third ends the process as it would without us.
func stops() (ctx context.Context, hurry <-chan struct{}, quit func()) {
	signals, second := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-signals
		cancel()
		<-signals
		signal.Stop(signals)
		close(second)
	}()
	return ctx, second, cancel
}
