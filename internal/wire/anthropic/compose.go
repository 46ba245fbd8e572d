package anthropic

import (
	"encoding/json"
	"strings"

	"macaron/internal/chat"
)

// paper is what content blocks are written to, one after the other: open, its pieces,
// closed, and then the next.
type paper interface {
	open(index int, b block) error
	write(index int, b block, piece string) error
	shut(index int) error
}

// block tells one content block from the others. The call counts tool calls.
type block struct {
	kind     string // text, thinking, tool_use
	call     int
	id, name string // of a call
}

func (b block) same(c block) bool { return b.kind == c.kind && b.call == c.call }

// piece is a part of an answer and the block that it belongs to.
type piece struct {
	block
	text string
}

// composer puts the pieces of an answer in the order of the API. Engines may go to
// and fro between calls, which blocks cannot: a piece of another block waits while the
// arguments of the open call are not whole.
type composer struct {
	to     paper
	hidden bool // thinking is left out
	index  int  // of the open block; blocks before it are shut
	opened block
	args   strings.Builder // of the open call, so far
	held   []piece
	past   map[int]bool // calls that are shut: after a whole object nothing but space can follow
}

func (c *composer) add(e chat.Event) error {
	var p piece
	switch {
	case e.Reasoning != "" && !c.hidden:
		p = piece{block{kind: "thinking"}, e.Reasoning}
	case e.Text != "":
		p = piece{block{kind: "text"}, e.Text}
	case e.ToolCall != nil:
		p = piece{block{"tool_use", e.ToolCall.Index, e.ToolCall.ID, e.ToolCall.Name}, e.ToolCall.Arguments}
	default:
		return nil
	}
	if p.kind == "tool_use" && c.past[p.call] {
		return nil
	}
	if p.same(c.opened) {
		if err := c.put(p); err != nil || len(c.held) == 0 {
			return err
		}
	} else {
		c.held = append(c.held, p)
	}
	return c.settle(false)
}

// settle writes what waits, as far as the open block allows; at the end it allows all.
func (c *composer) settle(end bool) error {
	for len(c.held) > 0 && (end || c.whole()) {
		if err := c.turnTo(c.held[0].block); err != nil {
			return err
		}
		var rest []piece
		for _, p := range c.held {
			if !p.same(c.opened) {
				rest = append(rest, p)
			} else if err := c.put(p); err != nil {
				return err
			}
		}
		c.held = rest
	}
	return nil
}

// whole reports whether the open block may be shut.
func (c *composer) whole() bool {
	args := c.args.String()
	return c.opened.kind != "tool_use" || strings.HasPrefix(strings.TrimSpace(args), "{") && json.Valid([]byte(args))
}

// turnTo shuts the open block and opens another.
func (c *composer) turnTo(b block) error {
	if err := c.shut(); err != nil {
		return err
	}
	c.opened = b
	c.args.Reset()
	return c.to.open(c.index, b)
}

func (c *composer) shut() error {
	if c.opened.kind == "" {
		return nil
	}
	if c.opened.kind == "tool_use" {
		if c.past == nil {
			c.past = map[int]bool{}
		}
		c.past[c.opened.call] = true
	}
	c.opened = block{}
	c.index++
	return c.to.shut(c.index - 1)
}

func (c *composer) put(p piece) error {
	if p.text == "" {
		return nil
	}
	if p.kind == "tool_use" {
		c.args.WriteString(p.text)
	}
	return c.to.write(c.index, c.opened, p.text)
}

// end writes everything and shuts the last block.
func (c *composer) end() error {
	if err := c.settle(true); err != nil {
		return err
	}
	return c.shut()
}
