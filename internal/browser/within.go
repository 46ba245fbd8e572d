package browser

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// ClickIn clicks a point of a frame's document, in that document's CSS pixels, until it has
// heard the click. A browser drops one into a frame of another process that has just come,
// moved or changed its size: by the browser's account nothing is there yet. Path leads from
// the page to the frame, by a selector in each document on the way.
func (p *Page) ClickIn(x, y float64, path ...string) error {
	return p.until(fmt.Sprintf("click %v, %v in %s", x, y, strings.Join(path, " ")), func() (bool, error) {
		d, at := p.main(), [2]float64{x, y}
		if err := d.enter(); err != nil {
			return false, err
		}
		for _, selector := range path {
			in, corner, err := d.within(selector)
			if in == nil || err != nil {
				return false, err
			}
			defer in.Close()
			d, at = in, [2]float64{at[0] + corner[0], at[1] + corner[1]}
		}
		return p.clickHeard(d, at)
	})
}

// clickHeard clicks a point of the view and tells whether a document hears it, at its end
// (of a control that is disabled no click is told, but a pointer's events are). A document
// that is gone by then went for what it heard.
func (p *Page) clickHeard(d *Document, at [2]float64) (bool, error) {
	if _, err := Look[bool](d, `globalThis.heard = false, addEventListener("pointerup", () => { heard = true; }, {capture: true, once: true}), true`); err != nil {
		return false, err
	}
	if err := p.ClickAt(at[0], at[1], 1); err != nil {
		return false, err
	}
	heard, err := Look[bool](d, `new Promise((done) => {
		const ask = (left) => heard || !left ? done(heard) : setTimeout(ask, 50, left - 1);
		ask(20);
	})`)
	return heard || err != nil, p.ctx.Err()
}

// within gives the document in the first frame that a selector finds, and where in this one
// it begins, in CSS pixels. It is nil when there is none yet.
func (d *Document) within(selector string) (*Document, [2]float64, error) {
	var corner [2]float64
	id, err := d.frameOf(selector)
	if id == "" || err != nil {
		return nil, corner, err
	}
	corner, err = Look[[2]float64](d, fmt.Sprintf(`(() => { const e = document.querySelector(%q), r = e.getBoundingClientRect(); return [r.x + e.clientLeft, r.y + e.clientTop]; })()`, selector))
	if err != nil {
		return nil, corner, err
	}
	in, err := d.open(id)
	return in, corner, err
}

// open gives the document of a frame in this one, which may have a process of its own.
func (d *Document) open(id cdp.FrameID) (*Document, error) {
	all, err := chromedp.Targets(d.ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.TargetID == target.ID(id) {
			return attached(d.ctx, t.TargetID)
		}
	}
	in := &Document{ctx: d.ctx, stop: func() {}, frame: id, log: &eventLog{}}
	return in, in.enter()
}

// frameOf gives the frame that the first element of a selector holds; "" when it holds none.
func (d *Document) frameOf(selector string) (cdp.FrameID, error) {
	ctx, stop := context.WithTimeout(d.ctx, patience)
	defer stop()
	got, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: fmt.Sprintf("document.querySelector(%q)", selector), ContextID: d.world})
	if err != nil || got.Result.ObjectID == "" {
		return "", err
	}
	told, err := chromedp.Call(ctx, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: got.Result.ObjectID})
	if err != nil {
		return "", err
	}
	return told.Node.FrameID, nil
}
