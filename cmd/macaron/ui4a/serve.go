package ui4a

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/errs"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/serve"
)

// cardSurface is the surface on which a card is shown that is in no canvas file.
var cardSurface = string(ui4a.Canvas("card"))

// canvasOf is the surface of a card's file: a canvas is known by its name.
func canvasOf(file string) string {
	if id, err := ui4a.CanvasID(filepath.Base(file)); err == nil {
		return string(ui4a.Canvas(id))
	}
	return cardSurface
}

func newUI4AServe(e *cli.Env) *cobra.Command {
	port := 0
	c := &cobra.Command{
		Use: "serve FILE", Short: "Show a card on a page of this machine, as its file changes", Args: cli.Args(1, 1, "the card's file"),
		Long: "Shows the card behind the boundary that cards have everywhere, what is wrong with it, its Actions, and what a model\n" +
			"would have seen of each. The page is for this machine alone; no model is asked. Ends with Ctrl-C.",
		Example: "  macaron ui4a serve budget.ui4a.tsx",
		RunE:    func(cmd *cobra.Command, given []string) error { return serveCard(cmd.Context(), e, given[0], port) },
	}
	c.Flags().IntVar(&port, "port", 0, "port on 127.0.0.1; 0 takes a free one")
	return c
}

func serveCard(ctx context.Context, e *cli.Env, file string, port int) error {
	if port < 0 || port > math.MaxUint16 {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("there is no port %d", port), "--port takes 1 to 65535, or 0 for a free one").In("port")
	}
	s := serve.New(canvasOf(file), func() (string, error) { return readCard(e, file) })
	if _, err := s.Compile(); err != nil {
		return err
	}
	url, end, err := listenCard(s, port)
	if err != nil {
		return err
	}
	defer end()
	if e.JSON {
		if err := e.PrintJSON(map[string]string{"url": url}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(e.Out, "%s is shown on %s\n", file, url)
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
