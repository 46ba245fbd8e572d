package surface

import (
	"fmt"
	"strings"

	"macaron/internal/ui4a"
)

// place says on which surface a block is shown, and what is wrong with where it wants to be.
// own is its place within the answer, where it is the nth card. A block goes where it
// names, if there is such a card; the first one of a repair's answer takes the place of the
// card that failed, unless that was a patch of nothing and this is a canvas; a card that
// names a canvas which is not there opens it; a patch without a name is of the newest card;
// all else has a place of its own.
func (c *conversation) place(b ui4a.Block, own ui4a.Surface, failed *Card, n int) (ui4a.Surface, *ui4a.Diagnostic) {
	canvas := b.Lost || b.On.Kind() == ui4a.CanvasSurface
	switch {
	case c.card(b.On) != nil:
		return b.On, nil
	case failed != nil && n == 0 && (failed.Source != "" || b.Patch || !canvas):
		return failed.Surface, nil
	case b.Patch && canvas:
		return own, c.noCanvas(b)
	case b.Patch:
		return c.newest(own), nil
	case b.Lost:
		return own, &ui4a.Diagnostic{Code: "canvas-name", Severity: ui4a.Warning, Message: "its fence names a canvas by what can be no name; the card stands in the answer",
			Fix: "name it canvas/ and 1 to 128 bytes of letters, digits, - and _ of any script"}
	case canvas && len(c.canvases()) == ui4a.MaxCanvases:
		return own, &ui4a.Diagnostic{Code: "canvas-limit", Severity: ui4a.Warning, Message: fmt.Sprintf("the conversation has %d canvases, the most that it may; the card stands in the answer", ui4a.MaxCanvases),
			Fix: "change one that is there"}
	case canvas:
		return b.On, nil
	}
	return own, nil
}

// noCanvas says that a patch is of a canvas which is not there.
func (c *conversation) noCanvas(b ui4a.Block) *ui4a.Diagnostic {
	fix := "write the whole card"
	if there := c.canvases(); len(there) > 0 {
		fix += ", or a patch of " + strings.Join(there, ", ")
	}
	return &ui4a.Diagnostic{Code: "patch-no-canvas", Severity: ui4a.Error, Message: "the conversation has no such canvas", Fix: fix}
}

// canvases are the names of those that are open, at most MaxCanvases.
func (c *conversation) canvases() (names []string) {
	for _, card := range c.Cards.Cards {
		if card.Surface.Kind() == ui4a.CanvasSurface {
			names = append(names, string(card.Surface))
		}
	}
	return names
}

// newest is the last card that has a source: a patch of nothing has none.
func (c *conversation) newest(own ui4a.Surface) ui4a.Surface {
	for i := len(c.Cards.Cards) - 1; i >= 0; i-- {
		if card := c.Cards.Cards[i]; card.Source != "" {
			return card.Surface
		}
	}
	return own
}
