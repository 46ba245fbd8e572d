package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"macaron/internal/errs"
)

// Listen takes an address, so that a busy port is told before anything is fetched
// or loaded. It does not wait, so a ctx that has ended changes nothing.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(context.WithoutCancel(ctx), "tcp", address)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		_, port, _ := net.SplitHostPort(address)
		return nil, errs.Wrap(errs.AddressInUse, err, fmt.Sprintf("the address %s is taken by another process", address),
			fmt.Sprintf("stop that process, or choose another port: PORT=%[1]s macaron up, macaron engine serve --port %[1]s", another(port)))
	}
	return nil, errs.Wrap(errs.AddressInUse, err, fmt.Sprintf("the address %s cannot be used", address), "choose a free port of this machine, with PORT or --port")
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
	l, err := Listen(ctx, a.cfg.Listen)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	return a.Serve(ctx, l)
}

// Serve is Run on a listener that is already there.
func (a *App) Serve(ctx context.Context, l net.Listener) error {
	if !a.private {
		if err := a.lock.Serve(l.Addr().String()); err != nil {
			a.log.Error("other commands do not find this server", "err", err)
		}
	}
	a.log.Info("listening", "address", l.Addr().String(), "home", a.cfg.Home, "contract", a.cfg.Contract)
	return a.serve(ctx, l, a.handler, a.generator.wait)
}

// serve answers on a listener until ctx ends, the listener fails or what is loaded cannot
// be; then open answers may finish within the drain time, and everything is closed.
func (f *front) serve(ctx context.Context, l net.Listener, handler http.Handler, loaded func(context.Context) error) error {
	f.addr <- l.Addr().String()
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	srv := &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(f.log.Handler(), slog.LevelDebug),
	}
	done := make(chan error, 1)
	go func() { done <- f.accept(srv, l) }()
	err := f.untilEnd(ctx, done, loaded)
	f.stop.pause()
	if srv.Shutdown(f.stop.within()) != nil {
		cut() // what still streams is closed as interrupted, and says so
		idle := make(chan struct{})
		go func() { f.active.Wait(); close(idle) }()
		select {
		case <-idle:
		case <-time.After(last):
		}
		err = errors.Join(err, srv.Close())
	}
	f.active.Wait()
	return errors.Join(err, f.Close())
}

// accept serves plain or TLS connections, so many at once.
func (f *front) accept(srv *http.Server, l net.Listener) error {
	if f.most > 0 {
		l = &bounded{Listener: l, places: make(chan struct{}, f.most), closed: make(chan struct{})}
	}
	if f.tls == nil {
		return srv.Serve(l)
	}
	srv.TLSConfig = f.tls
	return srv.ServeTLS(l, "", "")
}

// last is how long a cut answer may take to say that it was cut. Tests have more, for busy machines.
var last = time.Second

// untilEnd waits for the stop, for a listener that fails, or for a model that
// cannot be loaded, without which there is nothing to serve.
func (f *front) untilEnd(ctx context.Context, served <-chan error, loaded func(context.Context) error) error {
	failed := make(chan error, 1)
	go func() {
		if err := loaded(ctx); err != nil && ctx.Err() == nil {
			failed <- err
		}
	}()
	select {
	case err := <-served:
		return errs.Wrap(errs.Internal, err, "the listener failed", "look at the log of this process")
	case err := <-failed:
		return err
	case <-ctx.Done():
		f.log.Info("stopping; open answers may finish", "within", f.stop.drain.String(), "after", f.stop.delay.String())
		return nil
	}
}
