package browser

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is the longest that one step may take.
const patience = 30 * time.Second

// View is what a page is looked at with.
type View struct {
	Width, Height int     // CSS pixels
	Scale         float64 // device pixels per CSS pixel; 0 means 1
	Dark          bool    // the system's colours
	Touch         bool    // a phone: touch, no hover
}

// Page is one page in a profile of its own: storage is not shared with other pages.
// It is not safe for concurrent use.
type Page struct {
	ctx  context.Context
	stop context.CancelFunc

	frames map[target.ID]bool // that were given

	mu      sync.Mutex
	trouble []string
}

// Page opens an empty page.
func (b *Browser) Page(v View) (*Page, error) { return b.page(v, chromedp.WithNewBrowserContext()) }

// ProfilePage opens an empty page in the browser's own profile, which such pages share:
// some of what a person's browser does, such as connecting ahead, is off in others.
func (b *Browser) ProfilePage(v View) (*Page, error) { return b.page(v) }

func (b *Browser) page(v View, where ...chromedp.ContextOption) (*Page, error) {
	ctx, stop := chromedp.NewContext(b.ctx, where...)
	p := &Page{ctx: ctx, stop: stop, frames: map[target.ID]bool{}}
	if err := p.Look(v); err != nil {
		stop()
		return nil, err
	}
	go p.listen(chromedp.Console(ctx))
	return p, nil
}

// Close closes the page.
func (p *Page) Close() { p.stop() }

// Look changes the view.
func (p *Page) Look(v View) error {
	if v.Scale == 0 {
		v.Scale = 1
	}
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(v.Scale)}
	if v.Touch {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	colours := func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: media(v.Dark)})
		return err
	}
	return chromedp.Do(p.ctx, chromedp.EmulateViewport(int64(v.Width), int64(v.Height), options...), chromedp.Func(colours))
}

// media are the preferences that pages can ask for.
func media(dark bool) []*emulation.MediaFeature {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
}

// listen keeps what the page complains of, content policy violations among it.
func (p *Page) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return // the page is closed
		}
		if m.IsException() || m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning {
			p.mu.Lock()
			p.trouble = append(p.trouble, m.Source+" "+m.String()+" "+m.URL)
			p.mu.Unlock()
		}
	}
}

// Trouble gives the errors and warnings that the page has caused so far.
func (p *Page) Trouble() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.trouble...)
}

func (p *Page) do(what string, steps ...chromedp.Action[chromedp.Void]) error {
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Open goes to an address and waits until it is loaded.
func (p *Page) Open(address string) error { return p.do("open "+address, chromedp.Navigate(address)) }

// Reload loads the page anew.
func (p *Page) Reload() error { return p.do("reload", chromedp.Reload()) }

// Click clicks the middle of the first element of a CSS selector, once it is there and
// nothing covers it. A page that redraws at that moment can lose the click, as it would
// a person's; it is then made again. One that arrives late is not: by then the element may be
// gone, as it has done what it is for.
func (p *Page) Click(selector string) error {
	made := false
	return p.until("click "+selector, func() (bool, error) {
		if made {
			if arrived, err := Eval[bool](p, `window.missedClick !== true`); err != nil || arrived {
				return arrived, err
			}
		}
		at, err := Eval[[]float64](p, fmt.Sprintf(aim, selector))
		if err != nil || len(at) != 2 {
			return false, err
		}
		if err := p.do("click "+selector, chromedp.MouseClickXY(at[0], at[1])); err != nil {
			return false, err
		}
		made = true
		return Eval[bool](p, `window.missedClick !== true`) // another page has come: it was taken
	})
}

// aim finds where to click and notes whether the click arrives.
const aim = `(() => {
	const selector = %q, el = document.querySelector(selector);
	if (!el || el.disabled) return [];
	el.scrollIntoView({block: "nearest", behavior: "instant"});
	const r = el.getBoundingClientRect();
	const at = [r.x + r.width / 2, r.y + r.height / 2];
	if (!el.contains(document.elementFromPoint(...at))) return [];
	window.missedClick = true;
	document.addEventListener("click", (e) => { if (e.target.closest(selector)) window.missedClick = false; }, {capture: true, once: true});
	return at;
})()`

// ClickAt clicks a point of the view, in CSS pixels, so many times in a row.
func (p *Page) ClickAt(x, y float64, times int) error {
	return p.do("click", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		e := input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y}
		if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, e); err != nil {
			return err
		}
		e.Button = input.MouseButtonLeft
		for e.ClickCount = 1; e.ClickCount <= int64(times); e.ClickCount++ {
			for _, e.Type = range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
				if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, e); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// Insert puts a text where the focus is, as an input method would: line breaks do not send.
func (p *Page) Insert(text string) error {
	return p.do("insert", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// The keys that are no characters.
const (
	Enter  = "\r"
	Tab    = "\t"
	Escape = "\u001b"
	Delete = kb.Delete
	Left   = kb.ArrowLeft
	Up     = kb.ArrowUp
	Down   = kb.ArrowDown
	Right  = kb.ArrowRight
	Home   = kb.Home
	End    = kb.End
)

// Press types keys where the focus is. A key that the page handles itself types nothing.
func (p *Page) Press(keys string) error { return p.press(keys, 0) }

// PressShift types keys with Shift held.
func (p *Page) PressShift(keys string) error { return p.press(keys, int64(chromedp.ModifierShift)) }

func (p *Page) press(keys string, modifiers int64) error {
	return p.do("press", chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, key := range keys {
			if err := press(ctx, kb.Encode(key), modifiers); err != nil {
				return err
			}
		}
		return nil
	}))
}

// press sends the events of one key. The character goes with the key that types it:
// as an event of its own it would come even when the page has refused the key.
func press(ctx context.Context, events []*input.DispatchKeyEventParams, modifiers int64) error {
	text := ""
	for _, e := range events {
		if e.Type == kb.KeyChar {
			text = e.Text
		}
	}
	for _, e := range events {
		if e.Type == kb.KeyChar {
			continue
		}
		e.Modifiers |= modifiers
		if e.Type != kb.KeyUp {
			e.Type, e.Text = kb.KeyDown, text
		}
		if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *e); err != nil {
			return err
		}
	}
	return nil
}

// Eval gives the value of a JavaScript expression; a promise is waited for.
func Eval[T any](p *Page, expression string) (T, error) {
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		return v, fmt.Errorf("%s: %w", strings.TrimSpace(expression), err)
	}
	return v, nil
}

// Wait asks until an expression is true. The content policy of the page does not
// matter: the browser itself evaluates it.
func (p *Page) Wait(expression string) error {
	return p.until("wait for "+expression, func() (bool, error) { return Eval[bool](p, "!!("+expression+")") })
}

// until asks again as long as the answer is no. A question that meets the page as it makes way
// for another has no answer: it is put to the page that comes.
func (p *Page) until(what string, done func() (bool, error)) error {
	end := time.Now().Add(patience)
	for {
		ok, err := done()
		if err != nil && !leaving(err) || ok {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: not within %v", what, patience)
		}
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func leaving(err error) bool {
	var refused *cdproto.Error
	return errors.As(err, &refused) && refused.Message == "Inspected target navigated or closed"
}

// Screenshot gives a PNG of the view.
func (p *Page) Screenshot() ([]byte, error) {
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

// Picture gives a WebP of the view's top so many CSS pixels, also where it has to be
// scrolled for.
func (p *Page) Picture(width, height float64) ([]byte, error) {
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	quality, beyond := int64(60), true
	got, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatWebp, Quality: &quality, CaptureBeyondViewport: &beyond,
		Clip: &page.Viewport{Width: width, Height: height, Scale: 1},
	})
	if err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	return got.Data, nil
}
