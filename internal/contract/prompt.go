package contract

import (
	"strings"

	"macaron/internal/chat"
)

// Previous is the user turn before the one to route: which adapter took it and
// the user's text.
type Previous struct {
	Label string
	Text  string
}

// RouteMessages is the whole prompt of the route hop: RouteSystem and RouteUser.
func (c *Contract) RouteMessages(request string, previous *Previous) []chat.Message {
	return []chat.Message{chat.Text(chat.System, c.RouteSystem()), chat.Text(chat.User, c.RouteUser(request, previous))}
}

// RouteSystem is the fixed part of the route prompt, equal for every request so
// that its prefix is cached: prompts.route with its placeholders, trimmed.
func (c *Contract) RouteSystem() string {
	lines := make([]string, len(c.Adapters))
	for i, a := range c.Adapters {
		lines[i] = a.Name + ": " + a.Description
	}
	return strings.TrimSpace(expand(c.Prompts.Route,
		"{{adapters}}", strings.Join(lines, "\n"),
		"{{order}}", strings.Join(c.Router.Order, ", ")))
}

// RouteUser is the request as quoted, untrusted text, clipped to the router's
// budgets, after a line about the previous request if there is one.
func (c *Contract) RouteUser(request string, previous *Previous) string {
	var head string
	if previous != nil {
		head = "Previous: " + previous.Label + " " + chat.Quote(clip(previous.Text, c.Router.ContextChars)) + "\n"
	}
	return head + "Request: " + chat.Quote(clip(request, c.Router.RequestChars))
}

// AnswerSystem is the head of a specialist's view: prompts.system with its own
// prompt, then the client's system texts, which never replace ours.
func (c *Contract) AnswerSystem(label string, client []chat.Message) string {
	a, _ := c.Adapter(label)
	texts := []string{expand(c.Prompts.System, "{{specialist}}", a.Prompt)}
	for _, m := range client {
		if t := m.Text(); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n\n")
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
	return clip(strings.Join(strings.Fields(answer), " "), c.Budgets.SummaryTokens)
}

// expand replaces placeholders in one pass, so that a placeholder inside a value
// stays text.
func expand(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }

// clip keeps the first and the last half of a budget of runes when s is longer.
func clip(s string, budget int) string {
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
