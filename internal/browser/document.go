package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Document is a page's own document or that of a frame in it, looked at from a world of
// its own: what its scripts have changed in their globals is not seen, and its content
// policy does not matter. It is not safe for concurrent use.
type Document struct {
	ctx   context.Context
	stop  context.CancelFunc
	frame cdp.FrameID
	world runtime.ExecutionContextID
	log   *eventLog
}

// Document gives the page's own document, as it is now: another one has another.
func (p *Page) Document() (*Document, error) {
	d := p.main()
	ctx, stop := context.WithCancel(p.ctx)
	d.stop = stop
	if err := chromedp.Listen(ctx, d.log.take); err != nil {
		stop()
		return nil, err
	}
	return d, d.enter()
}

func (p *Page) main() *Document {
	return &Document{ctx: p.ctx, stop: func() {}, frame: cdp.FrameID(chromedp.FromContext(p.ctx).Target.TargetID), log: &eventLog{}}
}

// Frame waits for a frame of another site in the page, such as a sandboxed one, that it has
// not given before, and gives its document. The frame's address begins with a prefix.
func (p *Page) Frame(prefix string) (*Document, error) {
	var id target.ID
	err := p.until("frame "+prefix, func() (bool, error) {
		all, err := chromedp.Targets(p.ctx)
		for _, t := range all {
			if t.Type == "iframe" && !p.frames[t.TargetID] && string(t.ParentFrameID) == string(chromedp.FromContext(p.ctx).Target.TargetID) && strings.HasPrefix(t.URL, prefix) {
				id = t.TargetID
			}
		}
		return id != "", err
	})
	if err != nil {
		return nil, err
	}
	p.frames[id] = true
	return attached(p.ctx, id)
}

// attached gives the document of a frame that has a process of its own.
func attached(ctx context.Context, id target.ID) (*Document, error) {
	d := &Document{frame: cdp.FrameID(id), log: &eventLog{}}
	d.ctx, d.stop = chromedp.NewContext(ctx, chromedp.WithTargetID(id), chromedp.WithListener(d.log.take), chromedp.WithDetachOnCancel())
	err := chromedp.Do(d.ctx) // the session lasts as long as the context of its first call
	if err == nil {
		err = d.enter()
	}
	if err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

// Close ends the look at the document, not the document.
func (d *Document) Close() { d.stop() }

// enter makes the world.
func (d *Document) enter() error {
	ctx, stop := context.WithTimeout(d.ctx, patience)
	defer stop()
	made, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: d.frame, WorldName: "look"})
	if err != nil {
		return fmt.Errorf("world of a document: %w", err)
	}
	d.world = made.ExecutionContextID
	return nil
}

// Dark gives the document the system's colours; a frame of another site does not take
// them from its page.
func (d *Document) Dark(dark bool) error {
	ctx, stop := context.WithTimeout(d.ctx, patience)
	defer stop()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: media(dark)})
	return err
}

// Processor gives the processor's time that the document's thread has spent on tasks.
func (d *Document) Processor() (time.Duration, error) {
	ctx, stop := context.WithTimeout(d.ctx, patience)
	defer stop()
	if _, err := chromedp.Call(ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		return 0, fmt.Errorf("processor's time: %w", err)
	}
	got, err := chromedp.Call(ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		return 0, fmt.Errorf("processor's time: %w", err)
	}
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second)), nil
		}
	}
	return 0, errors.New("processor's time: it is not told")
}

// Look gives the value of a JavaScript expression in the document's world; a promise is
// waited for. T is what the value's JSON is decoded to.
func Look[T any](d *Document, expression string) (T, error) {
	var v T
	ctx, stop := context.WithTimeout(d.ctx, patience)
	defer stop()
	yes := true
	got, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ContextID: d.world, ReturnByValue: &yes, AwaitPromise: &yes})
	switch {
	case err != nil:
	case got.ExceptionDetails != nil:
		err = errors.New(thrown(got.ExceptionDetails))
	case len(got.Result.Value) > 0:
		err = json.Unmarshal(got.Result.Value, &v)
	}
	if err != nil {
		return v, fmt.Errorf("%.80s: %w", strings.TrimSpace(expression), err)
	}
	return v, nil
}

// Events gives what the document has said and asked for since it was looked at first.
func (d *Document) Events() []Event { return d.log.all() }
