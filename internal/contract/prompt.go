package contract

import (
	"slices"
	"strings"

	"macaron/internal/chat"
)

// Previous is the user turn before the one to route: which adapter took it, "" when
// nobody knows, and the user's text.
type Previous struct {
	Label string
	Text  string
}

// Ask is all that a route prompt is made of. docs/formats/routing.md has the layout.
type Ask struct {
	Request  string
	Previous *Previous  // the turn before, or nil
	Earlier  []Previous // recent turns, oldest first, with their summaries as texts
	Labels   []string   // adapters that the prompt offers, in this order; nil: all, as the contract has them
}

// RouteMessages is the whole prompt of the route hop over all adapters.
func (c *Contract) RouteMessages(request string, previous *Previous) []chat.Message {
	return c.RoutePrompt(Ask{Request: request, Previous: previous})
}

// RoutePrompt is the whole prompt of a route hop.
func (c *Contract) RoutePrompt(a Ask) []chat.Message {
	if c.Router.Layout == LayoutMol {
		request := Clip(strings.TrimSpace(a.Request), c.Router.RequestChars)
		return []chat.Message{chat.Text(chat.User, request+"\n\n"+c.RouteSystem(a.Labels...))}
	}
	return []chat.Message{chat.Text(chat.System, c.RouteSystem(a.Labels...)), chat.Text(chat.User, c.earlier(a.Earlier)+c.RouteUser(a.Request, a.Previous))}
}

// OverlayPrompt is the whole prompt of a route hop that an answer will go on from: the view,
// which the answer's prompt begins with, and the instruction last.
func (c *Contract) OverlayPrompt(view []chat.Message, labels []string) []chat.Message {
	return append(view[:len(view):len(view)], chat.Text(chat.User, c.RouteSystem(labels...)))
}

// RouteSystem is the fixed part of the route prompt, equal for every request that is
// offered the same labels (none: all) so that its prefix is cached: prompts.route with
// its placeholders, trimmed.
func (c *Contract) RouteSystem(labels ...string) string {
	if len(labels) == 0 {
		labels = c.Labels()
	}
	is, and := ": ", ", "
	if c.Router.Layout == LayoutMol {
		is, and = " = ", " "
	}
	return strings.TrimSpace(expand(c.Prompts.Route,
		"{{adapters}}", c.describe(labels, is),
		"{{order}}", strings.Join(c.Priority(labels), and)))
}

// describe has a "label: description" line for each of the labels, in their order.
func (c *Contract) describe(labels []string, is string) string {
	lines := make([]string, 0, len(labels))
	for _, l := range labels {
		if a, ok := c.Adapter(l); ok {
			lines = append(lines, a.Name+is+a.Description)
		}
	}
	return strings.Join(lines, "\n")
}

// Priority gives these labels in the order of router.order.
func (c *Contract) Priority(labels []string) []string {
	var out []string
	for _, l := range c.Router.Order {
		if slices.Contains(labels, l) {
			out = append(out, l)
		}
	}
	return out
}

// RouteUser is the request as quoted, untrusted text, clipped to the router's
// budgets, after a line about the previous request if there is one.
func (c *Contract) RouteUser(request string, previous *Previous) string {
	var head string
	if previous != nil {
		head = c.line("Previous: ", *previous)
	}
	return head + "Request: " + chat.Quote(Clip(request, c.Router.RequestChars))
}

// earlier has a line for each of the last router.summaries summaries.
func (c *Contract) earlier(turns []Previous) string {
	var b strings.Builder
	for _, t := range turns[max(0, len(turns)-c.Router.Summaries):] {
		b.WriteString(c.line("Earlier: ", t))
	}
	return b.String()
}

func (c *Contract) line(head string, p Previous) string {
	if p.Label != "" {
		head += p.Label + " "
	}
	return head + chat.Quote(Clip(p.Text, c.Router.ContextChars)) + "\n"
}

// AnswerSystem is the head of a specialist's view: prompts.system with its own
// prompt, then the client's system texts, or those where {{client}} stands; they never
// replace ours.
func (c *Contract) AnswerSystem(label string, client []chat.Message) string {
	const hole = "{{client}}"
	a, _ := c.Adapter(label)
	var texts []string
	for _, m := range client {
		if t := m.Text(); t != "" {
			texts = append(texts, t)
		}
	}
	said := strings.Join(texts, "\n\n")
	switch placed := strings.Contains(c.Prompts.System, hole); {
	case placed && said == "": // with the blank line that parts it from the rest
		return expand(strings.ReplaceAll(c.Prompts.System, hole+"\n\n", ""), "{{specialist}}", a.Prompt, hole, "")
	case placed:
		return expand(c.Prompts.System, "{{specialist}}", a.Prompt, hole, said)
	}
	return strings.Join(append([]string{expand(c.Prompts.System, "{{specialist}}", a.Prompt)}, texts...), "\n\n")
}

// SummaryPrompt is the user message that asks for the summary of the turn.
func (c *Contract) SummaryPrompt() string { return strings.TrimSpace(c.Prompts.Summary) }

// Foreign is how another specialist's turn appears in a view.
func (c *Contract) Foreign(summary string) string {
	return expand(c.Prompts.Foreign, "{{summary}}", summary)
}

// ToolPrompt is prompts.tools with {{tools}} still in it, for backends whose
// template has no place for tools.
func (c *Contract) ToolPrompt() string { return c.Prompts.Tools }

// Extract is the bounded stand-in for a summary that no model could write: the
// answer's text on one line, clipped to as many runes as a summary has tokens.
func (c *Contract) Extract(answer string) string {
	return Clip(strings.Join(strings.Fields(answer), " "), c.Budgets.SummaryTokens)
}

// expand replaces placeholders in one pass, so that a placeholder inside a value
// stays text.
func expand(text string, pairs ...string) string {
	if len(pairs) == 2 { // one pass as it is, and no machine to build
		return strings.ReplaceAll(text, pairs[0], pairs[1])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Clip keeps the first and the last half of a budget of runes when s is longer.
func Clip(s string, budget int) string {
	if len(s) <= budget {
		return s
	}
	runes := []rune(s)
	if len(runes) <= budget {
		return s
	}
	half := budget / 2
	return string(runes[:half]) + " ... " + string(runes[len(runes)-half:])
}
