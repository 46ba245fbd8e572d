// Command screenshot holds a conversation with the default model through the chat page
// and saves what the page looks like, for the README. Nothing of it is staged: what
// stands in the picture is what the model said.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"macaron/internal/app"
	"macaron/internal/browser"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/models"
	"macaron/internal/obs"
)

// The conversations, oldest first; the last one is in the picture.
var conversations = [][]string{
	{"Make a card to split a bill among friends"},
	{"Remind me to call Ana tomorrow at nine"},
	{"Hi! Who are you?", "Write a Python function that reverses a string"},
}

func main() {
	out := flag.String("o", "docs/img/chat.png", "file to write")
	dark := flag.Bool("dark", false, "in dark colours")
	phone := flag.Bool("phone", false, "390 px wide")
	details := flag.Bool("details", true, "with the details of the last answer open")
	card := flag.String("card", "", "ask for a card with this text instead, and take a picture of it")
	flag.Parse()
	view := browser.View{Width: 1180, Height: 1130, Dark: *dark}
	if *phone {
		view.Width, view.Height, view.Touch = 390, 844, true
	}
	if *card != "" {
		conversations, *details, view.Width, view.Height = [][]string{{*card}}, false, 900, 860
	}
	if err := run(context.Background(), *out, view, *details); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(errs.CodeOf(err).Exit())
	}
}

func run(ctx context.Context, out string, view browser.View, details bool) (err error) {
	home, err := os.MkdirTemp("", "macaron-screenshot-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	ctx, cancel := context.WithCancel(ctx)
	a, done, err := serve(ctx, home)
	if err != nil {
		cancel()
		return err
	}
	defer func() {
		cancel()
		err = errors.Join(err, <-done)
	}()
	if err := a.WaitReady(ctx); err != nil {
		return err
	}
	png, err := converse(ctx, "http://"+a.Addr(ctx), view, details)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", out, len(png))
	return os.WriteFile(out, png, 0o644)
}

// serve starts an App on a home of its own, with the model of the user's home.
func serve(ctx context.Context, home string) (*app.App, <-chan error, error) {
	own, err := config.Load(nil)
	if err != nil {
		return nil, nil, err
	}
	store, err := models.Open(own.Home)
	if err != nil {
		return nil, nil, err
	}
	model, err := (&models.Fetcher{Store: store}).Resolve(ctx, own.Model)
	if err := errors.Join(err, store.Close()); err != nil {
		return nil, nil, err
	}
	cfg, err := config.Load(map[string]string{"home": home, "listen": "127.0.0.1:0"})
	if err != nil {
		return nil, nil, err
	}
	a, err := app.New(cfg, app.Options{Log: obs.Discard(), Model: model})
	if err != nil {
		return nil, nil, err
	}
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	return a, done, nil
}

// converse types what a person would and gives a picture of the end.
func converse(ctx context.Context, url string, view browser.View, details bool) ([]byte, error) {
	b, err := browser.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	p, err := b.Page(view)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	if err := errors.Join(p.Open(url), p.Wait(`document.querySelectorAll(".specialist").length`)); err != nil {
		return nil, err
	}
	for i, talk := range conversations {
		if i > 0 {
			if err := fresh(p); err != nil {
				return nil, err
			}
		}
		for n, text := range talk {
			if err := ask(p, text, n+1); err != nil {
				return nil, err
			}
		}
	}
	if details {
		err = errors.Join(
			p.Wait(`document.querySelector('.turn:last-child [data-action="details"]')`),
			p.Click(`.turn:last-child [data-action="details"]`),
			p.Wait(`document.querySelector(".details dl")?.textContent.match(/^Summary(?!not written)/)`),
		)
	}
	// What a card is shown in has its height once it is drawn; a repair is waited for.
	err = errors.Join(err, p.Wait(`[...document.querySelectorAll(".card iframe")].every((f) => f.clientHeight > 60 && f.style.height)`), p.Wait(idle))
	if err := errors.Join(err, p.Wait(`(document.querySelector("#scroller").scrollTop = 1e6, true)`)); err != nil {
		return nil, err
	}
	return p.Screenshot()
}

// fresh begins a new conversation; on a phone its button is in the drawer.
func fresh(p *browser.Page) error {
	narrow, err := browser.Eval[bool](p, `document.querySelector("#sidebar").inert`)
	if err == nil && narrow {
		err = p.Click("#open-drawer")
	}
	return errors.Join(err, p.Click("#new-chat"), p.Wait(`document.querySelector(".welcome")`))
}

func ask(p *browser.Page, text string, n int) error {
	return errors.Join(p.Click("#prompt"), p.Insert(text), p.Press(browser.Enter),
		p.Wait(fmt.Sprintf(`document.querySelectorAll(".turn").length >= %d`, n)), p.Wait(idle))
}

// idle is true when nothing is being answered.
const idle = `document.querySelector("#stop").hidden`
