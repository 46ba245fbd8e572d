package ui4a

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/browser"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ui4a/serve"
)

func newUI4AShot(e *cli.Env) *cobra.Command {
	shot := cardShot{width: 390, theme: "light"}
	c := &cobra.Command{
		Use: "shot FILE", Short: "Take a picture of a card", Args: cli.Args(1, 1, "the card's file; - for standard input"),
		Long:    "Draws a card in a headless Chromium, behind the boundary that cards have everywhere, and writes a PNG.",
		Example: "  macaron ui4a shot budget.ui4a.tsx -o budget.png --width 768 --theme dark",
		RunE:    func(cmd *cobra.Command, given []string) error { return shootCard(cmd.Context(), e, given[0], shot) },
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

func shootCard(ctx context.Context, e *cli.Env, file string, shot cardShot) error {
	if shot.width < 200 || shot.width > 2000 || shot.theme != "light" && shot.theme != "dark" {
		return errs.New(errs.InvalidRequest, "there is no such view", "--width is 200 to 2000, --theme light or dark")
	}
	source, err := readCard(e, file)
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
	if e.JSON {
		return e.PrintJSON(map[string]any{"file": shot.out, "bytes": len(picture)})
	}
	fmt.Fprintf(e.Out, "%s: %d bytes\n", shot.out, len(picture))
	return nil
}

// tallest is the height of the highest card, in CSS pixels. The page has it from the start:
// what of a frame comes into view only when the page grows is painted later than the page.
const tallest = 8192

// takePicture opens the page and photographs it once the card is drawn, as high as it is.
func takePicture(ctx context.Context, url string, shot cardShot) ([]byte, error) {
	b, err := browser.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	p, err := b.Page(browser.View{Width: shot.width, Height: tallest, Dark: shot.theme == "dark"})
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
	return settled(p)
}

// settled photographs a page until two pictures in a row are the same: a frame of another
// site is painted by a process of its own, and a picture does not wait for it.
func settled(p *browser.Page) ([]byte, error) {
	picture, err := p.Screenshot()
	for range 20 {
		if err != nil {
			return nil, err
		}
		time.Sleep(pause)
		last := picture
		if picture, err = p.Screenshot(); bytes.Equal(picture, last) {
			break
		}
	}
	return picture, err
}

// pause is between two pictures.
const pause = 250 * time.Millisecond
