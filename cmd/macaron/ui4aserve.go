package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"macaron/internal/browser"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/serve"
)

// cardSurface is the surface on which the page shows its one card.
var cardSurface = string(ui4a.Canvas("card"))

func newUI4AServe(e *env) *cobra.Command {
	port := 0
	c := &cobra.Command{
		Use: "serve FILE", Short: "Show a card on a page of this machine, as its file changes", Args: args(1, 1, "the card's file"),
		Long: "Shows the card behind the boundary that cards have everywhere, what is wrong with it, its Actions, and what a model\n" +
			"would have seen of each. The page is for this machine alone; no model is asked. Ends with Ctrl-C.",
		Example: "  macaron ui4a serve budget.ui4a.tsx",
		RunE:    func(cmd *cobra.Command, given []string) error { return e.serveCard(cmd.Context(), given[0], port) },
	}
	c.Flags().IntVar(&port, "port", 0, "port on 127.0.0.1; 0 takes a free one")
	return c
}

func (e *env) serveCard(ctx context.Context, file string, port int) error {
	s := serve.New(cardSurface, func() (string, error) { return e.readCard(file) })
	if _, err := s.Compile(); err != nil {
		return err
	}
	url, end, err := listenCard(s, port)
	if err != nil {
		return err
	}
	defer end()
	if e.json {
		if err := e.printJSON(map[string]string{"url": url}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.out, "%s is shown on %s\n", file, url)
	}
	<-ctx.Done()
	return nil
}

// listenCard serves a card's page on a loopback address until end is called.
func listenCard(s *serve.Server, port int) (url string, end func(), err error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return "", nil, errs.Wrap(errs.AddressInUse, err, "the port cannot be listened on", "take another with --port, or 0 for a free one")
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // ends with Close
	return "http://" + l.Addr().String(), func() { _ = server.Close() }, nil
}

func newUI4AShot(e *env) *cobra.Command {
	shot := cardShot{width: 390, theme: "light"}
	c := &cobra.Command{
		Use: "shot FILE", Short: "Take a picture of a card", Args: args(1, 1, "the card's file; - for standard input"),
		Long:    "Draws a card in a headless Chromium, behind the boundary that cards have everywhere, and writes a PNG.",
		Example: "  macaron ui4a shot budget.ui4a.tsx -o budget.png --width 768 --theme dark",
		RunE:    func(cmd *cobra.Command, given []string) error { return e.shootCard(cmd.Context(), given[0], shot) },
	}
	c.Flags().StringVarP(&shot.out, "output", "o", "card.png", "file to write")
	c.Flags().IntVar(&shot.width, "width", shot.width, "CSS pixels, 200 to 2000")
	c.Flags().StringVar(&shot.theme, "theme", shot.theme, "light or dark")
	return c
}

type cardShot struct {
	out, theme string
	width      int
}

func (e *env) shootCard(ctx context.Context, file string, shot cardShot) error {
	if shot.width < 200 || shot.width > 2000 || shot.theme != "light" && shot.theme != "dark" {
		return errs.New(errs.InvalidRequest, "there is no such view", "--width is 200 to 2000, --theme light or dark")
	}
	source, err := e.readCard(file)
	if err != nil {
		return err
	}
	url, end, err := listenCard(serve.New(cardSurface, func() (string, error) { return source, nil }), 0)
	if err != nil {
		return err
	}
	defer end()
	picture, err := takePicture(ctx, url+"/?shot&theme="+shot.theme, shot)
	if err != nil {
		return err
	}
	if err := disk.Replace(shot.out, picture, 0o644); err != nil {
		return err
	}
	if e.json {
		return e.printJSON(map[string]any{"file": shot.out, "bytes": len(picture)})
	}
	fmt.Fprintf(e.out, "%s: %d bytes\n", shot.out, len(picture))
	return nil
}

// takePicture opens the page and photographs it once the card is drawn, as high as it is.
func takePicture(ctx context.Context, url string, shot cardShot) ([]byte, error) {
	b, err := browser.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	p, err := b.Page(browser.View{Width: shot.width, Height: 844, Dark: shot.theme == "dark"})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := p.Open(url); err != nil {
		return nil, err
	}
	if err := p.Wait(`window.shown && (shown.failed || shown.painted)`); err != nil {
		return nil, err
	}
	if failed, err := browser.Eval[string](p, `shown.painted ? "" : shown.failed`); err != nil || failed != "" {
		return nil, errs.New(errs.InvalidRequest, "the card draws nothing: "+failed, "macaron ui4a check says what is wrong with it")
	}
	height, err := browser.Eval[float64](p, `new Promise((done) => setTimeout(() => done(document.querySelector("iframe").getBoundingClientRect().height), 500))`)
	if err != nil {
		return nil, err
	}
	if err := p.Look(browser.View{Width: shot.width, Height: max(int(height), 1), Dark: shot.theme == "dark"}); err != nil {
		return nil, err
	}
	return p.Screenshot()
}
