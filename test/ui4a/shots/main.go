// Command shots photographs the gallery of cards in both themes, for the documents.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"macaron/internal/browser"
	"macaron/internal/ui4a/gallery"
	"macaron/internal/ui4a/runtime"
	"macaron/internal/web"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtime.FramePath, runtime.ServeFrame)
	mux.HandleFunc("GET "+runtime.HostPath+"{name}", runtime.ServeHost)
	mux.HandleFunc("GET "+gallery.Path, gallery.Serve)
	mux.Handle("GET /assets/{name}", web.Handler(web.Deps{}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }() // ends with the listener
	defer server.Close()
	b, err := browser.Start(ctx)
	if err != nil {
		return err
	}
	defer b.Close()
	for name, dark := range map[string]bool{"light": false, "dark": true} {
		if err := shoot(b, "http://"+l.Addr().String()+gallery.Path, "docs/img/ui4a-gallery-"+name+".png", dark); err != nil {
			return err
		}
	}
	return nil
}

func shoot(b *browser.Browser, url, out string, dark bool) error {
	p, err := b.Page(browser.View{Width: 1240, Height: 1500, Dark: dark})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Open(url); err != nil {
		return err
	}
	// Cards come as they are near the view; the picture is made when those in it have their height.
	if err := p.Wait(`document.querySelectorAll("iframe").length > 5 && [...document.querySelectorAll("iframe")].every((f) => f.style.height)`); err != nil {
		return err
	}
	if _, err := browser.Eval[bool](p, `new Promise((done) => setTimeout(() => done(true), 5000))`); err != nil {
		return err
	}
	png, err := p.Screenshot()
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", out, len(png))
	return os.WriteFile(out, png, 0o644)
}
