package local

import (
	"bytes"
	"encoding/json"
	"strings"

	"macaron/internal/chat"
)

// The marks around a call in the model's text.
const (
	callOpen  = "<tool_call>"
	callClose = "</tool_call>"
)

// The form of a call that a grammar makes: callName, the name as within a JSON string,
// callArguments, the arguments, callEnd.
const (
	callName      = callOpen + `{"name": "`
	callArguments = `", "arguments": `
	callEnd       = "}" + callClose
)

// callReader separates calls from text as it comes. A call is reported when it is
// whole: only then is it known to be one. What turns out not to be a call of an offered
// tool stays text. Where a grammar keeps to the form of calls, a call is one from its
// name on, and its arguments are passed on as they come.
type callReader struct {
	offered map[string]bool // names; none: everything is text
	newID   func() string
	held    string // what may still become a call
	inside  bool   // held starts with callOpen
	after   bool   // nothing but space has come since a call
	calls   int
	sure    bool // what begins like a call is one, by the grammar
	cut     bool // the last call is not whole
	args    *arguments
}

// piece is a part of the answer: text or a call.
type piece struct {
	text string
	call *chat.ToolCallDelta
}

func newCallReader(tools []chat.ToolDef, newID func() string) *callReader {
	c := &callReader{offered: map[string]bool{}, newID: newID}
	for _, t := range tools {
		c.offered[t.Name] = true
	}
	return c
}

// push takes more text and gives what is certain.
func (c *callReader) push(text string) []piece {
	if len(c.offered) == 0 {
		return pieces(text)
	}
	c.held += text
	var out []piece
	for {
		if !c.inside {
			at := strings.Index(c.held, callOpen)
			if at < 0 {
				keep := overlap(c.held, callOpen)
				out = append(out, c.plain(c.held[:len(c.held)-keep])...)
				c.held = c.held[len(c.held)-keep:]
				return out
			}
			out = append(out, c.plain(c.held[:at])...)
			c.held, c.inside = c.held[at:], true
		}
		if c.sure {
			more, over := c.stream()
			if out = append(out, more...); !over {
				return out
			}
			continue
		}
		end := strings.Index(c.held, callClose)
		if end < 0 {
			return out
		}
		whole := c.held[:end+len(callClose)]
		out = append(out, c.finish(whole, whole[len(callOpen):end])...)
		c.held, c.inside = c.held[len(whole):], false
	}
}

// stream passes on what there is of a call in the grammar's form, and reports whether the
// call is over.
func (c *callReader) stream() (out []piece, over bool) {
	if c.args == nil {
		name, rest, ok := c.opened()
		if !ok {
			return nil, false
		}
		out = c.report(name, "")
		c.args, c.held = &arguments{}, rest
	}
	n := c.args.take(c.held)
	if n > 0 {
		out = append(out, piece{call: &chat.ToolCallDelta{Index: c.calls - 1, Arguments: c.held[:n]}})
		c.held = c.held[n:]
	}
	if _, rest, closed := strings.Cut(c.held, callClose); closed {
		c.held, c.inside, c.args = rest, false, nil
		return out, true
	}
	return out, false
}

// opened reads the beginning of a call up to its arguments.
func (c *callReader) opened() (name, rest string, ok bool) {
	for name := range c.offered {
		if rest, ok := strings.CutPrefix(c.held, callName+chat.Quote(name)[1:]+callArguments[1:]); ok {
			return name, rest, true
		}
	}
	return "", "", false
}

// flush ends the answer. A call that lacks only its closing mark counts, and where a grammar
// made it, one that was cut in its arguments.
func (c *callReader) flush() []piece {
	held := c.held
	c.held = ""
	switch {
	case !c.inside:
		return c.plain(held)
	case c.args != nil:
		c.cut = !c.args.whole()
		return nil
	}
	return c.finish(held, held[len(callOpen):])
}

// report makes a call.
func (c *callReader) report(name, arguments string) []piece {
	c.calls, c.after = c.calls+1, true
	return []piece{{call: &chat.ToolCallDelta{Index: c.calls - 1, ID: c.newID(), Name: name, Arguments: arguments}}}
}

// plain is text outside of calls; space right after a call is dropped.
func (c *callReader) plain(text string) []piece {
	if c.after {
		text = strings.TrimLeft(text, " \t\r\n")
		c.after = text == ""
	}
	return pieces(text)
}

func pieces(text string) []piece {
	if text == "" {
		return nil
	}
	return []piece{{text: text}}
}

// finish makes a call of its body, or text of the whole.
func (c *callReader) finish(whole, body string) []piece {
	name, arguments, ok := parseCall(body)
	if !ok || !c.offered[name] {
		return pieces(whole)
	}
	return c.report(name, arguments)
}

// parseCall reads {"name": ..., "arguments": {...}}. The arguments are kept byte for
// byte; a missing one is an empty object, "parameters" is understood too.
func parseCall(body string) (name, arguments string, ok bool) {
	var call struct {
		Name       string          `json:"name"`
		Arguments  json.RawMessage `json:"arguments"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal([]byte(body), &call) != nil || call.Name == "" {
		return "", "", false
	}
	raw := bytes.TrimSpace(call.Arguments)
	if len(raw) == 0 {
		raw = bytes.TrimSpace(call.Parameters)
	}
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	return call.Name, string(raw), raw[0] == '{'
}

// overlap is the length of the longest end of s that begins mark.
func overlap(s, mark string) int {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}
