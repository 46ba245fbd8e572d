package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"

	"macaron/internal/app"
	"macaron/internal/config"
)

// profiled serves as `macaron serve` does, from the environment's settings, and writes a CPU
// profile of it until it is told to end.
func profiled(path string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c, err := config.Load(nil)
	if err != nil {
		return err
	}
	l, err := app.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	a, err := app.New(c, app.Options{Version: "profiled"})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return a.Serve(ctx, l)
}
