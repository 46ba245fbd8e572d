package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"macaron/internal/errs"
)

// drain is how long open answers may go on after a stop was asked for.
const drain = 10 * time.Second

// Listen takes the configured address, so that a busy port is told before anything
// else is loaded.
func (a *App) Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", a.cfg.Listen)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		_, port, _ := net.SplitHostPort(a.cfg.Listen)
		return nil, errs.Wrap(errs.AddressInUse, err, fmt.Sprintf("the address %s is taken by another process", a.cfg.Listen),
			"stop that process, or choose another port: PORT="+another(port)+" macaron up")
	}
	return nil, errs.Wrap(errs.AddressInUse, err, fmt.Sprintf("the address %s cannot be used", a.cfg.Listen), "set PORT to a free port of this machine")
}

func another(port string) string {
	if port == "8081" {
		return "8082"
	}
	return "8081"
}

// Run listens and serves until ctx ends, then lets open answers finish within the
// drain time and closes everything.
func (a *App) Run(ctx context.Context) error {
	l, err := a.Listen()
	if err != nil {
		return errors.Join(err, a.Close())
	}
	return a.Serve(ctx, l)
}

// Serve is Run on a listener that is already there.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	a.addr <- l.Addr().String()
	srv := &http.Server{
		Handler:           a.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return errors.Join(err, a.Close())
	case <-ctx.Done():
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer stop()
	err := srv.Shutdown(grace)
	if err != nil {
		err = srv.Close()
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, a.Close())
}
