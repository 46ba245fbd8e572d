// Package browser drives one headless Chromium: pages to open, click, type into, look
// at. It is the only room that knows the browser's protocol.
package browser

import (
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/chromedp"

	"macaron/internal/errs"
)

// programs are the names under which a Chromium is looked for, in order.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// Browser is one running Chromium with a profile of its own, which goes with it.
type Browser struct {
	ctx  context.Context
	stop []context.CancelFunc // in the order of their making
}

// Find gives the path of an installed Chromium; errs.Unsupported when there is none.
func Find() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errs.New(errs.Unsupported, "no Chromium is installed", "install it, on Debian with: apt-get install chromium")
}

// Flag is a switch of Chromium's command line, without its dashes.
type Flag struct {
	Name  string
	Value any // a text, or true
}

// Start runs a browser until Close or the end of ctx, with more flags if a test needs them.
func Start(ctx context.Context, flags ...Flag) (*Browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", false),
		chromedp.Flag("no-proxy-server", true),                              // pages of this machine only
		chromedp.Flag("enable-blink-features", "ComputedAccessibilityInfo"), // computedRole and computedName of elements
	)
	for _, f := range flags {
		opts = append(opts, chromedp.Flag(f.Name, f.Value))
	}
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium has no sandbox for the superuser
	}
	ctx, stopAllocator := chromedp.NewExecAllocator(ctx, opts...)
	ctx, stopBrowser := chromedp.NewContext(ctx)
	b := &Browser{ctx: ctx, stop: []context.CancelFunc{stopAllocator, stopBrowser}}
	if err := chromedp.Do(ctx); err != nil { // starts the process
		b.Close()
		return nil, errs.Wrap(errs.Unsupported, err, "Chromium does not start", "run "+path+" --headless --dump-dom about:blank to see why")
	}
	return b, nil
}

// Close ends the browser and removes its profile.
func (b *Browser) Close() {
	ctx, stop := context.WithTimeout(b.ctx, 10*time.Second)
	defer stop()
	_ = chromedp.Cancel(ctx) // what does not end by itself is killed by the stops below
	for i := len(b.stop) - 1; i >= 0; i-- {
		b.stop[i]()
	}
}
