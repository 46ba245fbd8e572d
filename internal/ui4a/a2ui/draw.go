package a2ui

import (
	_ "embed"
	"fmt"
	"time"

	"macaron/internal/browser"
	"macaron/internal/errs"
)

//go:embed read.js
var reader string

// most controls of a card are used; those behind them are listed as loss.
const most = 60

// patience is how long a control's effect is waited for.
const patience = 350 * time.Millisecond

// drawing is what a page of `macaron ui4a serve` shows of its card.
type drawing struct {
	Root   *node `json:"root"`
	Styled int   `json:"styled"` // elements with styles of the card's own
}

// stage is the page with the card.
type stage struct {
	page  *browser.Page
	frame *browser.Document
}

// Draw draws the card that a page of internal/ui4a/serve at the address shows, uses its
// controls, and gives it as messages for a surface of that name. The page is left as the last
// control made it. errs.InvalidRequest: the card draws nothing.
func Draw(p *browser.Page, address, surface string) (Export, error) {
	s := &stage{page: p}
	if err := p.Open(address); err != nil {
		return Export{}, err
	}
	if err := s.enter(); err != nil {
		return Export{}, err
	}
	first, err := s.read()
	if err != nil {
		return Export{}, err
	}
	state, err := browser.Eval[map[string]any](p, `shown.state()`)
	if err != nil {
		return Export{}, err
	}
	m := &mapping{surface: surface, data: state}
	if err := s.openTabs(first.Root); err != nil {
		return Export{}, err
	}
	if err := s.use(first, m); err != nil {
		return Export{}, err
	}
	return m.export(first), nil
}

// enter waits for the card and looks into its frame.
func (s *stage) enter() error {
	if err := s.page.Wait(`window.shown && (shown.failed || shown.painted)`); err != nil {
		return err
	}
	if failed, err := browser.Eval[string](s.page, `shown.painted ? "" : shown.failed`); err != nil || failed != "" {
		return errs.New(errs.InvalidRequest, "the card draws nothing: "+failed, "macaron ui4a check says what is wrong with it")
	}
	time.Sleep(patience) // what effects do to the first frame
	var err error
	s.frame, err = s.page.Frame("http://")
	return err
}

// again shows the card as it was at first, and presses what opens the way to a control.
func (s *stage) again(via []int) error {
	s.frame.Close()
	if _, err := browser.Eval[bool](s.page, `(shown.again(), true)`); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	for _, n := range via {
		if err := s.press(n); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) read() (drawing, error) {
	return browser.Look[drawing](s.frame, reader+"(null)")
}

// press clicks a control.
func (s *stage) press(n int) error {
	at, err := browser.Look[[]float64](s.frame, fmt.Sprintf("%s(%d)", reader, n))
	if err != nil || len(at) != 2 {
		return err
	}
	err = s.page.ClickIn(at[0], at[1], "iframe")
	time.Sleep(patience)
	return err
}

// openTabs reads the parts of tabs that the first frame does not show.
func (s *stage) openTabs(root *node) (err error) {
	root.each(func(n *node) {
		if n.Kind == "tabs" && err == nil {
			err = s.openEach(n)
		}
	})
	return err
}

func (s *stage) openEach(tabs *node) error {
	parts := make([]*node, len(tabs.Titles))
	for i := range parts {
		parts[i] = &node{Kind: "column"}
		if i == tabs.Open && len(tabs.Children) > 0 {
			parts[i] = tabs.Children[0]
			continue
		}
		if err := s.again([]int{tabs.Tabs[i]}); err != nil {
			return err
		}
		now, err := s.read()
		if err != nil {
			return err
		}
		now.Root.each(func(n *node) {
			if n.Kind == "tabs" && n.Name == tabs.Name && n.Open == i && len(n.Children) > 0 {
				parts[i] = n.Children[0]
			}
		})
		parts[i].each(func(n *node) { n.via = []int{tabs.Tabs[i]} })
	}
	tabs.Children = parts
	return nil
}
